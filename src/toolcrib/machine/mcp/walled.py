"""A server inside walls: the programs of the sandbox, spoken to in lines."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from toolcrib.core.errors import ToolError
from toolcrib.machine.mcp.lines import Lines
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.pipes import plain_environment
from toolcrib.machine.mcp.tasks import Tasks
from toolcrib.machine.mcp.wire import Received
from toolcrib.services.commands import MIB, Command, Commands, Limits, Running
from toolcrib.services.config.values import Sandbox
from toolcrib.services.mcp.downstream import ServerGone
from toolcrib.services.mcp.servers import Server

_LONG = 365 * 86_400.0


class Walled(Lines):
    """A running server, and what reads from it."""

    def __init__(self, running: Running, received: Received, log: Log, folder: str) -> None:
        super().__init__(received, log)
        self._running = running
        self._folder = folder  # made for it, and taken away with it
        self._writing = asyncio.Lock()
        self._tasks = Tasks()
        self._tasks.start(self._read())
        self._tasks.start(self._read_errors())

    async def write(self, data: bytes) -> None:
        """To its standard input, one message after the other."""
        async with self._writing:
            try:
                await self._running.write(data)
            except ToolError as error:
                raise ServerGone(f"The server was not asked: {error.message}") from None

    def stop(self) -> None:
        """End it, with all that it started."""
        self._tasks.start(self._end())

    async def close(self) -> None:
        """End it."""
        self.gone("it was ended")
        await self._end()
        await self._tasks.close()
        if self._folder:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _end(self) -> None:
        with suppress(ToolError, TimeoutError):
            await self._running.stop(grace=1.0)

    async def _read(self) -> None:
        while data := await self._running.read():
            self.feed(data)
        ended = await self._running.wait()
        self.gone(f"it ended ({ended.why}{'' if ended.code is None else f', status {ended.code}'})")

    async def _read_errors(self) -> None:
        while data := await self._running.read_error():
            self._log.write(data)


async def start_walled(
    server: Server, commands: Commands, rules: Sandbox, received: Received, log: Log, *, around: Mapping[str, str]
) -> Walled:
    """Start a server inside walls. It sees its folder, the system's programs, and the files that its command names."""
    env = {**plain_environment(around), **server.env}
    program = shutil.which(server.command, path=env.get("PATH")) or server.command
    argv = (program, *server.args)
    folder = "" if server.cwd else await asyncio.to_thread(tempfile.mkdtemp, prefix="toolcrib-mcp-")
    command = Command(
        argv=argv,
        workspace=server.cwd or folder,
        env={**env, "HOME": server.cwd or folder},
        network=rules.network,
        limits=Limits(seconds=_LONG, memory=rules.memory * MIB, cpus=rules.cpus, processes=rules.processes),
        readable=tuple(sorted(_named(argv))),
        stdin=True,
        split=True,
    )
    try:
        running = await commands.start(command)
    except ToolError as error:
        raise ServerGone(f"{server.command} could not be started inside walls: {error.message}") from None
    return Walled(running, received, log, folder)


def _named(argv: tuple[str, ...]) -> set[str]:
    """The folders of the files that a command names, and of the environment that a program of Python stands in."""
    found: set[str] = set()
    for word in argv:
        path = Path(word)
        if not path.is_absolute() or not path.exists():
            continue
        found.add(str(path if path.is_dir() else path.parent))
        if (path.parent.parent / "pyvenv.cfg").exists():
            found.add(str(path.parent.parent))
        real = Path(os.path.realpath(path))
        found.add(str(real if real.is_dir() else real.parent.parent))
    return found - {"/"}
