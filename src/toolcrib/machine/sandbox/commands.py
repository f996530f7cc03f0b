"""Programs on this machine, inside the best walls that it has."""

import asyncio
import math
import os
import resource
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.machine.sandbox import bubblewrap, choice, diagnosis, docker, fences, places
from toolcrib.machine.sandbox.keeping import Keeper
from toolcrib.machine.sandbox.launch import Fence, Launch
from toolcrib.machine.sandbox.running import LocalRunning
from toolcrib.services.commands import Access, Command, Ended, Limits, NoWalls, Walls

_OPEN_FILES = 4_096
_ADDRESSES = 8  # address space for each byte of memory: runtimes reserve much and use little
_TRIAL_SECONDS = 10.0
_TRIALS: dict[tuple[str, str, int], str] = {}  # walls, program, user: empty, or why they do not stand


class Someone(NamedTuple):
    """Who programs run as, when that is not us."""

    user: int = -1
    group: int = -1


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
        user: Someone = Someone(),
    ) -> None:
        self._host = choice.host(root=os.geteuid() == 0 and user.user <= 0)
        self._user = user
        self._image = docker_image
        self._unsafe_host = unsafe_host
        self._order = tuple(order)
        self._path = path
        self._keeper: Keeper | None = None
        self._programs: dict[str, str] = {}
        self._known: dict[tuple[int, str], Walls] = {}
        self._running: set[LocalRunning] = set()

    async def walls(self) -> Walls:
        if self._unsafe_host:
            lacks = ("every wall", *self._host.lacks(choice.HOST, as_root=self._host.root))
            return Walls(name=choice.HOST, about="programs run on this machine without walls, by configuration", lacks=lacks)
        return await self._walls(Someone(), os.getcwd())

    async def start(self, command: Command) -> LocalRunning:
        facts = places.workspace(command.workspace)
        cwd = places.beginning(command.workspace, command.cwd)
        _check_words(command)
        someone = Someone(facts.st_uid, facts.st_gid) if self._host.root and facts.st_uid != 0 else Someone()
        if command.unsafe_host:
            launch = self._plain(command, cwd, someone)
        else:
            walls = await self._walls(someone, command.workspace)
            if not walls.name:
                raise NoWalls(walls.about, hint=walls.fix)
            launch = self._launch(walls.name, command, cwd, someone, self._bubblewrap(command.workspace))
        return await self._started(launch, command)

    async def _started(self, launch: Launch, command: Command) -> LocalRunning:
        self._running = {one for one in self._running if not one.over}
        running = await self._kept().start(launch, stdin=command.stdin, split=command.split)
        self._running.add(running)
        return running

    def _kept(self) -> Keeper:
        if self._keeper is None:
            if choice.sys.platform != "linux":
                raise NoWalls("Programs cannot be started on this system.", hint=diagnosis.NOT_LINUX)
            self._keeper = Keeper(self._host.bases, *self._user)
        return self._keeper

    async def close(self) -> None:
        async with asyncio.TaskGroup() as group:
            for one in self._running:
                if not one.over:
                    group.create_task(_stopped(one))
        self._running.clear()
        if self._keeper is not None:
            await self._keeper.close()
            self._keeper = None

    # What holds it

    async def _walls(self, someone: Someone, workspace: str) -> Walls:
        program = self._bubblewrap(workspace)
        known = self._known.get((someone.user, program))
        if known is None:
            known = self._known[someone.user, program] = await self._found(someone, program)
        return known

    def _bubblewrap(self, workspace: str) -> str:
        if workspace not in self._programs:
            self._programs[workspace] = choice.bubblewrap_program(self._path, (workspace, os.getcwd()))
        return self._programs[workspace]

    async def _found(self, someone: Someone, program: str) -> Walls:
        if choice.sys.platform != "linux":
            return Walls(name="", about="There is no sandbox on this system.", fix=diagnosis.NOT_LINUX)
        as_root = self._host.root and someone.user <= 0
        fixes: list[str] = []
        abouts: list[str] = []

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
            abouts.append(walls.about)
            fixes.append(walls.fix)
        return Walls(
            name="",
            about=f"Nothing on this machine can hold a program: {'; '.join(abouts)}.",
            fix=" Or: ".join(fixes),
        )

    async def _tried(self, walls: str, program: str, someone: Someone) -> str:
        """Run something that does nothing, once in the life of this process."""
        key = (walls, program, someone.user if someone.user >= 0 else self._user.user)
        if key not in _TRIALS:
            trial = Command(argv=("true",), workspace="/tmp", access=Access.NONE, limits=Limits(seconds=_TRIAL_SECONDS))  # noqa: S108
            try:
                launch = self._launch(walls, trial, "/tmp", someone, program)  # noqa: S108
                running = await self._started(launch, trial)
            except ToolError as error:
                _TRIALS[key] = error.message
            else:
                said = b""
                while piece := await running.read():
                    said += piece
                ended = await running.wait()
                _TRIALS[key] = "" if ended.code == 0 else said.decode(errors="replace") or f"{ended.why} {ended.signal}"
        return _TRIALS[key]

    # What is started

    def _launch(self, walls: str, command: Command, cwd: str, someone: Someone, bwrap: str) -> Launch:
        if walls == choice.BUBBLEWRAP:
            return self._walled(command, cwd, someone, bwrap)
        return (self._fenced if walls == choice.LANDLOCK else self._contained)(command, cwd, someone)

    def _walled(self, command: Command, cwd: str, someone: Someone, bwrap: str) -> Launch:
        facts = self._host
        covers = _covers(command)
        seen = _seen(command)
        program = places.program(command.argv[0], dict(command.env), seen, cwd)
        inside = facts.counts_inside and not facts.holds("pids") and not (facts.root and someone.user <= 0)
        fence = fences.round_bubblewrap(network=command.network)
        options = bubblewrap.options(
            command,
            cwd,
            covers,
            filtered=facts.filtered,
            blocked=inside,
            mapped=facts.root and someone.user <= 0,
        )
        return self._base(command, cwd, someone)._replace(
            argv=bubblewrap.argv(bwrap, (program, *command.argv[1:])),
            options=options,
            files=bubblewrap.copied(command),
            filter=("inside" if not command.network or fence.scopes else "inet") if facts.filtered else "",
            fence=fence,
            counted="inside" if inside else "",
            ghosts=list(covers.ghosts),
        )

    def _fenced(self, command: Command, cwd: str, someone: Someone) -> Launch:
        program = places.program(command.argv[0], dict(command.env), _seen(command), cwd)
        return self._base(command, cwd, someone)._replace(
            argv=[program, *command.argv[1:]],
            filter="inet" if command.network else "closed",
            fence=fences.whole(command),
            scratch=True,
        )

    def _contained(self, command: Command, cwd: str, someone: Someone) -> Launch:
        name = f"toolcrib-{uuid.uuid4().hex[:16]}"
        user = someone if someone.user >= 0 else Someone(os.getuid(), os.getgid())
        client = docker.find(self._path)
        covers = _covers(command)
        words = docker.argv(
            client, self._image, command, cwd, covers, name=name, user=f"{user.user}:{user.group}"
        )
        return self._base(command, "/", Someone())._replace(
            argv=words,
            env={**command.env, **docker.client_env()},
            limits=[],
            counted="",
            private=False,
            ghosts=list(covers.ghosts),
            after=docker.ending(client, name),
        )

    def _plain(self, command: Command, cwd: str, someone: Someone) -> Launch:
        """No walls. Time, what it may use up, and that nothing outlives it, hold all the same."""
        program = places.program(command.argv[0], dict(command.env), ("/",), cwd)
        return self._base(command, cwd, Someone())._replace(
            argv=[program, *command.argv[1:]], private=False, fence=Fence(), filter=""
        )


    def _base(self, command: Command, cwd: str, someone: Someone) -> Launch:
        limits = command.limits
        return Launch(
            argv=[],
            env=dict(command.env),
            cwd=cwd,
            workspace=command.workspace,
            seconds=limits.seconds if math.isfinite(limits.seconds) else 1e9,
            processes=limits.processes,
            memory=limits.memory,
            cpus=limits.cpus,
            limits=_limits(limits, together=self._host.holds("memory")),
            user=someone.user,
            group=someone.group,
            counted="user",
        )


