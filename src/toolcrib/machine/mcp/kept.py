"""A session that is kept: connected when it is needed, looked after, and connected again when it was lost.

    connecting ──► connected ──(lost, or no answer to a ping)──► connecting ──(ten tries)──► failed
                                                   a call or `retry` connects at once, whatever the state

A request that was not sent is sent again on the next connection. One that was sent and lost is never repeated here.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.speaking import Speaking
from toolcrib.machine.mcp.tasks import Tasks
from toolcrib.machine.mcp.wire import SessionLostError, Wire, objects
from toolcrib.services.mcp.downstream import Link, McpFault, NotKnown, ServerFacts, ServerGone
from toolcrib.services.mcp.servers import Server, State

HEALTH_SECONDS = 30.0
_QUICK = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0)  # pauses after a loss, before the long ones
_LONG = tuple(min(2.0 * 2**i, 60.0) for i in range(10))
_PATIENCE = 2.5  # seconds for which a call waits for a server that has just been lost
_CONNECT_SECONDS = 40.0
_LISTEN = "subscriptions/listen"
_TOOLS, _PAGES = 10_000, 500
Open = Callable[[Speaking], Awaitable[Wire]]
Listed = Callable[[list[JsonObject]], Awaitable[None]]
Notice = Callable[[str, JsonObject], None]
_LISTS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}


class Kept:
    """The session of one server and identity."""

    def __init__(self, server: Server, wire: Open, log: Log, *, listed: Listed | None, notice: Notice) -> None:
        """`listed` is told of the server's tools, now and whenever they change; None: nobody asks for them here."""
        self.name = server.name
        self.log = log
        self.state = State.CONNECTING
        self.why = ""
        self.used = time.monotonic()
        self.busy = 0  # requests that it works on
        self._server = server
        self._open = wire
        self._listed = listed
        self._notice = notice
        self._speaking: Speaking | None = None
        self._facts = ServerFacts(version="")
        self._making: asyncio.Future[Speaking] | None = None
        self._failed = (0.0, "")  # when the last try failed, and why
        self._down = 0.0  # since when it is down; 0 while it is not
        self._tasks = Tasks()
        self._ending = Tasks()  # lost sessions on their way out: a server that hangs is ended all the same
        self._wake = asyncio.Event()
        self._room = asyncio.Semaphore(server.at_once)
        self._stale = False
        self._quiet = asyncio.Event()  # its tools are listed, or could not be
        self._begun = self._closed = False

    @property
    def facts(self) -> ServerFacts:
        """What the server said of itself; nothing before it was connected."""
        return self._facts

    def begin(self) -> None:
        """Connect, and look after the session until it is closed. A second time it does nothing."""
        if not self._begun and not self._closed:
            self._begun = True
            self._tasks.start(self._look_after())

    async def ready(self) -> None:
        """Wait until it is connected. Raises ServerGone with the reason if it cannot be."""
        self._failed = (0.0, "")  # somebody wants it now
        await self._current()

    async def settled(self) -> None:
        """Wait until its tools are listed, or could not be."""
        await self._quiet.wait()

    async def request(
        self, method: str, params: JsonObject, *, link: Link | None = None, seconds: float | None = None
    ) -> JsonObject:
        """A result, as it came; the request is sent at most once."""
        self.used = time.monotonic()
        if method == _LISTEN:  # it lasts for as long as somebody wants it, and takes no place of a call
            return await self._sent(method, params, link, None)
        seconds = seconds or self._server.seconds
        if self._room.locked():
            await self._in_turn(seconds)
        else:
            await self._room.acquire()
        self.busy += 1
        try:
            return await self._sent(method, params, link, seconds)
        finally:
            self.busy -= 1
            self._room.release()

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification, if the server is there."""
        if self._speaking is not None:
            self._speaking.notify(method, params)

    def retry(self) -> None:
        """Connect now; anew where it is connected, for its program may be another by now."""
        self._failed = (0.0, "")
        self._down = time.monotonic()
        if self._speaking is not None:
            self._tasks.start(self._lost(self._speaking, "somebody wants it connected anew"))
        self._wake.set()

    async def close(self) -> None:
        """End the session."""
        self._closed = True
        await self._tasks.close()
        speaking, self._speaking = self._speaking, None
        if speaking is not None:
            await speaking.close()
        await self._ending.ended()

    async def _in_turn(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._room.acquire()
        except TimeoutError:
            raise ServerGone(
                f"{self.name} works on {self._server.at_once} requests already, and none of them ended in time."
            ) from None

    async def _sent(self, method: str, params: JsonObject, link: Link | None, seconds: float | None) -> JsonObject:
        renewed, until = False, time.monotonic() + _PATIENCE
        while True:
            speaking = await self._current()
            try:
                return await speaking.request(method, params, link=link, seconds=seconds)
            except SessionLostError:
                await self._lost(speaking, "it does not know the session any more")
                if renewed:
                    raise ServerGone(f"{self.name} forgets its sessions.") from None
                renewed = True
            except ServerGone as error:
                await self._lost(speaking, error.message)
                if time.monotonic() > until or self._long_down():
                    raise
                await asyncio.sleep(0.05)
            except NotKnown as error:
                await self._lost(speaking, error.message)
                raise

    def _long_down(self) -> bool:
        return bool(self._down) and time.monotonic() - self._down > _PATIENCE

    async def _current(self) -> Speaking:
        """The session, made now if there is none. A call waits a little for a server that was there just before."""
        speaking = self._speaking
        if speaking is not None and not speaking.wire.lost:
            return speaking
        if speaking is not None:
            await self._lost(speaking, speaking.wire.lost)
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return await self._connected()
            except ToolError as error:
                if time.monotonic() > until or self._closed or self._long_down() or not self._facts.version:
                    hint = "It is connected again by itself; a person can look at `toolcrib mcp log`."
                    raise ServerGone(f"{self.name} is not connected: {error.message}", hint=hint) from None
                await asyncio.sleep(0.1)

    async def _connected(self) -> Speaking:
        gone = ServerGone("it was taken out of use, or its settings have changed")
        if self._closed:  # what waited for it must not start it again
            raise gone
        try:
            return await asyncio.shield(self._connecting())
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._closed or task is None or task.cancelling():
                raise
            raise gone from None

    def _connecting(self) -> "asyncio.Future[Speaking]":
        """The one connection that is being made, for all that wait for it."""
        if self._making is None or self._making.done():
            self._making = self._tasks.start(self._connect())
        return self._making

    async def _connect(self) -> Speaking:
        since, why = self._failed
        if why and time.monotonic() - since < 0.1:
            raise ServerGone(why)
        speaking = Speaking(self.name, self.log, self._heard)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS) as deadline:
                speaking.wire = await self._open(speaking)
                until = asyncio.get_running_loop().time() + _CONNECT_SECONDS + speaking.wire.patience
                deadline.reschedule(until)
                await speaking.agree(era=self._facts.version)
        except (ToolError, SessionLostError, TimeoutError) as error:
            why = error.message if isinstance(error, ToolError) else "it did not answer in time"
            await _closed(speaking)
            self._note_failure(why)
            raise ServerGone(why) from None
        except asyncio.CancelledError:
            await _closed(speaking)
            raise
        self._facts, self._speaking = speaking.facts, speaking
        self._failed, self._down = (0.0, ""), 0.0
        speaking.wire.on_lost = self._wake.set
        self.state, self.why = State.CONNECTED, ""
        self._wake.set()  # whoever looks after it may be waiting for another try
        if self._listed is not None:
            self._quiet.clear()
        self._tasks.start(self._settle(speaking))
        return speaking

    def _note_failure(self, why: str) -> None:
        now = time.monotonic()
        self._failed, self._down = (now, why), self._down or now
        self.why = why
        self.log.say(f"[toolcrib] not connected: {why}")

    async def _lost(self, speaking: Speaking, why: str) -> None:
        if self._speaking is not speaking:
            return
        self._speaking = None
        self._down = time.monotonic()
        self.state, self.why = State.CONNECTING, why
        self.log.say(f"[toolcrib] lost: {why}")
        self._ending.start(_closed(speaking))
        self._wake.set()

    async def _look_after(self) -> None:
        tries = 0
        while not self._closed:
            self._wake.clear()
            if self._speaking is not None:
                tries = 0
                await self._watch()
                continue
            try:
                await asyncio.shield(self._connecting())
            except ToolError:
                tries += 1
            else:
                continue
            pauses = (*_QUICK, *_LONG)
            if tries >= len(pauses):
                self.state = State.FAILED
                await self._wake.wait()
                tries = 0
            else:
                self.state = State.CONNECTING
                await self._pause(pauses[tries - 1])

    async def _watch(self) -> None:
        """Wait until the session is lost, and ask now and then whether it is still there."""
        speaking = self._speaking
        if speaking is None:
            return
        await self._pause(HEALTH_SECONDS)
        if self._speaking is not speaking:
            return
        if why := speaking.wire.lost:
            await self._lost(speaking, why)
        elif not self._wake.is_set() and not await speaking.healthy(HEALTH_SECONDS / 3):
            await self._lost(speaking, "it does not answer any more")

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    async def _settle(self, speaking: Speaking) -> None:
        """What follows a connection: its tools, and hearing when they change."""
        if self._listed is None:
            return
        await self._list_all(speaking)
        if speaking.facts.modern:
            await self._subscribe(speaking)

    async def _list(self, speaking: Speaking) -> None:
        if self._listed is None or "tools" not in speaking.facts.capabilities:
            return
        tools: list[JsonObject] = []
        seen: set[str] = set()
        params: JsonObject = {}
        for _ in range(_PAGES):
            found = await speaking.request("tools/list", params, seconds=self._server.seconds)
            listed = found.get("tools")
            tools += objects(listed)
            cursor = found.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen or len(tools) > _TOOLS:
                break
            seen.add(cursor)
            params = {"cursor": cursor}
        if len(tools) > _TOOLS:
            self.log.say(f"[toolcrib] it lists more than {_TOOLS:,} tools; the others were left out")
        await self._listed(speaking.learn(tools[:_TOOLS]))

    async def _subscribe(self, speaking: Speaking) -> None:
        """In the stateless era changes are told on a stream that one asks for."""
        offered = speaking.facts.capabilities
        wanted = {key: True for kind, key in _LISTS.items() if _says(offered.get(kind), "listChanged")}
        while wanted and self._speaking is speaking and not speaking.wire.lost:
            try:
                await speaking.request(_LISTEN, {"notifications": wanted})
            except (McpFault, ToolFailed, SessionLostError) as error:
                if isinstance(error, McpFault):
                    return
            await asyncio.sleep(1)

    def _heard(self, method: str, params: JsonObject) -> None:
        self._notice(method, params)
        if method == "notifications/tools/list_changed":
            self._stale = True
            if self._speaking is not None and self._quiet.is_set():
                self._tasks.start(self._list_all(self._speaking))

    async def _list_all(self, speaking: Speaking) -> None:
        """List the tools until nothing has changed meanwhile: several changes in a row are one or two lists."""
        self._stale = True
        self._quiet.clear()
        try:
            while self._stale and self._speaking is speaking:
                self._stale = False
                await self._list(speaking)
        except (ToolError, SessionLostError) as error:
            self.log.say(f"[toolcrib] its tools could not be listed: {error}")
        finally:
            self._quiet.set()


def _says(capability: Any, what: str) -> bool:  # noqa: ANN401 - as the server gave it
    return isinstance(capability, dict) and bool(cast("JsonObject", capability).get(what))


async def _closed(speaking: Speaking) -> None:
    if hasattr(speaking, "wire"):
        await speaking.close()
