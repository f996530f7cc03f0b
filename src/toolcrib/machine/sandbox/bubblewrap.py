"""The options of bubblewrap for a command: namespaces of everything, and an allow-listed root."""

import os
import stat
from collections.abc import Iterable

from toolcrib.machine.sandbox import places
from toolcrib.machine.sandbox.launch import ARGS, BLOCK, FILES, FILTER, STATUS
from toolcrib.services.commands import Access, Command

NOBODY = 65534
_WALLS = (
    "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
    "--new-session", "--cap-drop", "ALL", "--hostname", "toolcrib",
)  # fmt: skip
_SCRATCH = ("/dev/shm", "/tmp", "/var/tmp")  # noqa: S108 - inside, each program has its own
_MOST = 8_000  # bubblewrap takes 9,000 words


def options(
    command: Command, cwd: str, covers: places.Covers, *, filtered: bool, blocked: bool, mapped: bool
) -> list[str]:
    """In the order in which bubblewrap does them. What comes later lies over what came before."""
    words = [*_WALLS, "--json-status-fd", str(STATUS)]
    words += [] if command.network else ["--unshare-net"]
    words += ["--uid", str(NOBODY), "--gid", str(NOBODY)] if mapped else []
    words += ["--seccomp", str(FILTER)] if filtered else []
    words += ["--block-fd", str(BLOCK)] if blocked else []
    words += _root(command)
    words += _workspace(command, covers)
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", cwd, "--clearenv"]
    for name, value in command.env.items():
        words += ["--setenv", name, value]
    return words[:_MOST]


def copied(command: Command) -> list[str]:
    """Settings that are copied: a mount costs ten times as much."""
    files = (path for path in places.settings() if path not in places.folders() and path not in places.linked())
    return [path for path in files if command.network or path != "/etc/resolv.conf"]


def argv(program: str, words: Iterable[str]) -> list[str]:
    """What is executed; all but the command itself goes by a handle."""
    return [program, "--args", str(ARGS), "--", *words]


def _root(command: Command) -> list[str]:
    words: list[str] = []
    for path in places.system():
        words += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind", path, path]
    for number, path in enumerate(copied(command), FILES):
        words += ["--perms", "0444", "--file", str(number), path]
    for path in places.folders():
        words += ["--ro-bind", path, path] if path not in places.linked() else []
    for path, end in places.linked().items():
        words += ["--symlink", end, path]
    words += ["--proc", "/proc", "--dev", "/dev", "--dir", "/run", "--dir", "/var"]
    for path in _SCRATCH:
        words += ["--size", str(command.limits.memory), "--perms", "1777", "--tmpfs", path]
    for path in command.readable:
        words += ["--ro-bind-try", path, path]
    return words


def _workspace(command: Command, covers: places.Covers) -> list[str]:
    top = command.workspace
    if command.access is Access.NONE:
        return ["--size", str(command.limits.memory), "--tmpfs", top]
    words = ["--bind" if command.access is Access.WRITE else "--ro-bind", top, top]
    for path in covers.pinned:
        words += ["--bind", path, path]
    for path in (*covers.fixed, *(path for path, folder in covers.ghosts if not folder)):
        words += ["--ro-bind", path, path]
    for path in (path for path, folder in covers.ghosts if folder):
        words += ["--perms", "0555", "--tmpfs", path]
    for path in places.below(top, command.hidden):
        words += _hide(path)
    return words


def _hide(path: str) -> list[str]:
    """A folder looks empty, a file cannot be opened. Links are hidden at their end: bubblewrap follows them."""
    if stat.S_ISDIR(os.stat(path).st_mode):
        return ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
    return ["--ro-bind", "/dev/null", path]