def _limits(limits: Limits, *, together: bool) -> list[tuple[int, int]]:
    """What each single process may use, where no control group bounds them together."""
    out = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, limits.file),
        (resource.RLIMIT_CPU, int(min(limits.seconds * max(limits.cpus, 1), 1e9)) + 1),
    ]
    if not together:
        out += [(resource.RLIMIT_DATA, limits.memory), (resource.RLIMIT_AS, limits.memory * _ADDRESSES)]
    return out


def _check_words(command: Command) -> None:
    words = (*command.argv, *command.env, *command.env.values())
    if not command.argv or not command.argv[0]:
        raise ToolFailed("There is no program to start.", code="no_program")
    if any("\0" in word for word in words) or any(not name or "=" in name for name in command.env):
        raise ToolFailed(
            "A word of the command, or a name in its environment, cannot be given to a program.",
            code="bad_command",
            hint="Leave out NUL characters, and = in names of the environment.",
        )


def _covers(command: Command) -> places.Covers:
    return places.covers(command.workspace) if command.access is Access.WRITE else places.Covers()


def _seen(command: Command) -> tuple[str, ...]:
    own = () if command.access is Access.NONE else (command.workspace,)
    return (*places.system(), *command.readable, *own)


async def _stopped(one: LocalRunning) -> Ended:
    return await one.stop(grace=0)
