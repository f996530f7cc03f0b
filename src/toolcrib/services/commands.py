"""Programs that run for agents: what is started, inside which walls, and what comes back."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from toolcrib.core.errors import ToolError

MIB = 1 << 20


class NoWalls(ToolError):
    """Nothing here can hold a program, and the host is not opened by configuration. The message names the fix."""

    code = "no_sandbox"


class Access(StrEnum):
    """What a program sees of its workspace."""

    NONE = "none"
    READ = "ro"
    WRITE = "rw"


class Limits(Struct, frozen=True, kw_only=True):
    """What a program may use up. It and everything that it started end when its time is over."""

    seconds: float = 300
    memory: int = 512 * MIB
    cpus: float = 1
    processes: int = 128
    file: int = 256 * MIB  # the largest file that it can write


class Command(Struct, frozen=True, kw_only=True):
    """A program to be started. Its environment is exactly `env`."""

    argv: tuple[str, ...]
    workspace: str  # a folder of this machine; inside the walls it has the same path
    cwd: str = ""  # below the workspace; empty: the workspace
    env: Mapping[str, str] = {}
    access: Access = Access.WRITE
    network: bool = False
    limits: Limits = Limits()
    readable: tuple[str, ...] = ()  # more folders that are shown, read only
    hidden: tuple[str, ...] = ()  # paths below the workspace that are not shown
    key: str = ""  # programs of one key may share what outlives a program: a container, a folder for caches
    stdin: bool = False  # standard input stays open for `write`
    split: bool = False  # standard error comes by `read_error`, not between what `read` gives
    unsafe_host: bool = False  # no walls; only by explicit configuration


class Ended(Struct, frozen=True, kw_only=True):
    """How a program ended. `why`: exit, signal, timeout, memory, stopped."""

    why: str
    code: int | None = None  # its exit code, when it ended by itself
    signal: int = 0
    seconds: float = 0.0


class Running(Protocol):
    """A program that was started. Whoever reads must go on reading: a full pipe makes it wait."""

    @property
    def pid(self) -> int: ...

    async def read(self) -> bytes:
        """The next piece of standard output and error, in the order they came; empty: there is no more."""
        ...

    async def read_error(self) -> bytes:
        """The next piece of standard error of a program that was started with `split`; empty: there is no more."""
        ...

    async def write(self, data: bytes) -> None:
        """To standard input. Raises ToolError when it is closed."""
        ...

    async def close_input(self) -> None: ...

    async def wait(self) -> Ended:
        """How it ended. Its time limit is kept without anybody waiting."""
        ...

    async def stop(self, *, grace: float = 1.0) -> Ended:
        """Ask it to end, and after `grace` seconds end it and all that it started."""
        ...


class Walls(Struct, frozen=True, kw_only=True):
    """What holds programs here: bubblewrap, landlock, docker, host (none, by configuration), or nothing (`name` empty)."""

    name: str
    about: str  # one sentence for doctor and for errors
    lacks: tuple[str, ...] = ()  # limits that this machine cannot keep
    fix: str = ""  # what to do to get walls, or better ones


class Commands(Protocol):
    """Starts programs inside walls."""

    async def walls(self) -> Walls:
        """What would hold a program. Found out once."""
        ...

    async def start(self, command: Command) -> Running:
        """Start it. Raises NoWalls, never falls back to the host by itself."""
        ...

    async def close(self) -> None:
        """End every program that still runs."""
        ...
