"""Programs on this machine, inside the best walls that it has."""

import asyncio
import os
import sys
from collections.abc import Sequence

from toolcrib.core.errors import ToolError
from toolcrib.machine.sandbox import choice, diagnosis, docker, plans
from toolcrib.machine.sandbox.keeping import Keeper
from toolcrib.machine.sandbox.plans import OURSELVES, Asked, Plan, Someone
from toolcrib.machine.sandbox.running import LocalRunning
from toolcrib.services.commands import Access, Command, Limits, NoWalls, Walls

_TRIAL_SECONDS = 10.0
_TRIALS: dict[tuple[str, str, int], str] = {}  # walls, program, user: empty, or why they do not stand


class LocalCommands:
    """Implements `Commands`.

    `docker_image` lets Docker be used; `unsafe_host` only says so when asked for the walls. `user` is who programs are
    started by when we are root; the owner of the workspace otherwise, and ourselves when that is root.
    """

    def __init__(
        self,
        *,
        docker_image: str = "",
        unsafe_host: bool = False,
        order: Sequence[str] = choice.ORDER,
        path: str | None = None,
        user: Someone = OURSELVES,
    ) -> None:
        self._host = choice.host(root=os.geteuid() == 0 and user.user <= 0)
        self._image = docker_image
        self._unsafe_host = unsafe_host
        self._order = tuple(order)
        self._path = path
        self._user = user
        self._keeper: Keeper | None = None
        self._programs: dict[str, str] = {}
        self._known: dict[tuple[int, str], Walls] = {}
        self._running: set[LocalRunning] = set()

    async def walls(self) -> Walls:
        if self._unsafe_host:
            lacks = ("every wall", *self._host.lacks(choice.HOST, as_root=self._host.root))
            about = "programs run on this machine without walls, by configuration"
            return Walls(name=choice.HOST, about=about, lacks=lacks)
        return await self._walls(OURSELVES, os.getcwd())

    async def start(self, command: Command) -> LocalRunning:
        asked = plans.look_at(command, self._host)
        if command.unsafe_host:
            return await self._started(plans.plain(asked, self._host), command)
        walls = await self._walls(asked.someone, command.workspace)
        if not walls.name:
            raise NoWalls(walls.about, hint=walls.fix)
        return await self._started(self._plan(walls.name, asked, self._bubblewrap(command.workspace)), command)

    async def _started(self, plan: Plan, command: Command) -> LocalRunning:
        if sys.platform != "linux":
            raise NoWalls("Programs cannot be started on this system.", hint=diagnosis.NOT_LINUX)
        self._keeper = self._keeper or Keeper(self._host.bases, *self._user)
        self._running = {one for one in self._running if not one.over}
        running = await self._keeper.start(*plan, stdin=command.stdin, split=command.split)
        self._running.add(running)
        return running

    async def close(self) -> None:
        async with asyncio.TaskGroup() as group:
            for one in self._running:
                if not one.over:
                    group.create_task(one.stop(grace=0))
        self._running.clear()
        if self._keeper is not None:
            await self._keeper.close()
            self._keeper = None

    def _plan(self, walls: str, asked: Asked, bwrap: str) -> Plan:
        if walls == choice.BUBBLEWRAP:
            return plans.walled(asked, self._host, bwrap)
        if walls == choice.LANDLOCK:
            return plans.fenced(asked, self._host)
        return plans.contained(asked, self._host, docker.find(self._path), self._image)

    def _bubblewrap(self, workspace: str) -> str:
        if workspace not in self._programs:
            self._programs[workspace] = choice.bubblewrap_program(self._path, (workspace, os.getcwd()))
        return self._programs[workspace]

    async def _walls(self, someone: Someone, workspace: str) -> Walls:
        program = self._bubblewrap(workspace)
        known = self._known.get((someone.user, program))
        if known is None:
            known = self._known[someone.user, program] = await self._found(someone, program)
        return known

    async def _found(self, someone: Someone, program: str) -> Walls:
        if sys.platform != "linux":
            return Walls(name="", about="There is no sandbox on this system.", fix=diagnosis.NOT_LINUX)
        as_root = self._host.root and someone.user <= 0
        refused: list[Walls] = []

        async def prove(walls: str, program: str) -> str:
            return await self._tried(walls, program, someone)

        for name in self._order:
            if name == choice.BUBBLEWRAP:
                walls = await choice.bubblewrap(self._host, program, prove, as_root=as_root)
            elif name == choice.LANDLOCK:
                walls = await choice.fenced(self._host, prove, as_root=as_root)
            else:
                walls = await asyncio.to_thread(choice.contained, docker.find(self._path), self._image)
            if walls.name:
                return walls
            refused.append(walls)
        about = f"Nothing on this machine can hold a program: {'; '.join(one.about for one in refused)}."
        return Walls(name="", about=about, fix=" Or: ".join(dict.fromkeys(one.fix for one in refused)))

    async def _tried(self, walls: str, program: str, someone: Someone) -> str:
        """Run something that does nothing, once in the life of this process."""
        key = (walls, program, someone.user if someone.user >= 0 else self._user.user)
        if key not in _TRIALS:
            _TRIALS[key] = await self._trial(walls, program, someone)
        return _TRIALS[key]

    async def _trial(self, walls: str, program: str, someone: Someone) -> str:
        """Empty, or what it said when it failed."""
        limits = Limits(seconds=_TRIAL_SECONDS)
        command = Command(argv=("true",), workspace="/tmp", access=Access.NONE, limits=limits)  # noqa: S108
        try:
            running = await self._started(self._plan(walls, Asked(command, "/tmp", someone), program), command)  # noqa: S108
        except ToolError as error:
            return error.message
        said = b""
        while piece := await running.read():
            said += piece
        ended = await running.wait()
        return "" if ended.code == 0 else said.decode(errors="replace") or f"{ended.why} {ended.signal}"
