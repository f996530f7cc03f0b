"""The OpenAPI document: FastAPI's for what is asked, and ours for what is answered, off the same types that are sent."""

from collections.abc import Iterable
from typing import Any, cast, get_args, get_origin

import msgspec
from fastapi import FastAPI

from toolcrib.faces.http.asked import Page
from toolcrib.faces.http.problem import MEDIA, Problem
from toolcrib.faces.http.routing import JSON, Operation

_REF = "#/components/schemas/{name}"
_WORDS = {
    200: "Done.",
    201: "Made.",
    202: "It runs on, or waits for a person.",
    204: "Done; there is nothing to say.",
    400: "The request cannot be read.",
    401: "Nobody is signed in, or the password is wrong.",
    403: "Whoever asks may not do this.",
    404: "There is no such thing.",
    409: "It cannot be done as things stand; `code` says why.",
    412: "It was changed since that revision.",
    413: "The body is too long.",
    422: "The request does not fit this document.",
    428: "If-Match is missing.",
    429: "Too many; Retry-After says when.",
    503: "The store or the vault cannot be used now.",
}
_REVISION = r'^(\*|(W/)?"[0-9]{1,15}")$'
_ALWAYS = (400, 404, 409, 413, 422, 503)


def document(app: FastAPI, operations: Iterable[Operation]) -> dict[str, Any]:
    """The whole document."""
    rows = list(operations)
    kinds = [kind for row in rows for kind in (row.gives, *row.also.values()) if kind is not None]
    plain = [get_args(kind)[0] if get_origin(kind) is Page else kind for kind in kinds]
    shapes, components = msgspec.json.schema_components([*plain, Problem], schema_hook=_any, ref_template=_REF)
    by_type = {
        id(kind): _page(shape) if get_origin(kind) is Page else shape
        for kind, shape in zip(kinds, shapes, strict=False)
    }
    told: dict[str, Any] = app.openapi()
    told["info"]["description"] = (
        "Everything that a person does on the page or the command line. Errors are problem+json (RFC 9457)."
    )
    schemas: dict[str, Any] = told.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas.update(components)
    told["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "A key: tcb_<id>_<secret>."},
        "visit": {
            "type": "apiKey",
            "in": "cookie",
            "name": "toolcrib",
            "description": "POST /api/v1/session gives it.",
        },
    }
    for row in rows:
        _repeated(told["paths"][row.path][row.method.lower()], row)
        _answered(told["paths"][row.path][row.method.lower()], row, by_type)
    return _named(told)


def _answered(operation: dict[str, Any], row: Operation, shapes: dict[int, Any]) -> None:
    """Write down who may, and everything that can come back."""
    if row.role is not None:
        operation["security"] = [{"key": []}, {"visit": []}]
    operation["x-role"] = row.role.value if row.role is not None else "anyone"
    if row.scope:
        operation["x-scope"] = row.scope
    headers = {name: {"description": words, "schema": {"type": "string"}} for name, words in row.headers.items()}
    answers: dict[str, Any] = {str(row.status): _success(row.status, row.media, row.gives, shapes)}
    if headers and "Location" not in headers:
        answers[str(row.status)]["headers"] = headers
    for status, kind in row.also.items():
        answers[str(status)] = _success(status, JSON, kind, shapes) | ({"headers": headers} if headers else {})
    refused = {*_ALWAYS, *row.refuses, *((401, 403) if row.role is not None else (403,))}
    for status in sorted(refused):
        schema = {"schema": {"$ref": _REF.format(name="Problem")}}
        answers[str(status)] = {"description": _WORDS[status], "content": {MEDIA: schema}}
    operation["responses"] = answers


def _repeated(operation: dict[str, Any], row: Operation) -> None:
    """Every POST takes an Idempotency-Key."""
    parameters = operation.setdefault("parameters", [])
    for one in parameters:
        if one["name"] == "if-match":  # without it the answer is 428, not 422
            one.update(name="If-Match", required=True, schema={"type": "string", "pattern": _REVISION})
    if row.method == "POST" and all(one["name"] != "Idempotency-Key" for one in parameters):
        words = "The same key does it once, and answers the same."
        schema = {"type": "string", "maxLength": 200}
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": schema, "description": words})
    if not parameters:
        del operation["parameters"]


def _named(told: dict[str, Any]) -> dict[str, Any]:
    """Types of one name in two modules are told apart by the module's own name, not by its whole path."""
    text = msgspec.json.encode(told).decode()
    for name in sorted(told["components"]["schemas"], key=len, reverse=True):
        parts = name.replace("__", ".").split(".")
        if len(parts) > 1:
            text = text.replace(f'{name}"', f'{parts[-2].capitalize()}{parts[-1]}"')
    return _readable(msgspec.json.decode(text))


def _readable(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Tuples as lists of what may stand in them: not every reader of the document knows prefixItems."""
    if isinstance(value, list):
        return [_readable(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    told = {name: _readable(one) for name, one in cast("dict[str, Any]", value).items()}
    if "prefixItems" in told:
        told["items"] = {"anyOf": told.pop("prefixItems")}
    return told


def _any(kind: type) -> dict[str, Any]:
    """JSON of any shape."""
    if kind is object:
        return {"description": "Any JSON."}
    raise NotImplementedError(kind)


def _page(item: dict[str, Any]) -> dict[str, Any]:
    """A page of such items."""
    return {
        "type": "object",
        "required": ["items", "next"],
        "properties": {
            "items": {"type": "array", "items": item},
            "next": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }


def _success(status: int, media: str, kind: Any, shapes: dict[int, Any]) -> dict[str, Any]:  # noqa: ANN401 - a type
    told: dict[str, Any] = {"description": _WORDS[status]}
    if kind is not None:
        schema = {"type": "string"} if media != JSON else shapes[id(kind)]
        told["content"] = {media: {"schema": schema}}
    return told
