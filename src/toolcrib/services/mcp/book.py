"""Keeps what is known of MCP servers: a port."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.services.mcp.servers import Entry, McpGrant, McpRequest, Pin, Reviewed, Scope

Repin = Callable[[tuple[Pin, ...]], Sequence[Pin] | None]


class McpBook(Protocol):
    """Servers, pins, grants and requests. Names of servers are the same however they are capitalised.

    Each change grows the version of the store's drawers: whoever keeps a copy sees that it is stale.
    """

    async def entries(self) -> tuple[Entry, ...]:
        """Every server, by name."""
        ...

    async def put(self, entry: Entry, *, revision: int) -> Entry:
        """Keep a server that is still at that revision; 0 is a new one. Refused: name_taken, revision_conflict."""
        ...

    async def remove(self, name: str) -> Entry:
        """Forget a server, and all that was kept about it. Refused: not_found."""
        ...

    async def pins(self, server: str = "") -> tuple[Pin, ...]:
        """The pins of a server, or of all, by server and tool."""
        ...

    async def repin(self, server: str, work: Repin) -> tuple[Pin, ...]:
        """Change the pins of a server in one transaction; `work` gives None to leave them."""
        ...

    async def grants(self) -> tuple[McpGrant, ...]:
        """Every grant, by server, scope and holder."""
        ...

    async def grant(self, grant: McpGrant) -> None:
        """Keep a grant, in the place of the one with its server, scope and holder."""
        ...

    async def revoke(self, server: str, scope: Scope, holder: str) -> McpGrant:
        """Take a grant back. Refused: not_found."""
        ...

    async def request(self, request: McpRequest) -> None:
        """Keep a request."""
        ...

    async def requests(self, state: Reviewed | None = None) -> tuple[McpRequest, ...]:
        """Requests, newest first."""
        ...

    async def decide(self, request: str, *, approve: bool, by: str, now: float) -> McpRequest:
        """Answer a request, and make its grant in the same transaction. Refused: not_found, already_decided."""
        ...


def decided(request: McpRequest | None, name: str, *, approve: bool, by: str, now: float) -> McpRequest:
    """The request with its answer."""
    if request is None:
        raise missing("access request", name)
    if request.state is not Reviewed.PENDING:
        raise ToolFailed(
            f"The request was {request.state.value} by {request.decided_by or 'somebody'} already.",
            code="already_decided",
            hint="A new request can be made.",
        )
    state = Reviewed.APPROVED if approve else Reviewed.REJECTED
    return replace(request, state=state, decided_by=by, decided=now)


def granted_on(request: McpRequest) -> McpGrant:
    """The grant that comes of an approved request."""
    return McpGrant(
        server=request.server,
        scope=request.scope,
        holder=request.holder,
        tool_allow=request.tool_allow,
        granted_by=request.decided_by,
        granted=request.decided,
    )


def missing(what: str, name: str) -> ToolFailed:
    """There is none of that name."""
    return ToolFailed(f"There is no {what} {name!r}.", code="not_found", hint="Look at the list of them.")


def taken(name: str) -> ToolFailed:
    """The name is in use."""
    return ToolFailed(f"There is an MCP server {name!r} already.", code="name_taken", hint="Choose another name.")


def changed_meanwhile(name: str) -> ToolFailed:
    """Somebody else was quicker."""
    return ToolFailed(
        f"The MCP server {name!r} was changed meanwhile; nothing was saved.",
        code="revision_conflict",
        retryable=True,
        hint="Read it again and repeat your change.",
    )
