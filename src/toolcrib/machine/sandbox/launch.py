"""What the keeper is told to start. Plain values: it crosses to a process that has nothing of ours but this folder."""

import json
import os
from collections.abc import Sequence
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
    rules: Sequence[tuple[str, int]] = ()


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
    walled: bool = False  # bubblewrap stands round it; its options come by a handle of their own
    files: Sequence[str] = ()  # of this machine, that bubblewrap copies
    user: int = -1  # who it runs as, when that is not us
    group: int = -1
    private: bool = True  # takes every capability away, and new ones are never given
    filter: str = ""  # name of the seccomp program
    fence: Fence = Fence()
    counted: str = ""  # how processes are limited without a control group: inside, user, or not at all
    workspace: str = ""  # whose protected names are covered
    ghosts: Sequence[tuple[str, bool]] = ()  # protected names that do not exist, and whether to cover them as folders
    scratch: bool = False  # a temporary folder of its own stands for /tmp
    after: Sequence[str] = ()  # a program that clears up when it has ended


def packed(launch: Launch) -> int:
    """A handle to read it from."""
    return written(json.dumps(launch._asdict()).encode())


def options(words: Sequence[str]) -> int:
    """A handle for bubblewrap's options: no list of processes shows them, and there may be many."""
    return written("".join(f"{word}\0" for word in words).encode(errors="surrogateescape"))


def written(data: bytes) -> int:
    """A handle to a file that has no name, at its beginning."""
    handle = os.memfd_create("launch")
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def unpacked(handle: int) -> Launch:
    """What such a handle holds; it can be read more than once."""
    data: dict[str, Any] = json.loads(os.pread(handle, os.fstat(handle).st_size, 0))
    data["fence"] = Fence(*data["fence"])
    return Launch(**data)
