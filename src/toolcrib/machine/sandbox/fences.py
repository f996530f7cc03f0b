"""The Landlock fence of a command, for machines without user namespaces; and a thin one round bubblewrap."""

import os

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.sandbox import places
from toolcrib.machine.sandbox.keeper import landlock
from toolcrib.machine.sandbox.launch import Fence
from toolcrib.services.commands import Access, Command

_SEEN = landlock.READ | landlock.LIST | landlock.EXECUTE
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Of /proc what is about the machine. What is about processes stays shut: theirs are not ours only.
_PROC = ("cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys/kernel", "sys/vm", "uptime", "version")
_MOST_ENTRIES = 4_096


def round_bubblewrap(*, network: bool) -> Fence:
    """Sockets and signals only: a fence round files would keep bubblewrap from mounting."""
    return Fence(network=0 if network else landlock.tcp(), scopes=landlock.scopes())


def whole(command: Command) -> Fence:
    """Everything that it may touch."""
    every = landlock.files()
    rules = [(path, _SEEN) for path in (*places.system(), *places.settings(), *command.readable)]
    rules += [(path, landlock.READ | landlock.WRITE | landlock.OF_FILES) for path in _DEVICES]
    rules += [(f"/proc/{name}", landlock.READ | landlock.LIST) for name in _PROC]
    rules.append(("/tmp", every))  # noqa: S108 - its place is taken by a folder of its own
    if command.access is not Access.NONE:
        writing = every if command.access is Access.WRITE else 0
        rules += _opened(command.workspace, places.below(command.workspace, command.hidden), writing)
    return Fence(every, 0 if command.network else landlock.tcp(), landlock.scopes(), rules)


def _opened(top: str, hidden: list[str], writing: int) -> list[tuple[str, int]]:
    """Rules for a workspace. A rule holds for all that lies below, so beside something hidden each entry gets its own."""
    if not hidden:
        return [(top, _SEEN | writing)]
    rules = [(top, writing & ~_SEEN)] if writing else []
    folders = [top]
    while folders:
        folder = folders.pop()
        rules.append((folder, landlock.LIST))
        for entry in os.scandir(folder):
            if entry.path in hidden or entry.is_symlink():
                continue
            if any(places.within(path, entry.path) for path in hidden):
                folders.append(entry.path)
            else:
                rules.append((entry.path, _SEEN))
            if len(rules) > _MOST_ENTRIES:
                raise ToolFailed(
                    "The workspace has too many entries beside what must stay hidden.",
                    code="too_many_entries",
                    hint="Install bubblewrap: it hides paths whatever lies beside them.",
                )
    return rules
