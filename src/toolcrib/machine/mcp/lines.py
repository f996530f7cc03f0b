"""Messages as lines, over the standard input and output of a program, however it was started."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.mcp.events import LARGEST
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.wire import NONE, Received, is_answer, messages_of
from toolcrib.services.mcp.downstream import NotKnown, ServerGone

_BAD_LINES = 50  # lines that are no JSON before nobody listens any more


class Lines:
    """What a program says, line by line, and the requests that wait for an answer."""

    streams = False
    patience = 0.0

    def __init__(self, received: Received, log: Log) -> None:
        self.lost = ""
        self.on_lost: Callable[[], None] | None = None
        self._received = received
        self._log = log
        self._held = bytearray()  # of a line whose end has not come
        self._bad = 0
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}

    async def ask(self, number: int, data: bytes, headers: Mapping[str, str] = NONE) -> JsonObject:  # noqa: ARG002 - lines have none
        """Send a request and give the message that answers it."""
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        if self.lost:
            raise ServerGone(f"The server was not asked: {self.lost}.")
        self._waiting[number] = answer
        try:
            await self.write(data + b"\n")
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def tell(self, data: bytes) -> None:
        """Send what has no answer."""
        if not self.lost:
            with suppress(ToolFailed):
                await self.write(data + b"\n")

    async def agreed(self, version: str, *, modern: bool) -> None:
        """Nothing to do: lines say nothing of the protocol."""

    async def write(self, data: bytes) -> None:
        """To the program's standard input."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the program at once: nobody listens to it any more."""
        raise NotImplementedError

    def feed(self, data: bytes) -> None:
        """Take up what came on standard output."""
        end = data.rfind(b"\n")
        if end < 0:
            self._hold(data)
            return
        whole = data[: end + 1]
        if self._held:
            whole = bytes(self._held) + whole
            self._held = bytearray()
        if rest := data[end + 1 :]:
            self._hold(rest)
        for line in whole.split(b"\n"):
            if line and not self.lost:
                self._line(line)

    def gone(self, why: str) -> None:
        """Nothing can be sent any more: whoever waits is told."""
        if self.lost:
            return
        self.lost = why
        self._log.say(f"[toolcrib] {why}")
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(NotKnown(f"The server was asked and did not answer: {why}."))
        if self.on_lost is not None:
            self.on_lost()

    def _hold(self, data: bytes) -> None:
        self._held += data
        if len(self._held) > LARGEST:
            self._held = bytearray()
            self.gone(f"it sent a message longer than {LARGEST >> 20} MB")
            self.stop()

    def _line(self, line: bytes) -> None:
        try:
            messages = messages_of(line)
        except ToolFailed as error:
            self._bad += 1
            self._log.say(f"[toolcrib] {error.message} It begins: {line[:80]!r}")
            if self._bad > _BAD_LINES:
                self.gone("it sends what is no JSON")
                self.stop()
            return
        for message in messages:
            if not is_answer(message):
                self._received(message, None)
                continue
            number = message.get("id")
            waiting = self._waiting.pop(number, None) if isinstance(number, int) else None
            if waiting is None:
                self._log.say(f"[toolcrib] an answer to no request, with id {str(number)[:40]}, was dropped")
            elif not waiting.done():
                waiting.set_result(message)
