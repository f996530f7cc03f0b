"""A server over the old HTTP transport: one stream of events for all that it says, and a POST for each message to it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.machine.mcp.events import Event
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.origin import Origin
from toolcrib.machine.mcp.streamable import lines_of
from toolcrib.machine.mcp.tasks import Tasks
from toolcrib.machine.mcp.wire import NONE, Received, is_answer, messages_of
from toolcrib.safety.urls import BadUrl, join
from toolcrib.services.mcp.downstream import NotKnown, ServerGone

_SECONDS = 10.0


class EventWire:
    """The wire of one session over the old transport."""

    streams = False
    patience = 0.0

    def __init__(self, origin: Origin, headers: Mapping[str, str], received: Received, log: Log) -> None:
        self._origin = origin
        self._own = lines_of(headers)
        self._received = received
        self._log = log
        self._tasks = Tasks()
        self._target: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self.lost = ""
        self.on_lost: Callable[[], None] | None = None

    async def open(self) -> None:
        """Open the stream, and learn where messages go."""
        self._tasks.start(self._stream())
        try:
            async with asyncio.timeout(_SECONDS):
                await asyncio.shield(self._target)
        except TimeoutError:
            raise ServerGone(f"{self._origin.host} did not say where messages go.") from None

    async def ask(self, number: int, data: bytes, headers: Mapping[str, str] = NONE) -> JsonObject:  # noqa: ARG002 - this era has none
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        if self.lost:
            raise ServerGone(f"The server was not asked: {self.lost}.")
        self._waiting[number] = answer
        try:
            reply = await self._post(data)
            if reply >= 400:
                raise ToolFailed(f"{self._origin.host} answered {reply}.", code="bad_response")
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def tell(self, data: bytes) -> None:
        with suppress(ToolError):
            await self._post(data)

    async def agreed(self, version: str, *, modern: bool) -> None:
        """Nothing to do: this transport does not say the version."""

    async def close(self) -> None:
        self._gone("it was closed")
        await self._tasks.close()
        await self._origin.close()

    async def _post(self, data: bytes) -> int:
        lines = b"content-type: application/json\r\n" + self._own
        return (await self._origin.ask("POST", await self._target, lines, data)).status

    async def _stream(self) -> None:
        lines = b"accept: text/event-stream\r\n" + self._own
        why = "its stream of events ended"
        try:
            reply = await self._origin.ask("GET", self._origin.url.target, lines, heard=self._heard)
            if reply.status != 200:
                why = f"it answered {reply.status}"
        except ToolError as error:
            why = error.message
        self._gone(why)

    def _heard(self, event: Event) -> bool:
        if event.kind == b"endpoint":
            self._place(event.data.decode("utf-8", "replace"))
            return False
        if not event.data:
            return False
        try:
            messages = messages_of(event.data)
        except ToolFailed as error:
            self._log.say(f"[toolcrib] {error.message}")
            return False
        for message in messages:
            number = message.get("id")
            waiting = self._waiting.get(number) if isinstance(number, int) and is_answer(message) else None
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
            elif not is_answer(message):
                self._received(message, None)
        return False

    def _place(self, said: str) -> None:
        try:
            url = join(self._origin.url, said)
        except BadUrl:
            url = None
        if url is None or url.origin != self._origin.url.origin:
            self._gone("it wants messages sent to another server")
        elif not self._target.done():
            self._target.set_result(url.target)

    def _gone(self, why: str) -> None:
        self.lost = self.lost or why
        if not self._target.done():
            self._target.set_exception(ServerGone(f"{self._origin.host} cannot be used: {why}."))
            self._target.exception()  # looked at, whether or not somebody waits for it
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(NotKnown(f"The server was asked and did not answer: {why}."))
        if self.on_lost is not None:
            self.on_lost()
