"""What a session speaks over: the port of the three kinds of wire, and how messages are written and read."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed

NONE: Mapping[str, str] = {}
_decode = msgspec.json.Decoder().decode
encode = msgspec.json.encode
Received = Callable[[JsonObject, int | None], None]  # what is no answer, and the request whose stream it came on


class SessionLostError(Exception):
    """The server does not know this session any more; the request did nothing, and a new session may send it."""


class Wire(Protocol):
    """One connection to a server, over which one session speaks."""

    patience: float  # seconds that somebody may take to sign in, beside what a request takes
    on_lost: Callable[[], None] | None  # called once, when nothing can be sent any more

    @property
    def streams(self) -> bool:
        """Whether each request has a stream of its own: then what comes on it belongs to it."""
        ...

    @property
    def lost(self) -> str:
        """Why nothing can be sent any more; "" while it can."""
        ...

    async def ask(self, number: int, data: bytes, headers: Mapping[str, str] = NONE) -> JsonObject:
        """Send a request and give the message that answers it.

        Raises ServerGone, NotKnown, SessionLostError or a ToolError.
        """
        ...

    async def tell(self, data: bytes) -> None:
        """Send what has no answer: a notification, or an answer of ours."""
        ...

    async def agreed(self, version: str, *, modern: bool) -> None:
        """The protocol was agreed on."""
        ...

    async def close(self) -> None:
        """Let go of the server, and end it if it is a child of ours."""
        ...


def message_of(data: bytes) -> Any:  # noqa: ANN401 - one message, or a list of them
    """JSON as it came. Raises ToolFailed for what is none."""
    try:
        return _decode(data)
    except (ValueError, RecursionError) as error:
        raise ToolFailed(f"The server sent what is no JSON: {str(error)[:200]}.", code="bad_response") from None


def messages_of(data: bytes) -> list[JsonObject]:
    """The messages in some bytes: one, or the several of a batch."""
    found = message_of(data)
    listed = cast("list[Any]", found) if isinstance(found, list) else [found]
    return [cast("JsonObject", one) for one in listed if isinstance(one, dict)]


def objects(listed: object) -> list[JsonObject]:
    """The objects in a list; none in anything else."""
    return [one for one in cast("list[Any]", listed) if isinstance(one, dict)] if isinstance(listed, list) else []


def is_answer(message: JsonObject) -> bool:
    """Whether a message answers a request of ours."""
    return "method" not in message and ("result" in message or "error" in message)
