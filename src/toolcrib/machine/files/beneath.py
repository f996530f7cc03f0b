"""Opens what lies below a directory handle, and nothing else, whatever is renamed or linked meanwhile.

A path without links is one openat2 call. One with links, or a system without openat2, is walked part by part: each
part is opened relative to the handle of the one before and never through a link; a link's target is spliced into
the path that is still to go. `..` goes back to the handle that was come from, so no rename can lead it elsewhere.
"""

import errno
import os
import stat
from typing import Self

from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files import openat
from toolcrib.safety.paths import Barred, outside, refuse_protected

LINKS = 40
_HANDLE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALWAYS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Spot(Struct):
    """Where a file is or would be: the handle of its directory, its name there, its path without links."""

    directory: int
    name: str
    path: str


class Beneath:
    """Opens below one workspace. `roots` are its names, for links that are absolute and lead back into it."""

    def __init__(self, roots: tuple[str, ...], barred: Barred, *, kernel: bool | None = None) -> None:
        self.roots = roots
        self.barred = barred
        self._kernel = openat.available() if kernel is None else kernel

    def open(self, root: int, path: str, flags: int = os.O_RDONLY, *, asked: str = "") -> int:
        """Open an existing file or directory."""
        self.barred.refuse(path, asked or path)
        if self._kernel:
            try:
                return openat.open_plain(root, path, flags | _ALWAYS)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
        with _Walk(self, root, path, asked or path) as walk:
            return walk.open(flags | _ALWAYS)

    def open_plain(self, root: int, path: str, flags: int) -> int:
        """Open a path that a listing found. If a link has come in its way since, that raises ELOOP or ENOTDIR."""
        if self._kernel:
            return openat.open_plain(root, path, flags | _ALWAYS)
        with _Walk(self, root, path, path, links=0) as walk:
            return walk.open(flags | _ALWAYS)

    def spot(self, root: int, path: str, *, asked: str, made: list[str] | None = None) -> Spot:
        """Find where to write. With `made`, missing directories are created and noted there.

        The caller closes the spot's directory.
        """
        self.barred.refuse(path, asked)
        refuse_protected(path, asked)
        with _Walk(self, root, path, asked, made=made) as walk:
            spot = walk.spot()
        try:
            refuse_protected(spot.path, asked)
        except ToolFailed:
            os.close(spot.directory)
            raise
        return spot


class _Walk:
    """One walk. Its handles are closed when it ends."""

    def __init__(
        self,
        beneath: Beneath,
        root: int,
        path: str,
        asked: str,
        *,
        made: list[str] | None = None,
        links: int = LINKS,
    ) -> None:
        self._beneath = beneath
        self._root = root
        self._asked = asked
        self._made = made
        self._links = links
        self._todo = _parts(path)[::-1]
        self._names: list[str] = []
        self._handles: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            os.close(handle)

    def open(self, flags: int) -> int:
        """Open what the path leads to."""
        while (name := self._next()) is not None:
            try:
                return os.open(name, flags, dir_fd=self._here)
            except OSError as error:
                self._splice(name, error)
        return os.open(".", flags, dir_fd=self._here)

    def spot(self) -> Spot:
        """Find the directory and the name that the path leads to."""
        while (name := self._next()) is not None:
            try:
                linked = stat.S_ISLNK(os.stat(name, dir_fd=self._here, follow_symlinks=False).st_mode)
            except FileNotFoundError:
                linked = False
            if not linked:
                return Spot(os.dup(self._here), name, "/".join([*self._names, name]))
            self._splice(name, OSError(errno.ELOOP, os.strerror(errno.ELOOP)))
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))

    @property
    def _here(self) -> int:
        return self._handles[-1] if self._handles else self._root

    def _next(self) -> str | None:
        """Go down to the directory of the last part, and give that part. None: the path ends where it is."""
        while self._todo:
            name = self._todo.pop()
            if name == "..":
                self._up()
                continue
            self._beneath.barred.refuse("/".join([*self._names, name]), self._asked)
            if not self._todo:
                return name
            try:
                handle = self._down(name)
            except OSError as error:
                self._splice(name, error)
            else:
                self._handles.append(handle)
                self._names.append(name)
        return None

    def _down(self, name: str) -> int:
        try:
            return os.open(name, _HANDLE, dir_fd=self._here)
        except FileNotFoundError:
            if self._made is None:
                raise
        os.mkdir(name, dir_fd=self._here)
        self._made.append("/".join([*self._names, name]))
        return os.open(name, _HANDLE, dir_fd=self._here)

    def _up(self) -> None:
        if not self._handles:
            raise outside(self._asked)
        os.close(self._handles.pop())
        self._names.pop()

    def _splice(self, name: str, error: OSError) -> None:
        """Go on with a link's target in place of the link; raise the error if it was no link."""
        if error.errno not in {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}:
            raise error
        try:
            target = os.readlink(name, dir_fd=self._here)
        except OSError:
            raise error from None
        self._links -= 1
        if self._links < 0:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.startswith("/"):
            target = self._inside(target)
            while self._handles:
                self._up()
        self._todo += _parts(target)[::-1]

    def _inside(self, target: str) -> str:
        """An absolute target, relative to the workspace. It is compared as it stands, before any link in it."""
        for root in self._beneath.roots:
            if target == root or target.startswith(root.rstrip("/") + "/"):
                return target[len(root) :]
        raise outside(self._asked)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]
