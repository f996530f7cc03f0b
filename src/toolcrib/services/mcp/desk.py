"""The desk for MCP servers: what people, agents and configurations say about them, and how it stands with each.

A server of toolcrib.yaml is approved by standing there, and is changed there only. Others are kept in the store; an
agent's wait for a person, and every change of what is run or reached makes the approval void.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from secrets import token_hex
from typing import Any, Protocol

from msgspec import Struct, to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed
from toolcrib.core.registry import near
from toolcrib.services.mcp.book import McpBook, missing, taken
from toolcrib.services.mcp.pinning import Observed, agreed, difference, pinned, read_tools, reason
from toolcrib.services.mcp.reading import server_of
from toolcrib.services.mcp.servers import (
    Entry,
    McpGrant,
    McpRequest,
    Pin,
    Pinned,
    Reviewed,
    Scope,
    Server,
    State,
    Transport,
)

CONFIG, PERSON, AGENT, IMPORT = "config", "person", "agent", "import"
_VARIABLE = re.compile(r"\$\{[^{}]*\}")


class Sessions(Protocol):
    """How it stands with the sessions of this process."""

    def state(self, server: str) -> tuple[State, str]: ...
    def said(self, server: str) -> Sequence[tuple[float, str]]: ...
    def retry(self, server: str) -> None: ...


class Shown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server as lists and pages show it. Values of its environment and headers are not among it."""

    name: str
    state: State
    why: str = ""
    origin: str = ""
    transport: Transport = Transport.STDIO
    target: str = ""  # the command line, or the address
    env: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    cwd: str = ""
    sandbox: bool = False
    keep: str = ""
    tools: int = 0
    pending: int = 0
    changed: int = 0
    created_by: str = ""
    approved_by: str = ""
    revision: int = 0


