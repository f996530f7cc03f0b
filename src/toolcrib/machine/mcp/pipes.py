"""A server as a child of ours: a message a line, on its standard input and output.

It gets the environment that it was configured with over a small plain one, never ours. It has a process group of its
own, so that ending it ends its children.
"""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from toolcrib.machine.mcp.events import LARGEST
from toolcrib.machine.mcp.lines import Lines
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.wire import Received
from toolcrib.services.mcp.downstream import ServerGone

PLAIN = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", "TZ")
_GRACE = 2.0


class Child(Lines, asyncio.SubprocessProtocol):
    """A running server and what it says."""

    def __init__(self, received: Received, log: Log) -> None:
        super().__init__(received, log)
        self._transport: Any = None
        self._input: Any = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._input = self._transport.get_pipe_transport(0)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.feed(data)
        else:
            self._log.write(data)

    def process_exited(self) -> None:
        code = self._transport.get_returncode()
        how = f"signal {-code}" if code is not None and code < 0 else f"status {code}"
        self.gone(f"it ended with {how}")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's words
        if fd == 1:
            self.gone("it closed its output")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's words
        self.gone("it ended")
        if not self._ended.done():
            self._ended.set_result(None)

    async def write(self, data: bytes) -> None:
        """To its standard input, unless it does not read."""
        if self._input.get_write_buffer_size() > LARGEST:
            raise ServerGone("The server was not asked: it does not read what is sent to it.")
        self._input.write(data)

    def stop(self) -> None:
        """Kill it, with all of its children."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), signal.SIGKILL)

    async def close(self) -> None:
        """Close its input, then ask it to end, then end it, with all of its children."""
        if self._transport is None:
            return
        self.gone("it was ended")
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


def plain_environment(around: "Mapping[str, str]") -> dict[str, str]:
    """The plain part of an environment, which every server gets."""
    return {name: around[name] for name in PLAIN if name in around and not around[name].startswith("()")}


async def start_child(
    argv: list[str], env: Mapping[str, str], cwd: str, received: Received, log: Log, *, around: Mapping[str, str]
) -> Child:
    """Start a server. `around` is our own environment, of which only the plain part is handed on."""
    plain = plain_environment(around)
    loop = asyncio.get_running_loop()
    try:
        _, child = await loop.subprocess_exec(
            lambda: Child(received, log), *argv, env={**plain, **env}, cwd=cwd or None, start_new_session=True
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ServerGone(f"{argv[0]} could not be started: {why}.", hint="Check the command and the folder.") from None
    return child
