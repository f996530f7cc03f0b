"""Starting programs in tests: which walls and users there are here, and what a program said and how it ended."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolcrib.machine.sandbox import choice
from toolcrib.machine.sandbox.commands import LocalCommands
from toolcrib.machine.sandbox.plans import Someone
from toolcrib.services.commands import Command, Ended, Limits

PYTHON = "/usr/bin/python3"  # programs inside see no other
NOBODY = Someone(65534, 65534)
ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8"}


class Came(NamedTuple):
    """What came of a program."""

    said: str
    ended: Ended


class Place(NamedTuple):
    """A workspace, who works in it, and the walls."""

    walls: str
    user: Someone
    top: Path

    def commands(self, **more: Any) -> LocalCommands:
        return LocalCommands(order=(self.walls,) if self.walls != choice.HOST else (), user=self.user, **more)

    def command(self, *argv: str, **more: Any) -> Command:
        more.setdefault("limits", Limits(seconds=30))
        more.setdefault("env", ENV)
        return Command(argv=argv, workspace=str(self.top), unsafe_host=self.walls == choice.HOST, **more)

    async def run(self, *argv: str, said_to: bytes = b"", **more: Any) -> Came:
        async with opened(self.commands()) as commands:
            return await came_of(commands, self.command(*argv, stdin=bool(said_to), **more), said_to)


async def came_of(commands: LocalCommands, command: Command, said_to: bytes = b"") -> Came:
    running = await commands.start(command)
    if said_to:
        await running.write(said_to)
        await running.close_input()
    said = bytearray()
    while piece := await running.read():
        said += piece
    return Came(said.decode(errors="replace"), await running.wait())


@asynccontextmanager
async def opened(commands: LocalCommands) -> AsyncGenerator[LocalCommands]:
    try:
        yield commands
    finally:
        await commands.close()


def users() -> list[Any]:
    """Root and nobody for root; ourselves for everybody else."""
    if os.geteuid() == 0:
        return [pytest.param(Someone(), id="root"), pytest.param(NOBODY, id="nobody")]
    return [pytest.param(Someone(), id="user")]


async def needs(walls: str, user: Someone) -> None:
    """Skip where this machine has no such walls."""
    if walls == choice.BUBBLEWRAP and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed here")
    if walls != choice.HOST:
        async with opened(LocalCommands(order=(walls,), user=user)) as commands:
            found = await commands.walls()
        if not found.name:
            pytest.skip(f"{found.about} {found.fix}")


@contextmanager
def workspace_of(user: Someone, folder: Path) -> Generator[Path]:
    """A workspace of somebody, where they can get at it."""
    top = folder / "work"
    top.mkdir()
    if user.user >= 0:
        for one in (folder, *folder.parents):
            if one.stat().st_uid == os.geteuid() and one.name.startswith("toolcrib-test"):
                one.chmod(0o711)
        os.chown(top, *user)
    yield top


async def until(what: Any, seconds: float = 10) -> bool:
    """Whether something comes true in time."""
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110 - what is waited for is in /proc, and tells nobody
            await asyncio.sleep(0.01)
    return True
