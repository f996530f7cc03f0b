"""What operations share of how they are asked: who asks, of which house, from which page on, seen at which revision."""

import re
from base64 import b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Header, Query, Request
from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Strict

from toolcrib.app.house import House
from toolcrib.core.errors import ToolFailed
from toolcrib.services.people.principal import Principal

T = TypeVar("T")
REVISION = re.compile(r'(?:W/)?"([0-9]{1,15})"', re.ASCII)
Number = Annotated[float, Strict()]
Yes = Annotated[bool, Strict()]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=400, description="`next` of the page before.")]
IfMatch = Annotated[str | None, Header(max_length=100, description="The ETag that was seen; * is any.")]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="The same key does it once, and answers the same."),
]


class Form(BaseModel):
    """A request's body. What it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class Page(Struct, Generic[T], kw_only=True):
    """Some of many. `next` goes into `cursor` for those that follow; null: there are no more."""

    items: list[T]
    next: str | None = None


def house_of(request: Request) -> House:
    """The house that is asked."""
    found: House = request.app.state.house
    return found


def me(request: Request) -> Principal:
    """Who asks. The door has let them in."""
    found: Principal = request.state.principal
    return found


def paged(items: Iterable[T], name: Callable[[T], str], limit: int, cursor: str | None) -> Page[T]:
    """A page of a list that is at hand. The cursor is the last name that was given."""
    every = list(items)
    begin = 0
    if cursor is not None:
        last = _read(cursor)
        begin = next((i + 1 for i, one in enumerate(every) if name(one) == last), len(every))
    page = every[begin : begin + limit]
    more = begin + limit < len(every)
    return Page(items=page, next=_written(name(page[-1])) if more and page else None)


def seen(if_match: str | None) -> int | None:
    """The revision in If-Match; None is any."""
    if if_match is None:
        raise ToolFailed(
            "Say which revision you saw, in If-Match.",
            code="if_match_wanted",
            hint="GET gives it as ETag; * takes any.",
        )
    if if_match.strip() == "*":
        return None
    found = REVISION.fullmatch(if_match.strip())
    if found is None:
        raise ToolFailed("This is no revision.", code="bad_if_match", hint="GET gives it as ETag; * takes any.")
    return int(found[1])


def etag(revision: int) -> dict[str, str]:
    """The header that names a revision."""
    return {"ETag": f'"{revision}"'}


def _written(text: str) -> str:
    return urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def _read(cursor: str) -> str:
    try:
        return b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode(
            "utf-8", "surrogatepass"
        )
    except (NotBase64, ValueError):
        raise bad_cursor() from None


def bad_cursor() -> ToolFailed:
    """The refusal of a cursor that no page gave."""
    return ToolFailed("This is no cursor that a page gave.", code="bad_cursor", hint="Leave it out to begin anew.")


def service(house: House, kind: type[T]) -> T:
    """A service of the crib. A house always has the native ones."""
    found: Any = house.crib.services[kind]
    return found
