"""What is wrong, as RFC 9457 has it: application/problem+json with the product's own code in it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from toolcrib.core.errors import BadConfig, CribError, Fault, ToolError

MEDIA = "application/problem+json"
_STATUS = {
    "unknown_tool": 404,
    "not_found": 404,
    "no_record": 404,
    "not_issued": 403,
    "invalid_args": 422,
    "rate_limited": 429,
    "denied": 403,
    "approval_required": 409,
    "approval_denied": 403,
    "approval_answered": 409,
    "approval_ignored": 409,
    "timeout": 504,
    "cancelled": 409,
    "audit_full": 503,
    "store_unavailable": 503,
    "store_busy": 503,
    "vault_unavailable": 503,
    "internal": 500,
    "wrong_password": 401,
    "sign_in_refused": 403,
    "forbidden": 403,
    "revision_conflict": 412,
    "unknown_agent": 404,
    "if_match_wanted": 428,
    "bad_if_match": 422,
}


class Problem(Struct, kw_only=True, omit_defaults=True):
    """The body of every answer that is no success. `code` is a promise; programs may branch on it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    code: str
    hint: str = ""
    retryable: bool = False
    problems: list[dict[str, Any]] = []


def status_of(code: str) -> int:
    """The HTTP status of one of the product's codes."""
    lowered = code.lower()
    if lowered in _STATUS:
        return _STATUS[lowered]
    if lowered.endswith("not_found"):
        return 404
    return 409  # it fits the document, and cannot be done as things stand


def problem(
    status: int,
    detail: str,
    *,
    code: str = "",
    hint: str = "",
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, object] | None = None,
) -> Response:
    """An answer that says what is wrong."""
    title = HTTPStatus(status).phrase
    told: dict[str, object] = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code or title.lower().replace(" ", "_").replace("-", "_"),
    }
    told |= {"hint": hint} if hint else {}
    told |= {key: value for key, value in (more or {}).items() if key not in told}
    return Response(msgspec.json.encode(told), status, headers, MEDIA)


def of_fault(fault: Fault) -> Response:
    """A refusal of the product."""
    more = {**fault.data, "retryable": True} if fault.retryable else fault.data
    headers: dict[str, str] = {}
    if (wait := fault.data.get("retry_after")) is not None:
        headers["Retry-After"] = str(max(1, round(float(str(wait)))))
    return problem(
        status_of(fault.code), fault.message, code=fault.code, hint=fault.hint, headers=headers, more=dict(more)
    )


def of_error(error: CribError) -> Response:
    """Any error of ours."""
    if isinstance(error, ToolError):
        return of_fault(error.as_fault())
    if isinstance(error, BadConfig):
        told = [{"where": one.where, "what": one.what, "mend": one.mend, "line": one.line} for one in error.problems]
        return problem(409, str(error), code="bad_config", more={"problems": told})
    return problem(409, str(error), code="failed")
