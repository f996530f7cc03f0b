"""Speaking with an MCP server: the ports that the gateway and the bodies of MCP tools use.

    Downstreams ── get(server, identity) ──► Downstream ── request(method, params, link) ──► its result, as it came

A `Link` is the other side: whoever asked, while the server works on it. The gateway sets it around a call.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Json, JsonObject
from toolcrib.core.errors import ToolError, ToolFailed

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", HANDSHAKE)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION, HEADER_MISMATCH = -32022, -32020
INPUT_REQUIRED = "input_required"

Heard = Callable[[str, str, JsonObject], None]  # server, method of the notification, its params


class McpFault(ToolError):
    """A JSON-RPC error, as the server or the client gave it."""

    code = "mcp_error"

    def __init__(self, number: int, message: str, data: Json = None) -> None:
        super().__init__(message, data={"number": number} if data is None else {"number": number, "data": data})
        self.number = number
        self.given = data  # the error's own `data`


class ServerGone(ToolFailed):
    """The server did not get the request, or cannot have done anything with it: it may be sent again."""

    def __init__(self, message: str, *, hint: str = "It is connected again by itself; try again in a moment.") -> None:
        super().__init__(message, code="server_gone", hint=hint, retryable=True)


class NotKnown(ToolFailed):
    """The server got the request and was gone before it answered: nobody knows what it did."""

    def __init__(self, message: str) -> None:
        hint = "Look at what it changed before you call it again."
        super().__init__(message, code="unknown_outcome", hint=hint)


class ServerFacts(Struct, frozen=True, kw_only=True):
    """What a server said of itself when it was connected."""

    version: str  # of the protocol that was agreed on
    info: JsonObject = {}
    capabilities: JsonObject = {}
    instructions: str = ""

    @property
    def modern(self) -> bool:
        """Whether it is of the stateless era."""
        return self.version >= MODERN


class Link(Protocol):
    """Whoever made a request, while a server works on it."""

    @property
    def owner(self) -> str:
        """Which client it is. A server without streams may only ask when all that it works on is of one client."""
        ...

    @property
    def capabilities(self) -> JsonObject:
        """What it can be asked for: `elicitation`, `sampling`, `roots`."""
        ...

    @property
    def extra(self) -> JsonObject:
        """What the request carries beside its name and arguments: `_meta`, `inputResponses`, `requestState`."""
        ...

    @property
    def takes_input_required(self) -> bool:
        """Whether an `input_required` result may be handed on; else its questions are asked with `ask`."""
        ...

    def hold(self) -> None:
        """A person has said yes to this very call: it is not begun anew for a question."""
        ...

    def notify(self, method: str, params: JsonObject) -> None:
        """Hand on progress or a log message. Progress carries the token that `extra` came with."""
        ...

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask it: elicitation/create, sampling/createMessage, roots/list. Raises McpFault."""
        ...


class Downstream(Protocol):
    """One kept session with a server."""

    @property
    def name(self) -> str: ...
    @property
    def facts(self) -> ServerFacts: ...

    async def ready(self) -> None:
        """Wait until it is connected. Raises ServerGone with the reason if it cannot be."""
        ...

    async def request(
        self, method: str, params: JsonObject, *, link: Link | None = None, seconds: float | None = None
    ) -> JsonObject:
        """The result, as it came. Raises McpFault, ServerGone, NotKnown or TimedOut."""
        ...

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification, if it can be sent."""
        ...


class Downstreams(Protocol):
    """The sessions of all servers that may be used."""

    async def get(self, server: str, identity: str = "") -> Downstream:
        """The session with a server, connected when it is not. Raises ServerGone with the reason if it cannot be."""
        ...

    def names(self) -> Sequence[str]:
        """The servers that may be used, connected or not."""
        ...

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Hear what servers tell by themselves: changed lists, updated resources, log messages.

        Gives back what ends it.
        """
        ...


LINK: ContextVar[Link | None] = ContextVar("toolcrib_mcp_link", default=None)
"""Who made the request that is being worked on; set by the gateway, read by the bodies of MCP tools."""
