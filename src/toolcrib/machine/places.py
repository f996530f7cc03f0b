"""The folders and programs of this machine: the port of services/places.py."""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files import faults
from toolcrib.services.places import Place

MOST_ARGVS = 50
MOST_HASHED = 128 * 1024 * 1024
REMEMBERED = 1000


class LocalPlaces:
    """Where callers work. `place` gives a caller's workspace, and what is denied there."""

    def __init__(self, place: Callable[[Caller], tuple[str, Sequence[str]]]) -> None:
        self._place = place
        self._digests: dict[tuple[int, ...], str] = {}

    def of(self, caller: Caller) -> Place:
        """The place of a caller."""
        path, denied = self._place(caller)
        return Place(os.path.realpath(path), tuple(denied))

    def folder(self, place: Place, cwd: str) -> str:
        """A folder of the workspace. The walls hold a command that leaves it later; this is for a clear answer."""
        if "\0" in cwd:
            raise ToolFailed("The folder's name holds a NUL.", code="bad_path")
        if not Path(place.workspace).is_dir():
            raise faults.missing()
        found = os.path.realpath(Path(place.workspace) / cwd)
        if found != place.workspace and not found.startswith(place.workspace.rstrip("/") + "/"):
            what = f"{cwd[:200]!r} is outside the workspace."
            raise ToolFailed(what, code="path_outside_workspace", hint="Give a folder relative to the workspace.")
        relative = found[len(place.workspace) :].strip("/")
        shut = any(relative == one or relative.startswith(one + "/") for one in place.hidden)
        if shut or not Path(found).is_dir():
            raise ToolFailed(f"There is no folder {cwd[:200]!r}.", code="not_found", hint="list_directory shows them.")
        return found

    def identities(self, argvs: Sequence[Sequence[str]], folder: str, path: str) -> Mapping[str, str]:
        """What command lines would run."""
        found: dict[str, str] = {}
        for argv in argvs[:MOST_ARGVS]:
            for number, word in enumerate(argv):
                name = f"program {word}" if not number else f"file {word}"
                place = _program(word, folder, path) if not number else str(Path(folder) / word)
                if place and name not in found and (told := self._told(place)):
                    found[name[:200]] = told
        return found

    def _told(self, place: str) -> str:
        """A file's identity; nothing when there is no such file."""
        with suppress(OSError, ValueError):
            real = os.path.realpath(place)
            about = Path(real).stat()
            if not stat.S_ISREG(about.st_mode):
                return ""
            if not os.access(real, os.W_OK):
                return real
            return f"{real} {self._digest(real, about)}"
        return ""

    def _digest(self, real: str, about: os.stat_result) -> str:
        key = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        if about.st_size > MOST_HASHED:
            return "size {2:,}, changed {3}".format(*key)
        known = self._digests.get(key)
        if known is None:
            if len(self._digests) >= REMEMBERED:
                self._digests.clear()
            with Path(real).open("rb") as file:
                known = self._digests[key] = f"sha256 {file_digest(file, 'sha256').hexdigest()[:32]}"
        return known


def _program(word: str, folder: str, path: str) -> str:
    """The file that a command's name stands for; nothing for what is built into the shell or not there."""
    if "/" in word:
        return str(Path(folder) / word)
    for directory in path.split(":"):
        place = str(Path(directory) / word) if directory.startswith("/") else ""
        if place and os.access(place, os.X_OK) and Path(place).is_file():
            return place
    return ""
