"""Which walls this machine has. Each is tried once in a process, with a program that does nothing."""

import os
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct

from toolcrib.machine.sandbox import diagnosis, docker, places
from toolcrib.machine.sandbox.keeper import groups, landlock, seccomp
from toolcrib.services.commands import Walls

BUBBLEWRAP, LANDLOCK, DOCKER, HOST = "bubblewrap", "landlock", "docker", "host"
ORDER = (BUBBLEWRAP, LANDLOCK, DOCKER)
_COUNTED_INSIDE = (5, 14)  # since then the kernel counts processes in each user namespace apart

Prove = Callable[[str, str], Awaitable[str]]  # walls and program: empty, or why they do not stand


class Host(Struct, frozen=True, kw_only=True):
    """What was found out about this machine."""

    bases: groups.Bases
    root: bool
    filtered: bool  # there is a seccomp program for this machine
    counts_inside: bool
    landlock: int

    def holds(self, controller: str) -> bool:
        """Whether a control group bounds what a program and all that it starts use together."""
        return controller in self.bases or "unified" in self.bases

    def lacks(self, name: str, *, as_root: bool) -> tuple[str, ...]:
        """Limits that certain walls cannot keep here."""
        if name == DOCKER:
            return ()
        counted = self.holds("pids") or (not as_root and (name == LANDLOCK or self.counts_inside))
        own = {
            "the number of processes": counted,
            "memory of all its processes together": self.holds("memory"),
            "the filter of system calls": self.filtered or name == HOST,
            "signals to other programs": name == BUBBLEWRAP or self.landlock >= 6,
            "protected files of the workspace": name == BUBBLEWRAP,
            "the size of /tmp": name == BUBBLEWRAP,
        }
        return tuple(limit for limit, held in own.items() if not held)


def host(*, root: bool) -> Host:
    """This machine for those who are root, or are not; looked at once."""
    return _looked_at(root=root, linux=sys.platform == "linux")


@cache
def _looked_at(*, root: bool, linux: bool) -> Host:
    ourselves = root == (os.geteuid() == 0)
    return Host(
        bases=_bases() if linux and ourselves else {},
        root=root,
        filtered=bool(linux and seccomp.program("closed")),
        counts_inside=linux and _kernel() >= _COUNTED_INSIDE,
        landlock=landlock.version() if linux else 0,
    )


def _kernel() -> tuple[int, int]:
    major, minor, *_ = platform.release().split(".")
    return int(major), int("".join(filter(str.isdigit, minor)) or 0)


def _bases() -> groups.Bases:
    """Where a group can really be made."""
    try:
        own, mounts = Path("/proc/self/cgroup").read_text(), Path("/proc/self/mountinfo").read_text()
    except OSError:
        return {}
    bases = groups.find(own, mounts)
    groups.sweep(bases)
    tried = groups.Group(bases, groups.name())
    made = tuple(tried.folders)
    tried.end()
    return {controller: base for controller, base in bases.items() if controller in made}


def bubblewrap_program(path: str | None, never: Iterable[str]) -> str:
    """The first bwrap on PATH that is not in a folder where programs of agents could have put it."""
    shut = [os.path.realpath(folder) for folder in never]
    for folder in (path if path is not None else os.environ.get("PATH", places.DEFAULT_PATH)).split(os.pathsep):
        if not os.path.isabs(folder) or any(places.within(os.path.realpath(folder), top) for top in shut):
            continue
        found = shutil.which("bwrap", path=folder)
        if found and not any(places.within(os.path.realpath(found), top) for top in shut):
            return os.path.realpath(found)
    return ""


async def bubblewrap(facts: Host, program: str, prove: Prove, *, as_root: bool) -> Walls:
    """Namespaces by bubblewrap, and a filter of system calls."""
    if not program:
        return Walls(name="", about="bubblewrap is not installed", fix=diagnosis.INSTALL)
    trouble = await prove(BUBBLEWRAP, program)
    if trouble:
        about = f"bubblewrap is installed and cannot be used ({diagnosis.short(trouble)})"
        return Walls(name="", about=about, fix=diagnosis.fix())
    lacks = facts.lacks(BUBBLEWRAP, as_root=as_root)
    return Walls(name=BUBBLEWRAP, about="bubblewrap and seccomp hold programs", lacks=lacks, fix=_better(lacks))


async def fenced(facts: Host, prove: Prove, *, as_root: bool) -> Walls:
    """Landlock and a filter that leaves no sockets."""
    if not facts.landlock or not facts.filtered:
        return Walls(name="", about="this kernel has no Landlock", fix="Use Linux 5.13 or newer with Landlock on.")
    trouble = await prove(LANDLOCK, "")
    if trouble:
        return Walls(name="", about=f"Landlock is there and cannot be used: {trouble}", fix=diagnosis.INSTALL)
    lacks = facts.lacks(LANDLOCK, as_root=as_root)
    return Walls(name=LANDLOCK, about="Landlock and seccomp hold programs", lacks=lacks, fix=diagnosis.INSTALL)


def contained(program: str, image: str) -> Walls:
    """Docker, when there is an image to use."""
    if not image:
        return Walls(name="", about="Docker is not configured", fix="Name an image for the sandbox in toolcrib.yaml.")
    trouble = docker.trouble(program)
    if trouble:
        return Walls(name="", about=trouble, fix="Start the Docker daemon, and let this user speak to it.")
    return Walls(name=DOCKER, about=f"Docker holds programs, in the image {image}")


def _better(lacks: tuple[str, ...]) -> str:
    return "Run under systemd with Delegate=yes, so that control groups can be made." if lacks else ""
