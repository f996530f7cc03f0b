"""The sessions with all servers: one for each server and identity, kept for as long as they are used."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.machine.mcp.kept import Kept
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.oldevents import EventWire
from toolcrib.machine.mcp.origin import Network, Origin
from toolcrib.machine.mcp.pipes import start_child
from toolcrib.machine.mcp.speaking import Speaking
from toolcrib.machine.mcp.streamable import Post, Signing
from toolcrib.machine.mcp.tasks import Tasks
from toolcrib.machine.mcp.wire import Wire
from toolcrib.safety.urls import BadUrl, read_url
from toolcrib.services.mcp.downstream import Heard, ServerFacts, ServerGone
from toolcrib.services.mcp.servers import Server, State, Transport

_IDENTITIES = 64  # sessions of one server beside the shared one
_IDLE_SECONDS = 600.0
Prepare = Callable[[Server, str], Awaitable[Server]]
Listed = Callable[[str, list[JsonObject]], Awaitable[None]]
Sign = Callable[[Server, str, Network], Signing | None]
Sandbox = Callable[[Server, Speaking, Log], Awaitable[Wire]]


class Keeping:
    """Every session of this process."""

    def __init__(
        self,
        prepare: Prepare,
        listed: Listed,
        *,
        network: Network | None = None,
        sign: Sign | None = None,
        sandbox: Sandbox | None = None,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        """`prepare` fills in secrets just before a connection; `listed` is told what tools a server has."""
        self._prepare = prepare
        self._listed = listed
        self._network = network or Network()
        self._sign = sign
        self._sandbox = sandbox
        self._env = env
        self._servers: dict[str, Server] = {}
        self._shared: dict[str, Kept] = {}
        self._own: dict[tuple[str, str], Kept] = {}
        self._logs: dict[str, Log] = {}
        self._heard: list[Heard] = []
        self._ending = Tasks()

    async def use(self, servers: Sequence[Server], *, connect: bool = True) -> None:
        """The servers that may be used from now on. Sessions of others, and of changed ones, end."""
        wanted = {server.name: server for server in servers}
        before, self._servers = self._servers, wanted  # first: whoever comes meanwhile gets what holds now
        gone = [name for name, server in before.items() if wanted.get(name) != server]
        await _closed([one for name in gone for one in self._taken(name)])
        for name, server in wanted.items() if connect else ():
            if self._servers.get(name) == server:
                (self._shared.get(name) or self._session(server, "")).begin()

    async def get(self, server: str, identity: str = "") -> Kept:
        """The session with a server. It connects when it is asked."""
        known = self._servers.get(server)
        if known is None:
            raise ServerGone(f"There is no server {server!r} that may be used.", hint="Ask a person to approve it.")
        kept = self._own.get((server, identity)) if identity else self._shared.get(server)
        if kept is None:
            if identity:
                self._make_room(server)
            kept = self._session(known, identity)
        return kept

    def names(self) -> Sequence[str]:
        """The servers that may be used."""
        return tuple(self._servers)

    def has(self, server: str) -> bool:
        """Whether a server may be used."""
        return server in self._servers

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Hear what servers tell by themselves."""
        self._heard.append(heard)
        return lambda: self._heard.remove(heard)

    def state(self, server: str) -> tuple[State, str]:
        """How it stands with a server that may be used, and why."""
        kept = self._shared.get(server)
        return (State.IDLE, "") if kept is None else (kept.state, kept.why)

    def facts(self, server: str) -> ServerFacts | None:
        """What a server last said of itself; None when it was never connected."""
        kept = self._shared.get(server)
        return kept.facts if kept is not None and kept.facts.version else None

    def log(self, server: str) -> Log:
        """What a server wrote to its standard error, and what was noted about it."""
        return self._logs.setdefault(server, Log())

    def retry(self, server: str) -> None:
        """Connect now, though it failed."""
        if server in self._servers:
            kept = self._shared.get(server)
            if kept is None:
                self._session(self._servers[server], "").begin()
            else:
                kept.retry()

    async def drop(self, server: str, identity: str) -> None:
        """End the sessions of an identity: they were made with settings that hold no more."""
        keys = [key for key in self._own if key[0].lower() == server and f"{key[1]} ".startswith(f"{identity} ")]
        await _closed([self._own.pop(key) for key in keys])

    async def close(self) -> None:
        """End every session."""
        sessions = [*self._shared.values(), *self._own.values()]
        self._shared, self._own, self._servers = {}, {}, {}
        await _closed(sessions)
        await self._ending.ended()
        self._network.close()

    def _taken(self, server: str) -> list[Kept]:
        """The sessions of a server, which are nobody's from now on."""
        sessions = [self._own.pop(key) for key in list(self._own) if key[0] == server]
        shared = self._shared.pop(server, None)
        return sessions if shared is None else [*sessions, shared]

    def _make_room(self, server: str) -> None:
        """Let sessions go that nobody used for long, or the one that was not used for longest: one at work only at last."""

        def worth(key: tuple[str, str]) -> tuple[bool, float]:
            return self._own[key].busy > 0, self._own[key].used

        mine = sorted((key for key in self._own if key[0] == server), key=worth)
        now = time.monotonic()
        over = max(0, len(mine) - _IDENTITIES + 1)
        for i, key in enumerate(mine):
            if i < over or (not self._own[key].busy and now - self._own[key].used > _IDLE_SECONDS):
                self._ending.start(self._own.pop(key).close())

    def _session(self, server: Server, identity: str) -> Kept:
        log = self.log(server.name)

        async def wire(speaking: Speaking) -> Wire:
            return await self._wire(await self._prepare(server, identity), identity, speaking, log)

        async def listed(tools: list[JsonObject]) -> None:
            await self._listed(server.name, tools)

        def notice(method: str, params: JsonObject) -> None:
            for heard in list(self._heard):
                heard(server.name, method, params)

        kept = Kept(server, wire, log, listed=None if identity else listed, notice=notice)
        if identity:
            self._own[server.name, identity] = kept
        else:
            self._shared[server.name] = kept
        return kept

    async def _wire(self, server: Server, identity: str, speaking: Speaking, log: Log) -> Wire:
        if server.transport is Transport.STDIO:
            if server.sandbox:
                if self._sandbox is None:
                    raise ServerGone("Its configuration wants a sandbox, and there is none.")
                return await self._sandbox(server, speaking, log)
            argv = [server.command, *server.args]
            return await start_child(argv, server.env, server.cwd, speaking.received, log, around=self._env)
        try:
            origin = Origin(read_url(server.url), self._network)
        except BadUrl as error:
            raise ServerGone(f"Its address cannot be asked: {error}.", hint="Correct its url.") from None
        if server.transport is Transport.SSE:
            old = EventWire(origin, server.headers, speaking.received, log)
            try:
                await old.open()
            except ToolError:
                await old.close()
                raise
            return old
        signing = self._sign(server, identity, self._network) if self._sign else None
        return Post(origin, server.headers, speaking.received, log, signing=signing)


async def _closed(sessions: Sequence[Kept]) -> None:
    await asyncio.gather(*(one.close() for one in sessions))
