"""Standard input and output as lines. Whatever else writes to standard output comes out at standard error."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator

from toolcrib.faces.mcp.http import LONGEST

CHUNK = 1 << 20


class Lines:
    """What comes in, line by line."""

    def __init__(self, source: int = 0) -> None:
        self._source = source

    async def __aiter__(self) -> AsyncIterator[bytes]:
        source = os.dup(self._source)
        if _never_waits(source):
            with os.fdopen(source, "rb") as file:
                for line in file:
                    yield line
            return
        reader = asyncio.StreamReader(limit=LONGEST)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", 0)
        )
        try:
            while line := await _line(reader):
                yield line
        finally:
            transport.close()


def _never_waits(source: int) -> bool:
    """Whether it is a plain file or something like /dev/null, which the event loop cannot watch and need not."""
    mode = os.fstat(source).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or (stat.S_ISCHR(mode) and not os.isatty(source))


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line; one that is longer than may be is read to its end and told as what is no JSON."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        return end.partial
    except asyncio.LimitOverrunError:
        while True:
            try:
                await reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as over:
                await reader.readexactly(max(1, over.consumed))
            except asyncio.IncompleteReadError:
                return b""
            else:
                return b'"too long"\n'


def own_output() -> int:
    """Keep standard output for the protocol, and send everything else that is printed to standard error."""
    try:
        os.fstat(0)
    except OSError:  # closed before we began: what is opened next would be taken for the input
        os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


class Output:
    """What goes out, in order. A client that reads slowly is waited for in a thread of its own."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._waiting: list[bytes] = []
        self._wake = asyncio.Event()
        self.gone = False
        self._closing = False

    def write(self, message: bytes) -> None:
        """Send a message."""
        if not self.gone:
            self._waiting.append(message + b"\n")
            self._wake.set()

    def close(self) -> None:
        """Let it end when all is written."""
        self._closing = True
        self._wake.set()

    async def run(self) -> None:
        """Write what waits, until it is closed and nothing waits."""
        while not self._closing or self._waiting:
            await self._wake.wait()
            self._wake.clear()
            await self._flush()
            if self.gone:
                return

    async def _flush(self) -> None:
        while self._waiting and not self.gone:
            data, self._waiting = b"".join(self._waiting), []
            try:
                await asyncio.to_thread(_write_all, self._target, data)
            except OSError:  # nobody reads any more
                self.gone = True


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view[:CHUNK]) :]
