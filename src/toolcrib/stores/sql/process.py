"""Who holds a mark: which process of which machine, so that a dead one's marks are told from a living one's."""

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from uuid import uuid4

UNKNOWN = "?"
ENDED = "ended"  # its parent has not taken notice yet, but it runs no more


def new_owner() -> str:
    """A name for one open store of this process."""
    return f"{_place()}|{os.getpid()}|{_started(os.getpid())}|{uuid4().hex[:8]}"


def is_gone(owner: str, *, silent: bool) -> bool:
    """Whether the process behind a name has ended.

    Of a process on this machine we know it. Of another machine's we only know whether it has been silent for too long.
    """
    place, pid, started, *_ = [*owner.split("|"), "", "", ""]
    if place != _place() or not pid.isdecimal():
        return silent
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # it lives, under another user
    now = _started(int(pid))
    return UNKNOWN not in (started, now) and started != now  # the number was given to another process since


@cache
def _place() -> str:
    """This machine since it was booted, and what process numbers mean here: containers count their own."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts).replace("|", "_")


def _started(pid: int) -> str:
    """When a process started, in the machine's own ticks."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return UNKNOWN
    fields = stat.rpartition(")")[2].split()  # the name in brackets may hold spaces and brackets
    return ENDED if fields[0] in {"Z", "X"} else fields[19]
