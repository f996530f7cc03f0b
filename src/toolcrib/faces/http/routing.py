"""How an operation is written: who may, what it takes, what it gives."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from starlette.responses import Response

from toolcrib.services.people.principal import Role, allows

F = TypeVar("F", bound=Callable[..., Any])
BASE = "/api/v1"
JSON = "application/json"


class Operation(Struct, frozen=True, kw_only=True):
    """One row of the API."""

    method: str
    path: str
    endpoint: Callable[..., Any]
    gives: Any  # the type of what comes back, for the document; None: no body
    status: int
    media: str
    refuses: tuple[int, ...]
    also: Mapping[int, Any]  # further successes
    role: Role | None
    scope: str
    tag: str
    headers: Mapping[str, str]


class Operations:
    """The operations of one noun, in the order in which they are written."""

    def __init__(self, tag: str, scope: str) -> None:
        self.tag = tag
        self.scope = scope
        self.rows: list[Operation] = []

    def add(
        self,
        method: str,
        path: str,
        role: Role | None,
        gives: Any = None,  # noqa: ANN401 - a type
        *,
        status: int = 200,
        media: str = JSON,
        refuses: tuple[int, ...] = (),
        also: Mapping[int, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        scope: str | None = None,
    ) -> Callable[[F], F]:
        """Make a function an operation."""
        asked = self.scope if scope is None else scope

        def made(endpoint: F) -> F:
            row = Operation(
                method=method,
                path=BASE + path,
                endpoint=allows(role, asked)(endpoint),
                gives=gives,
                status=status,
                media=media,
                refuses=refuses,
                also=also or {},
                role=role,
                scope=asked,
                tag=self.tag,
                headers=headers or {},
            )
            self.rows.append(row)
            return endpoint

        return made


def answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, headers, JSON)


def nothing() -> Response:
    """Done, and there is nothing to say."""
    return Response(status_code=204)
