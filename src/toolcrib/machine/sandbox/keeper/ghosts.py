"""Covers for protected names that do not exist: empty things that are there while programs run, so nothing can be.

A cover is known by its date, the epoch, and by being read-only. Whoever runs in a workspace holds a shared lock on its
folder, and the last one takes the covers away. Those that a crash left behind are taken up by the next program.
"""

import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress

_EPOCH = (0, 0)
_MODES = {0o444, 0o555}


def is_ghost(facts: os.stat_result) -> bool:
    """Whether something is such a cover, and not a file of the workspace."""
    return facts.st_mtime_ns == 0 and facts.st_mode & 0o7777 in _MODES


class Ghosts:
    """The covers of one program."""

    def __init__(self) -> None:
        self._lock = -1

    def put(self, top: str, paths: Sequence[tuple[str, bool]]) -> None:
        """Cover names in a workspace. Raises OSError where that cannot be done."""
        self._lock = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        os.umask(0)
        made = ""
        for path, folder in paths:
            # Where we may not write, the program may not either.
            with suppress(FileExistsError, PermissionError):
                if folder:
                    os.mkdir(path, 0o555)
                    os.utime(path, _EPOCH, follow_symlinks=False)
                elif not made or not _linked(made, path):
                    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o444)
                    os.utime(handle, _EPOCH)
                    os.close(handle)
                    made = path

    def take_away(self, paths: Sequence[tuple[str, bool]]) -> None:
        """Take them away, unless others run in the workspace or somebody put something there."""
        if self._lock < 0:
            return
        with suppress(BlockingIOError):
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for path, folder in reversed(paths):
                with suppress(OSError):
                    if is_ghost(os.lstat(path)):
                        (os.rmdir if folder else _unlink_empty)(path)
        os.close(self._lock)


def _linked(made: str, path: str) -> bool:
    """Give the same cover one more name: a new file for each costs some disks much when many come and go."""
    try:
        os.link(made, path, follow_symlinks=False)
    except FileExistsError:
        return True
    except OSError:
        return False
    return True


def _unlink_empty(path: str) -> None:
    if not os.lstat(path).st_size:
        os.unlink(path)
