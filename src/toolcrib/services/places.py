"""Where commands run: the folder of a caller, what of it is hidden, and which files a command line names."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Caller

IN_WALLS = "walls"  # where commands run, as a rule that is kept says it


class Place(Struct, frozen=True):
    """A caller's workspace on this machine, with every link resolved."""

    workspace: str
    hidden: tuple[str, ...] = ()  # paths below it that the caller's agent neither sees nor opens


class Places(Protocol):
    """Knows this machine's folders and programs."""

    def of(self, caller: Caller) -> Place:
        """The place of a caller. Raises `workspace_missing`."""
        ...

    def folder(self, place: Place, cwd: str) -> str:
        """A folder of the workspace, absolute and with its links resolved. Raises a ToolFailed if it is none."""
        ...

    def identities(self, argvs: Sequence[Sequence[str]], folder: str, path: str) -> Mapping[str, str]:
        """What these command lines would run: each program, and each script that a program is given.

        A file that we could change ourselves is told by its content, any other by where it lies.
        """
        ...


class Environment(Protocol):
    """The variables that a command sees."""

    def __call__(self, *, host: bool, workspace: str) -> Mapping[str, str]: ...
