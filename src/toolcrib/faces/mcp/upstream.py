"""Resources, prompts and completion: those of every server that the caller holds a tool of, as one.

A prompt is called `mcp_<server>_<prompt>`, as tools are. A resource keeps its address; where two servers have the same,
the first by name keeps it and the other's is `mcp+<server>:<address>`, which is understood for every server. With one
server alone everything has its own name. A server that does not answer in time is left out of a list.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol, cast
from weakref import WeakKeyDictionary

from toolcrib.core.call import Caller, JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.faces.mcp.exchange import Cleaning, Exchange
from toolcrib.faces.mcp.watching import Watching
from toolcrib.faces.mcp.wire import LEVELS, as_object
from toolcrib.services.mcp.downstream import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Downstream,
    Heard,
    McpFault,
    ServerFacts,
    ServerGone,
)
from toolcrib.services.mcp.names import name_of

PATIENCE = 0.5  # seconds for which a list waits for a server
PAGES, MOST = 50, 10_000  # of one list
NOT_FOUND = -32002  # of resources, in the older era
_PREFIX = re.compile(r"mcp\+([A-Za-z0-9][A-Za-z0-9_.-]*):(.+)", re.DOTALL)
_EXPRESSION = re.compile(r"\{[^{}]*\}")


class Sessions(Protocol):
    """The kept sessions with servers, as a caller uses them."""

    async def session(self, server: str, caller: Caller) -> Downstream:
        """The session of this caller with a server. Raises a ToolError if there is none."""
        ...

    def facts(self, server: str) -> ServerFacts | None:
        """What a server last said of itself; None when it was never connected."""
        ...

    def unlisted(self) -> Sequence[str]:
        """Servers that may be used and whose tools nobody has seen yet."""
        ...

    async def listed(self, server: str) -> None:
        """Wait until a server's tools are known. Raises a ToolError if it cannot be asked."""
        ...

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Hear what servers tell by themselves. Gives back what ends it."""
        ...


class NoServers:
    """The sessions of a crib that has no servers."""

    async def session(self, server: str, caller: Caller) -> Downstream:
        """There is none."""
        del caller
        raise ServerGone(f"There is no server {server!r}.")

    def facts(self, server: str) -> ServerFacts | None:
        """Nothing was said."""
        del server
        return None

    def unlisted(self) -> Sequence[str]:
        """There are none."""
        return ()

    async def listed(self, server: str) -> None:
        """There is nothing to wait for."""

    def listen(self, heard: Heard) -> Callable[[], None]:
        """There is nothing to hear."""
        del heard
        return _nothing


def _nothing() -> None:
    pass


class Listed:
    """One thing of a server, and what it is called here."""

    __slots__ = ("entry", "name", "own", "server")

    def __init__(self, server: str, own: str, name: str, entry: JsonObject) -> None:
        self.server, self.own, self.name, self.entry = server, own, name, entry


class Upstream:
    """The servers behind one gateway."""

    def __init__(self, sessions: Sessions, cleaning: Cleaning, patience: float = PATIENCE) -> None:
        self._sessions = sessions
        self._cleaning = cleaning
        self.watching = Watching()
        self._patience = patience
        self._until = 0.0
        self._first: dict[str, asyncio.Future[None]] = {}
        self._levels: dict[str, int] = {}
        self._known: WeakKeyDictionary[Downstream, dict[tuple[str, str], list[JsonObject]]] = WeakKeyDictionary()

    def forget(self, server: str, method: str) -> None:
        """A server's list has changed."""
        for known in self._known.values():
            for key in [key for key in known if key[0] == server and key[1].startswith(method)]:
                del known[key]

    async def resources(self, caller: Caller, servers: Sequence[str], *, alone: bool) -> list[Listed]:
        """Every resource."""
        return await self._all(caller, servers, "resources/list", ("resources", "uri"), _address(alone=alone))

    async def templates(self, caller: Caller, servers: Sequence[str], *, alone: bool) -> list[Listed]:
        """Every template of resources."""
        keys = ("resourceTemplates", "uriTemplate")
        return await self._all(caller, servers, "resources/templates/list", keys, _address(alone=alone))

    async def prompts(self, caller: Caller, servers: Sequence[str], *, alone: bool) -> list[Listed]:
        """Every prompt."""

        def named(server: str, own: str, taken: Iterable[str]) -> str:
            return own if alone else name_of(server, own, {name.lower() for name in taken})

        return await self._all(caller, servers, "prompts/list", ("prompts", "name"), named)

    async def _all(
        self,
        caller: Caller,
        servers: Sequence[str],
        method: str,
        keys: tuple[str, str],
        named: Callable[[str, str, Iterable[str]], str],
    ) -> list[Listed]:
        held, called = keys
        lists = await asyncio.gather(*(self._list(caller, server, method, held) for server in servers))
        found: dict[str, Listed] = {}
        for server, entries in zip(servers, lists, strict=True):
            for entry in entries:
                own = str(entry.get(called, ""))
                name = named(server, own, found)
                found.setdefault(name, Listed(server, own, name, {**entry, called: name}))
        return list(found.values())

    async def _list(self, caller: Caller, server: str, method: str, held: str) -> list[JsonObject]:
        """One server's list: as it was asked last, or asked now."""
        facts = self._sessions.facts(server)
        if facts is not None and method.partition("/")[0] not in facts.capabilities:
            return []
        try:
            async with asyncio.timeout(PATIENCE):
                session = await self._sessions.session(server, caller)
                known = self._known.setdefault(session, {})  # by session: another's may be of another identity
                if (server, method) not in known:
                    known[server, method] = await self._asked(session, method, held)
                return known[server, method]
        except (TimeoutError, ToolError):
            return []

    async def _asked(self, session: Downstream, method: str, held: str) -> list[JsonObject]:
        entries: list[JsonObject] = []
        params: JsonObject = {}
        for _ in range(PAGES):
            result = await session.request(method, params)
            page = result.get(held)
            entries += (
                [one for one in cast("list[Any]", page) if isinstance(one, dict)] if isinstance(page, list) else []
            )
            cursor = result.get("nextCursor")
            if not isinstance(cursor, str) or len(entries) > MOST:
                break
            params = {"cursor": cursor}
        return cast("list[JsonObject]", await self._cleaning.all(entries[:MOST]) or [])

    async def ask(self, caller: Caller, server: str, method: str, params: JsonObject, link: Exchange) -> JsonObject:
        """One request to a server, without the secrets in what comes back."""
        return as_object(await self._cleaning.all(await self.hand_on(caller, server, method, params, link)))

    async def hand_on(self, caller: Caller, server: str, method: str, params: JsonObject, link: Exchange) -> JsonObject:
        """One request to a server, with what the client's request carries: what comes back, as it came."""
        session = await self._sessions.session(server, caller)
        return await session.request(method, {**link.extra, **params}, link=link)

    async def at(
        self,
        caller: Caller,
        servers: Sequence[str],
        uri: str,
        ask: Callable[[str, str], Awaitable[JsonObject]],
        *,
        alone: bool,
    ) -> JsonObject:
        """Do something with a resource: ask the server that has it, or each that may."""
        if alone and servers:
            return await ask(servers[0], uri)
        if (said := _PREFIX.fullmatch(uri)) is not None and said[1] in servers:
            return await ask(said[1], said[2])
        fault = McpFault(INVALID_PARAMS, "Resource not found", {"uri": uri})
        for server in await self._order(caller, servers, uri):
            try:
                return await ask(server, uri)
            except McpFault as error:
                if error.number not in {INVALID_PARAMS, NOT_FOUND, METHOD_NOT_FOUND}:
                    raise
                fault = error
        raise fault

    async def _order(self, caller: Caller, servers: Sequence[str], uri: str) -> list[str]:
        """The servers that may have a resource: who lists it, whose template it fits, then the others."""
        listed = await self.resources(caller, servers, alone=False)
        first = [one.server for one in listed if one.own == uri]
        if not first:
            templates = await self.templates(caller, servers, alone=False)
            first = [one.server for one in templates if _fits(one.own, uri)]
        return list(dict.fromkeys([*first[:1], *([] if first else servers)]))

    async def set_level(self, caller: Caller, servers: Sequence[str], level: int, link: Exchange) -> None:
        """Let servers log from a level on. They are shared: the most talkative client decides, each filters its own."""
        for server in servers:
            facts = self._sessions.facts(server)
            if facts is None or facts.modern or "logging" not in facts.capabilities:
                continue
            if level < self._levels.get(server, len(LEVELS)):
                self._levels[server] = level
                with suppress(ToolError, TimeoutError):
                    async with asyncio.timeout(PATIENCE):
                        await self.ask(caller, server, "logging/setLevel", {"level": LEVELS[level]}, link)

    async def met(self, caller: Caller, servers: Sequence[str]) -> None:
        """Wait a little for servers that were never connected: they may have tools, and something to say to clients.

        Not every client lists again when it is told to. Each server is waited for once, and only for so long.
        """
        sessions = self._sessions
        for server in sessions.unlisted():
            if server not in self._first:
                self._first[server] = asyncio.ensure_future(self._listed(server))
        for server in servers:
            if server not in self._first and sessions.facts(server) is None:
                self._first[server] = asyncio.ensure_future(self._ready(server, caller))
        waiting = [task for task in self._first.values() if not task.done()]
        left = self._until - time.monotonic() if self._until else self._patience
        if waiting and left > 0:
            self._until = self._until or time.monotonic() + self._patience
            await asyncio.wait(waiting, timeout=left)

    async def _listed(self, server: str) -> None:
        with suppress(ToolError):
            await self._sessions.listed(server)

    async def _ready(self, server: str, caller: Caller) -> None:
        with suppress(ToolError):
            await (await self._sessions.session(server, caller)).ready()

    async def close(self) -> None:
        """Wait for nobody any more."""
        await self.watching.close()
        for task in self._first.values():
            task.cancel()
        await asyncio.gather(*self._first.values(), return_exceptions=True)

    def facts(self, server: str) -> ServerFacts | None:
        """What a server last said of itself."""
        return self._sessions.facts(server)

    async def session(self, server: str, caller: Caller) -> Downstream:
        """The session of a caller with a server."""
        return await self._sessions.session(server, caller)


def prefixed(server: str, uri: str) -> str:
    """The address by which a server's resource is always understood."""
    return f"mcp+{server}:{uri}"


def _address(*, alone: bool) -> Callable[[str, str, Iterable[str]], str]:
    def named(server: str, own: str, taken: Iterable[str]) -> str:
        return own if alone or own not in taken else prefixed(server, own)

    return named


def _fits(template: str, uri: str) -> bool:
    """Whether an address can have come of a template, going by the parts that are fixed."""
    at = 0
    parts = _EXPRESSION.split(template)
    if not uri.startswith(parts[0]) or not uri.endswith(parts[-1]):
        return False
    for part in parts:
        at = uri.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