class PinShown(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool of a server as lists and pages show it."""

    tool: str
    name: str
    state: Pinned
    why: str = ""
    description: str = ""
    difference: tuple[str, ...] = ()


class McpServers:
    """Servers, their tools, and who may use them."""

    def __init__(
        self,
        book: McpBook,
        configured: Sequence[Server],
        changed: Callable[[], Awaitable[None]],
        sessions: Callable[[], Sessions | None],
    ) -> None:
        """`changed` is waited for after each change; `sessions` are those of this process, if there are any."""
        self.book = book
        self.configured = {
            one.name.lower(): Entry(server=one, origin=CONFIG, approved=one.mark, approved_by="toolcrib.yaml")
            for one in configured
        }
        self._changed = changed
        self._sessions = sessions

    async def entries(self) -> tuple[Entry, ...]:
        """Every server. One of toolcrib.yaml goes before one of the store that has its name."""
        kept = [one for one in await self.book.entries() if one.name.lower() not in self.configured]
        return tuple(sorted((*self.configured.values(), *kept), key=lambda one: one.name.lower()))

    async def entry(self, name: str) -> Entry:
        """A server by its name. Refused: not_found, with the nearest names."""
        every = {one.name.lower(): one for one in await self.entries()}
        found = every.get(name.lower())
        if found is None:
            close = near(name, [one.name for one in every.values()])
            error = missing("MCP server", name)
            error.hint = f"Did you mean {' or '.join(close)}?" if close else error.hint
            raise error
        return found

    async def all(self) -> list[Shown]:
        """Every server as it is shown."""
        pins = await self.book.pins()
        return [self._shown(one, pins) for one in await self.entries()]

    async def get(self, name: str) -> Shown:
        """One server as it is shown."""
        found = await self.entry(name)
        return self._shown(found, await self.book.pins(found.name))

    async def add(
        self, name: str, said: Mapping[str, Any], *, by: str, origin: str = PERSON, approve: bool = False
    ) -> Shown:
        """Keep a new server. It waits for approval unless a person gives it along."""
        server, _ = server_of(name, said)
        return await self.add_server(server, by=by, origin=origin, approve=approve)

    async def add_server(self, server: Server, *, by: str, origin: str = PERSON, approve: bool = False) -> Shown:
        """The same for a server that was read already."""
        if server.name.lower() in self.configured:
            raise taken(server.name)
        made = Entry(server=server, origin=origin, created_by=by)
        if approve and origin != AGENT:
            made = replace(made, approved=server.mark, approved_by=by)
        await self.book.put(made, revision=0)
        return await self._after(server.name)

    async def update(self, name: str, change: Mapping[str, Any], *, by: str, origin: str = PERSON) -> Shown:
        """Change a server. An approval holds only for what it was given for."""
        old = await self._kept(name)
        if origin == AGENT and old.origin == AGENT and old.created_by != by and not old.usable:
            raise ToolFailed(f"{old.name} was added by {old.created_by}.", code="not_yours", hint="Ask a person.")
        before = to_builtins(old.server)
        server, _ = server_of(old.name, {**before, **change})
        if origin == AGENT and _variables(server) - _variables(old.server):
            hint = "Write a secret as {{secret:NAME}}, or ask a person."
            raise ToolFailed("An agent cannot hand on variables of our environment.", code="denied", hint=hint)
        await self.book.put(replace(old, server=server, disabled=old.disabled), revision=old.revision)
        return await self._after(old.name)

    async def remove(self, name: str) -> Shown:
        """Forget a server."""
        old = await self._kept(name)
        shown = await self.get(old.name)
        await self.book.remove(old.name)
        await self._changed()
        return shown

    async def approve(self, name: str, *, by: str) -> Shown:
        """A person agrees to a server as it is now. It is connected, and its tools are pinned as they are found."""
        old = await self._kept(name)
        again = old.approved != old.server.mark and bool(old.approved)
        await self.book.put(
            replace(old, approved=old.server.mark, approved_by=by, disabled=False), revision=old.revision
        )
        if again:  # another program or address: what its tools were says nothing
            await self.book.repin(old.name, lambda _: ())
        return await self._after(old.name)

    async def disable(self, name: str, *, disabled: bool = True) -> Shown:
        """Take a server out of use, or back into it. What was approved stays approved."""
        old = await self._kept(name)
        await self.book.put(replace(old, disabled=disabled), revision=old.revision)
        return await self._after(old.name)

    async def pins(self, name: str) -> list[PinShown]:
        """The tools of a server, with what changed in those that are quarantined."""
        found = await self.entry(name)
        return [_pin_shown(pin) for pin in await self.book.pins(found.name)]

    async def approve_tools(self, name: str, tools: Sequence[str], *, by: str) -> list[PinShown]:
        """A person agrees to tools as they are now; none named is all that wait or changed."""
        found = await self.entry(name)
        known = {pin.tool for pin in await self.book.pins(found.name)}
        if strange := [tool for tool in tools if tool not in known]:
            close = near(strange[0], known)
            hint = f"Did you mean {' or '.join(close)}?" if close else "`toolcrib mcp pins` lists them."
            raise ToolFailed(f"{found.name} has no tool {strange[0]!r}.", code="not_found", hint=hint)

        def work(before: tuple[Pin, ...]) -> list[Pin]:
            waits = {Pinned.PENDING, Pinned.CHANGED}
            return [
                agreed(pin, by, time.time()) if pin.state in waits and (not tools or pin.tool in tools) else pin
                for pin in before
            ]

        await self.book.repin(found.name, work)
        await self._changed()
        return await self.pins(found.name)

    async def observed(self, name: str, listed: Sequence[JsonObject], names: Sequence[str]) -> Observed:
        """A server listed its tools. `names` are those of all other tools there are."""
        found = await self.entry(name)
        seen = await asyncio.to_thread(read_tools, listed)  # schemas that are not plain take long to look at
        others = {pin.name.lower() for pin in await self.book.pins() if pin.server.lower() != found.name.lower()}
        others.update(one.lower() for one in names)
        changed: list[bool] = []

        def work(before: tuple[Pin, ...]) -> list[Pin] | None:
            made = pinned(found.server, before, seen.definitions, others, time.time())
            changed.append(made is not None)
            return made

        await self.book.repin(found.name, work)
        if any(changed):
            await self._changed()
        return seen

    async def grants(self) -> tuple[McpGrant, ...]:
        """Every grant."""
        return await self.book.grants()

    async def grant(self, grant: McpGrant) -> None:
        """Give a server to an agent, or narrow a user."""
        found = await self.entry(grant.server)
        if not grant.holder:
            raise ToolFailed(f"Say which {grant.scope.value} the grant is for.", code="bad_grant")
        await self.book.grant(replace(grant, server=found.name, granted=time.time()))
        await self._changed()

    async def revoke(self, server: str, scope: Scope, holder: str) -> McpGrant:
        """Take a grant back."""
        gone = await self.book.revoke(server, scope, holder)
        await self._changed()
        return gone

    async def request(
        self, server: str, scope: Scope, holder: str, *, tools: Sequence[str] | None, reason: str, by: str
    ) -> McpRequest:
        """Ask for a server."""
        found = await self.entry(server)
        made = McpRequest(
            id=token_hex(6),
            server=found.name,
            scope=scope,
            holder=holder,
            tool_allow=None if tools is None else tuple(tools),
            reason=reason[:1000],
            asked_by=by,
            asked=time.time(),
        )
        await self.book.request(made)
        return made

    async def requests(self, state: Reviewed | None = None) -> tuple[McpRequest, ...]:
        """Requests, newest first."""
        return await self.book.requests(state)

    async def decide(self, request: str, *, approve: bool, by: str) -> McpRequest:
        """Answer a request; a yes is its grant."""
        done = await self.book.decide(request, approve=approve, by=by, now=time.time())
        await self._changed()
        return done

    def log(self, server: str) -> Sequence[tuple[float, str]]:
        """What a server wrote to its standard error in this process, and what was noted about it."""
        sessions = self._sessions()
        return sessions.said(server) if sessions else ()

    async def _kept(self, name: str) -> Entry:
        found = await self.entry(name)
        if found.origin == CONFIG:
            raise ToolFailed(
                f"{found.name} stands in toolcrib.yaml, and is changed there.",
                code="configured",
                hint="Edit mcpServers in toolcrib.yaml.",
            )
        return found

    async def _after(self, name: str) -> Shown:
        await self._changed()
        return await self.get(name)

    def _shown(self, entry: Entry, pins: Sequence[Pin]) -> Shown:
        server = entry.server
        state, why = self._state(entry)
        mine = [pin.state for pin in pins if pin.server.lower() == entry.name.lower()]
        return Shown(
            name=entry.name,
            state=state,
            why=why,
            origin=entry.origin,
            transport=server.transport,
            target=target(server),
            env=tuple(sorted(server.env)),
            headers=tuple(sorted(server.headers)),
            cwd=server.cwd,
            sandbox=server.sandbox,
            keep=server.keep.value,
            tools=mine.count(Pinned.APPROVED),
            pending=mine.count(Pinned.PENDING),
            changed=mine.count(Pinned.CHANGED),
            created_by=entry.created_by,
            approved_by=entry.approved_by if entry.usable else "",
            revision=entry.revision,
        )

    def _state(self, entry: Entry) -> tuple[State, str]:
        if entry.disabled:
            return State.DISABLED, "a person took it out of use"
        if not entry.usable:
            why = "it was changed after it was approved" if entry.approved else "nobody has approved it yet"
            return State.PENDING, why
        sessions = self._sessions()
        return sessions.state(entry.name) if sessions else (State.IDLE, "")


def target(server: Server) -> str:
    """What runs, or where it is reached, in one line."""
    return " ".join((server.command, *server.args)) if server.transport is Transport.STDIO else server.url


def _variables(server: Server) -> set[str]:
    """Where it takes what it is given from our own environment."""
    return set(_VARIABLE.findall(encode((server.args, server.env, server.headers, server.url, server.oauth)).decode()))


def why_out(entry: Entry) -> str:
    """Why no tool of a server is there; "" when they are."""
    if entry.disabled:
        return f"server {entry.name} is disabled"
    return "" if entry.usable else f"server {entry.name} is pending approval"


def _pin_shown(pin: Pin) -> PinShown:
    return PinShown(
        tool=pin.tool,
        name=pin.name,
        state=pin.state,
        why=reason(pin),
        description=str(pin.definition.get("description") or ""),
        difference=tuple(difference(pin)),
    )
