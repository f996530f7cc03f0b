"""What the keeper is told to start. Plain values: it crosses to a process that has nothing of ours but this folder."""

import json
import os
from typing import Any, NamedTuple

ARGS, FILTER, STATUS, BLOCK, FILES = (
    3,
    4,
    5,
    6,
    7,
)  # handles that bubblewrap gets, by number; FILES is the first of many


class Fence(NamedTuple):
    """A Landlock domain: what it governs, and the places that stay open."""

    files: int = 0  # rights over files that are taken away where no rule gives them
    network: int = 0
    scopes: int = 0
    rules: list[tuple[str, int]] = []


class Launch(NamedTuple):
    """One program with its walls and limits."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    seconds: float
    processes: int
    memory: int
    cpus: float
    limits: list[tuple[int, int]]  # resource number, value
    options: list[str] = []  # of bubblewrap; they go by a handle, so that no list of processes shows them
    files: list[str] = []  # of this machine, that bubblewrap copies
    user: int = -1  # who it runs as, when that is not us
    group: int = -1
    private: bool = True  # takes every capability away, and new ones are never given
    filter: str = ""  # name of the seccomp program
    fence: Fence = Fence()
    counted: str = ""  # how processes are limited without a control group: inside, user, or not at all
    workspace: str = ""  # whose protected names are covered
    ghosts: list[tuple[str, bool]] = []  # protected names that do not exist, and whether to cover them as folders
    scratch: bool = False  # a temporary folder of its own stands for /tmp
    after: list[str] = []  # a program that clears up when it has ended

    @property
    def walled(self) -> bool:
        """Whether bubblewrap stands round it."""
        return bool(self.options)


def packed(launch: Launch) -> int:
    """A handle to read it from."""
    handle = os.memfd_create("launch")
    with open(os.dup(handle), "wb") as file:  # noqa: PTH123 - a handle, not a path
        file.write(json.dumps(launch._asdict()).encode())
    return handle


def unpacked(handle: int) -> Launch:
    """What such a handle holds; it can be read more than once."""
    data: dict[str, Any] = json.loads(os.pread(handle, os.fstat(handle).st_size, 0))
    data["fence"] = Fence(*data["fence"])
    return Launch(**data)
