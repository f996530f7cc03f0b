"""A program that runs: its pipes, and the wire to its supervisor."""

import asyncio
import json
import os
import socket
from contextlib import suppress
from typing import Any

from toolcrib.core.errors import ToolFailed
from toolcrib.services.commands import Ended

_PIECE = 1 << 16
_GRACE = 15.0  # for a supervisor to end what it must end


class LocalRunning:
    """One program. Reading waits without a thread, and a reader that stops makes the program wait."""

    def __init__(self, wire: socket.socket, output: int, errors: int, stdin: int) -> None:
        self._wire = wire
        self._handles = {"output": output, "errors": errors, "input": stdin}
        loop = asyncio.get_running_loop()
        self._started: asyncio.Future[int] = loop.create_future()
        self._ended: asyncio.Future[Ended] = loop.create_future()
        self._loop = loop
        self._pid = 0
        loop.add_reader(wire.fileno(), self._told)

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self._ended.done()

    async def started(self) -> None:
        """Wait until it runs. Raises ToolFailed when it could not be started."""
        self._pid = await self._started

    async def read(self) -> bytes:
        return await self._read("output")

    async def read_error(self) -> bytes:
        return await self._read("errors")

    async def _read(self, name: str) -> bytes:
        await asyncio.sleep(0)  # endless output must not keep others from their turn
        while (handle := self._handles[name]) >= 0:
            try:
                data = os.read(handle, _PIECE)
            except BlockingIOError:
                await self._ready(handle, reading=True)
                continue
            if not data:
                self._shut(name)
            return data
        return b""

    async def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            handle = self._handles["input"]
            if handle < 0:
                raise _closed()
            try:
                view = view[os.write(handle, view[:_PIECE]) :]
            except BlockingIOError:
                await self._ready(handle, reading=False)
            except BrokenPipeError:
                self._shut("input")
                raise _closed() from None

    async def close_input(self) -> None:
        self._shut("input")

    async def wait(self) -> Ended:
        return await asyncio.shield(self._ended)

    async def stop(self, *, grace: float = 1.0) -> Ended:
        if not self._ended.done() and grace > 0:
            self._say(b"end")
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    return await self.wait()
        self._say(b"kill")
        async with asyncio.timeout(_GRACE):
            return await self.wait()

    def let_go(self) -> None:
        """Hear no more of it. Its supervisor ends it when it notices."""
        if not self._ended.done():
            self._loop.remove_reader(self._wire.fileno())
            self._wire.close()
            self._ended.set_result(Ended(why="stopped"))

    def _say(self, what: bytes) -> None:
        with suppress(OSError):  # it has just ended
            self._wire.send(what)

    async def _ready(self, handle: int, *, reading: bool) -> None:
        """Wait until something can be read from a pipe, or written to it."""
        ready: asyncio.Future[None] = self._loop.create_future()

        def done() -> None:
            if not ready.done():
                ready.set_result(None)

        add, remove = self._loop.add_reader, self._loop.remove_reader
        if not reading:
            add, remove = self._loop.add_writer, self._loop.remove_writer
        add(handle, done)
        try:
            await ready
        finally:
            remove(handle)

    def _told(self) -> None:
        """Something came from the supervisor, or it is gone."""
        try:
            message = self._wire.recv(_PIECE)
        except OSError:
            message = b""
        report: dict[str, Any] = json.loads(message) if message else {"why": "signal", "signal": 9}
        if "pid" in report:
            self._started.set_result(report["pid"])
            return
        self._loop.remove_reader(self._wire.fileno())
        self._wire.close()
        if not self._started.done():
            why = report.get("trouble") or "its supervisor was ended"
            self._started.set_exception(ToolFailed(f"The program could not be started: {why}.", code="not_started"))
        if not self._ended.done():
            report["why"] = report.get("why") or ("exit" if report.pop("trouble", "") else "signal")
            self._ended.set_result(Ended(**report))

    def _shut(self, name: str) -> None:
        handle, self._handles[name] = self._handles[name], -1
        if handle >= 0:
            os.close(handle)

    def __del__(self) -> None:
        for name in self._handles:
            self._shut(name)


def _closed() -> ToolFailed:
    return ToolFailed(
        "The program's input is closed: it has ended, or reads no more.",
        code="input_closed",
        hint="Look at what it wrote and how it ended.",
    )
