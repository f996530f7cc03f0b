"""Who speaks: a session that began with a handshake, or the sender of one stateless request."""

import asyncio
import time
from collections.abc import Callable
from secrets import token_urlsafe
from typing import cast

from msgspec import UNSET

from toolcrib.core.call import JsonObject
from toolcrib.faces.mcp.streams import Stream
from toolcrib.faces.mcp.wire import CANCELLED, LEVEL_KEY, LEVELS, Id, Message, any_of, as_object, notification, request
from toolcrib.services.mcp.downstream import INTERNAL_ERROR, MODERN, McpFault
from toolcrib.services.people.principal import Principal

Out = Callable[[bytes], None]
STREAMS_KEPT = 64  # answers that a client may still fetch after its connection was cut
BYTES_KEPT = 4 * 1024 * 1024  # of answers that a session can ask for again


class Place:
    """What a client asked to be connected with: an agent, and perhaps one server under its own names."""

    __slots__ = ("agent", "alone", "principal")

    def __init__(self, agent: str, principal: Principal | None = None, alone: str = "") -> None:
        self.agent = agent
        self.principal = principal
        self.alone = alone

    def same(self, other: "Place") -> bool:
        """Whether another request comes from the same caller for the same thing."""
        mine, theirs = self.principal, other.principal
        known = (mine.id if mine else "") == (theirs.id if theirs else "")
        return known and self.agent == other.agent and self.alone == other.alone


class Peer:
    """A client as the methods see it."""

    def __init__(self, place: Place, version: str, capabilities: JsonObject, info: JsonObject, key: str) -> None:
        self.place = place
        self.version = version
        self.modern = version >= MODERN
        self.capabilities = capabilities
        self.info = info
        self.key = key  # of the session, as guards and labels count it
        self.level = 0  # of the log messages it wants, as a place in LEVELS
        self.standing: JsonObject = {}  # what each of its requests carries, for servers of the other era
        if not self.modern:
            self.wants_level(0)

    def wants_level(self, level: int) -> None:
        """Send it log messages from this level on."""
        self.level = level
        self.standing = {"_meta": {LEVEL_KEY: LEVELS[level]}}

    @property
    def user(self) -> str:
        """For whom calls are made."""
        return self.place.principal.name if self.place.principal else ""

    def wants_log(self, params: JsonObject, extra: JsonObject) -> bool:
        """Whether a log message goes to this client. A stateless one says so with each request."""
        place = level_of(params.get("level"))
        if not self.modern:
            return place is None or place >= self.level
        wanted = level_of(as_object(extra.get("_meta")).get(LEVEL_KEY))
        return wanted is not None and (place is None or place >= wanted)

    @property
    def can_answer(self) -> bool:
        """Whether it can be asked for anything."""
        return any(name in self.capabilities for name in ("elicitation", "sampling", "roots"))


class Asks:
    """Requests of ours that a client has not answered yet."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}

    async def ask(self, out: Out, method: str, params: JsonObject) -> JsonObject:
        """Send a request and wait for its answer. Whoever gives up tells the client."""
        self._count += 1
        number = self._count
        told = self._waiting[number] = asyncio.get_running_loop().create_future()
        out(request(number, method, params))
        try:
            return await told
        except asyncio.CancelledError:
            out(notification("notifications/cancelled", {"requestId": number, "reason": "no longer needed"}))
            raise
        finally:
            self._waiting.pop(number, None)

    def answered(self, message: Message) -> None:
        """Take a client's answer. One to nothing that was asked is dropped."""
        told = self._waiting.get(message.id) if isinstance(message.id, int) else None
        if told is None or told.done():
            return
        if message.error is not UNSET:
            told.set_exception(_fault(any_of(message.error)))
            return
        result = any_of(message.result) if message.result is not UNSET else None
        if isinstance(result, dict):
            told.set_result(cast("JsonObject", result))
        else:
            told.set_exception(McpFault(INTERNAL_ERROR, "The client's answer was not an object."))

    def close(self) -> None:
        """Nobody will answer any more."""
        for told in self._waiting.values():
            if not told.done():
                told.set_exception(McpFault(INTERNAL_ERROR, "The client is gone."))


def _fault(error: object) -> McpFault:
    said = as_object(error)
    number, words = said.get("code"), said.get("message")
    number = number if isinstance(number, int) else INTERNAL_ERROR
    return McpFault(number, str(words or "The client gave an error."), said.get("data"))


class Session(Peer):
    """A client that has shaken hands, until it says goodbye or is silent for too long."""

    def __init__(self, place: Place, version: str, capabilities: JsonObject, info: JsonObject) -> None:
        self.id = token_urlsafe(24)
        super().__init__(place, version, capabilities, info, f"mcp-{self.id}")
        self.asks = Asks()
        self.calls: dict[Id, asyncio.Task[object]] = {}
        self.cancelled: set[Id] = set()
        self.watched: set[str] = set()  # resources
        self.own = Stream("own", limit=1024)  # what is told without being asked
        self.push: Out = self.own.put
        self.streams: dict[str, Stream] = {}
        self.used = time.monotonic()
        self.busy = 0
        self._count = 0

    def stream(self) -> Stream:
        """A stream for the answer to one request."""
        self._count += 1
        name = str(self._count)
        held = sum(one.size for one in self.streams.values())
        for old in [key for key, one in self.streams.items() if one.closed]:  # the oldest first
            if len(self.streams) < STREAMS_KEPT and held <= BYTES_KEPT:
                break
            held -= self.streams.pop(old).size
        made = self.streams[name] = Stream(name)
        return made

    def cancel(self, number: Id) -> None:
        """Stop a call that the client does not want any more."""
        task = self.calls.get(number)
        if task is not None:
            self.cancelled.add(number)
            task.cancel()

    def close(self) -> None:
        """End it: what runs is stopped, what waits is told."""
        self.asks.close()
        self.own.close()
        for number in list(self.calls):
            self.cancel(number)


def stopped() -> McpFault:
    """What a cancelled request is answered with, if anybody still listens."""
    return McpFault(CANCELLED, "The request was cancelled.")


def level_of(name: object) -> int | None:
    """A log level's place in the order; None for one that is not."""
    return LEVELS.index(name) if isinstance(name, str) and name in LEVELS else None
