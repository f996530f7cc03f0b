"""A server as a child of ours: a message a line, on its standard input and output.

It gets the environment that it was configured with over a small plain one, never ours. It has a process group of its
own, so that ending it ends its children.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.mcp.events import LARGEST
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.wire import NONE, Received, is_answer, messages_of
from toolcrib.services.mcp.downstream import NotKnown, ServerGone

PLAIN = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", "TZ")
_GRACE = 2.0
_BAD_LINES = 50  # lines that are no JSON before nobody listens any more


class Child(asyncio.SubprocessProtocol):
    """A running server and what it says."""

    def __init__(self, received: Received, log: Log) -> None:
        self._received = received
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._input: Any = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._bad = 0
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self.lost = ""
        self.on_lost: Callable[[], None] | None = None

    streams = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._input = self._transport.get_pipe_transport(0)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._log.write(data)
            return
        end = data.rfind(b"\n")
        if end < 0:
            self._hold(data)
            return
        whole = data[: end + 1]
        if self._pieces:
            whole = b"".join((*self._pieces, whole))
        self._pieces, self._size = [], 0
        if rest := data[end + 1 :]:
            self._hold(rest)
        for line in whole.split(b"\n"):
            if line and not self.lost:
                self._line(line)

    def process_exited(self) -> None:
        code = self._transport.get_returncode()
        how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
        self._gone(f"it ended with {how}")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's words
        if fd == 1:
            self._gone("it closed its output")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's words
        self._gone("it ended")
        if not self._ended.done():
            self._ended.set_result(None)

    async def ask(self, number: int, data: bytes, headers: Mapping[str, str] = NONE) -> JsonObject:  # noqa: ARG002 - lines have none
        answer: asyncio.Future[JsonObject] = self._loop.create_future()
        self._write(data)
        self._waiting[number] = answer
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def tell(self, data: bytes) -> None:
        with suppress(ServerGone):
            self._write(data)

    async def agreed(self, version: str, *, modern: bool) -> None:
        """Nothing to do: lines say nothing of the protocol."""

    async def close(self) -> None:
        """Close its input, then ask it to end, then end it, with all of its children."""
        if self._transport is None:
            return
        self._gone("it was ended")
        pid = self._transport.get_pid()
        self._input.close()
        for sign in (None, signal.SIGTERM, signal.SIGKILL):
            if sign is not None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, sign)
            with suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    await asyncio.shield(self._ended)
            if self._ended.done():
                break
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # what it left behind
        self._transport.close()

    def _write(self, data: bytes) -> None:
        if self.lost:
            raise ServerGone(f"The server was not asked: {self.lost}.")
        if self._input.get_write_buffer_size() > LARGEST:
            raise ServerGone("The server was not asked: it does not read what is sent to it.")
        self._input.write(data + b"\n")

    def _hold(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > LARGEST:
            self._pieces, self._size = [], 0
            self._gone(f"it sent a message longer than {LARGEST >> 20} MB")
            self._kill()

    def _line(self, line: bytes) -> None:
        try:
            messages = messages_of(line)
        except ToolFailed as error:
            self._bad += 1
            self._log.say(f"[toolcrib] {error.message} It begins: {line[:80]!r}")
            if self._bad > _BAD_LINES:
                self._gone("it sends what is no JSON")
                self._kill()
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

    def _gone(self, why: str) -> None:
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

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)


async def start_child(
    argv: list[str], env: Mapping[str, str], cwd: str, received: Received, log: Log, *, around: Mapping[str, str]
) -> Child:
    """Start a server. `around` is our own environment, of which only the plain part is handed on."""
    plain = {name: around[name] for name in PLAIN if name in around and not around[name].startswith("()")}
    loop = asyncio.get_running_loop()
    try:
        _, child = await loop.subprocess_exec(
            lambda: Child(received, log), *argv, env={**plain, **env}, cwd=cwd or None, start_new_session=True
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ServerGone(f"{argv[0]} could not be started: {why}.", hint="Check the command and the folder.") from None
    return child
