"""Starting a program inside walls, until it has ended and all is cleared up; and being refused where there are none.

The floor is the same program started plainly, in turns with ours, so that a busy machine disturbs both alike.
The lower quartile says what it takes where little else runs.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from statistics import median, quantiles

from toolcrib.core.errors import ToolError
from toolcrib.machine.sandbox.choice import BUBBLEWRAP, LANDLOCK
from toolcrib.machine.sandbox.commands import LocalCommands
from toolcrib.services.commands import Command
from toolcrib_bench.figures import Figure, figure

TIMES = 100
PROGRAM = "/usr/bin/true"
PAUSE = 0.01  # between two starts, as between two calls of an agent


def run() -> Iterator[Figure]:
    """Each kind of walls that this machine has, and none."""
    with tempfile.TemporaryDirectory() as workspace:
        for walls in (BUBBLEWRAP, LANDLOCK, "host"):
            yield from asyncio.run(_started(walls, workspace))
        yield asyncio.run(_refused(workspace))


async def _started(walls: str, workspace: str) -> list[Figure]:
    commands = LocalCommands(order=() if walls == "host" else (walls,))
    command = Command(argv=(PROGRAM,), workspace=workspace, unsafe_host=walls == "host")
    began = time.perf_counter()
    try:
        await _once(commands, command)
    except ToolError as error:
        await commands.close()
        return [{"bench": "sandbox", "figure": f"{walls}: not here", "why": error.message}]
    first = time.perf_counter() - began
    plain: list[float] = []
    ours: list[float] = []
    for _ in range(TIMES):
        plain.append(_plain())
        await asyncio.sleep(PAUSE)
        ours.append(await _once(commands, command))
        await asyncio.sleep(PAUSE)
    await commands.close()
    floor, quiet = median(plain) * 1e3, quantiles(plain, n=4)[0] * 1e3
    over, slow = median(ours) * 1e3 - floor, quantiles(ours, n=20)[-1] * 1e3 - quantiles(plain, n=20)[-1] * 1e3
    return [
        figure("sandbox", f"start over plain exec, p50, {walls}", over, "ms", floor),
        figure("sandbox", f"start over plain exec, p25, {walls}", quantiles(ours, n=4)[0] * 1e3 - quiet, "ms", quiet),
        figure("sandbox", f"start over plain exec, p95, {walls}", slow, "ms", quantiles(plain, n=20)[-1] * 1e3),
        figure("sandbox", f"the very first start, {walls}", first * 1e3, "ms"),
    ]


def _plain() -> float:
    began = time.perf_counter()
    os.waitpid(os.posix_spawn(PROGRAM, [PROGRAM], {}), 0)
    return time.perf_counter() - began


async def _once(commands: LocalCommands, command: Command) -> float:
    began = time.perf_counter()
    running = await commands.start(command)
    ended = await running.wait()
    assert ended.code == 0
    return time.perf_counter() - began


async def _refused(workspace: str) -> Figure:
    commands = LocalCommands(path="/no/such/folder", order=(BUBBLEWRAP,))
    began = time.perf_counter()
    try:
        await commands.start(Command(argv=(PROGRAM,), workspace=workspace))
    except ToolError:
        took = time.perf_counter() - began
    else:
        raise AssertionError("it was not refused")
    await commands.close()
    return figure("sandbox", "refusal where there are no walls", took * 1e3, "ms")
