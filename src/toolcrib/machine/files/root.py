"""One workspace on the local disk: reading, writing and removing files below it. Blocking; see workspace.py."""

import os
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files import faults
from toolcrib.machine.files.beneath import Beneath, Spot
from toolcrib.safety import paths
from toolcrib.safety.paths import Barred
from toolcrib.services.content.files import BYTES_OF_FILE, Edit, Noted, Rewritten, Stored, Written

_ROOT = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
# Changes of one file wait for each other; two files that share a lock by chance only wait a little longer.
_LOCKS = tuple(Lock() for _ in range(64))


class Root:
    """A workspace's root. It holds no handle between calls: a workspace that is replaced is seen at once."""

    def __init__(
        self, path: str, deny: Sequence[str] = (), *, kernel: bool | None = None, durable: bool = False
    ) -> None:
        self.path = os.path.abspath(path)  # noqa: PTH100 - keeps links, where Path.resolve does not
        roots = tuple(dict.fromkeys((self.path, str(Path(self.path).resolve()))))
        self.barred = Barred(deny, folds=sys.platform == "darwin")
        self.beneath = Beneath(roots, self.barred, kernel=kernel)
        self._durable = durable  # wait until the disk has it

    def relative(self, path: str) -> str:
        """The path cleaned and relative to the root. `..` behind a link that leads out of it is refused."""
        cleaned = paths.clean(path, self.beneath.roots)
        if "/.." in path:
            real = os.path.realpath(f"{self.path}/{path}" if not path.startswith("/") else path)
            if not any(real == root or real.startswith(f"{root.rstrip('/')}/") for root in self.beneath.roots):
                raise paths.outside(path)
        return cleaned

    @contextmanager
    def entered(self, asked: str) -> Generator[int]:
        """The root's handle. What the operating system says inside is told in words about `asked`."""
        root = self.enter()
        try:
            yield root
        except OSError as error:
            raise faults.told(error, asked) from None
        finally:
            os.close(root)

    def enter(self) -> int:
        """Open the root."""
        try:
            return os.open(self.path, _ROOT)
        except OSError as error:
            raise faults.missing(error) from None

    def read(self, path: str, limit: int = BYTES_OF_FILE) -> Stored:
        """A regular file's bytes."""
        relative = self.relative(path)
        root = self.enter()
        fd = -1
        try:
            fd = self.beneath.open(root, relative, os.O_RDONLY, asked=path)
            status = os.fstat(fd)
            self._check(status, path, limit)
            data = _drain(fd, status.st_size, limit)
        except OSError as error:
            raise faults.told(error, path) from None
        finally:
            if fd >= 0:
                os.close(fd)
            os.close(root)
        if len(data) > limit:
            raise faults.too_large(path, len(data), limit)
        return Stored(relative, data, stat.S_IMODE(status.st_mode), status.st_mtime_ns)

    def write(
        self, path: str, data: bytes, *, directories: bool = True, keep: bool = False, noted: Noted | None = None
    ) -> Written:
        """Put a whole file in place at once, or change nothing. `noted` is told before anything changes."""
        relative = self._named(path)
        made: list[str] = []
        with self.entered(path) as root:
            try:
                with self._spot(root, relative, path, made if directories else None) as spot, _lock(self, spot):
                    before = self._status(spot, path)
                    earlier = self._content(spot, path) if keep and before else None
                    if noted:
                        self._note(noted, spot, path, before, after=data, made=made)
                    mode = self._put(spot, data, before)
            except (OSError, ToolFailed):
                self._unmake(root, made)
                raise
        return Written(
            path=relative,
            size=len(data),
            created=before is None,
            mode=mode,
            before=earlier,
            directories=tuple(made),
        )

    def change(self, path: str, edit: Edit, noted: Noted | None = None) -> Written:
        """Read, edit and write back while no one else does."""
        relative = self._named(path)
        with self.entered(path) as root, self._spot(root, relative, path, None) as spot, _lock(self, spot):
            before = self._status(spot, path)
            if before is None:
                raise FileNotFoundError(2, "")
            earlier = self._content(spot, path)
            data = edit(earlier)
            now = self._status(spot, path)
            if now is None or (now.st_mtime_ns, now.st_size, now.st_ino) != (
                before.st_mtime_ns,
                before.st_size,
                before.st_ino,
            ):
                raise ToolFailed(
                    f"{paths.shown(path)} was changed by someone else meanwhile; nothing was written.",
                    code="changed_meanwhile",
                    hint="Read it again and repeat the edit.",
                    retryable=True,
                )
            if noted:
                self._note(noted, spot, path, before, after=data, earlier=earlier)
            mode = self._put(spot, data, before)
        return Written(path=relative, size=len(data), created=False, mode=mode, before=earlier)

    def remove(self, path: str, noted: Noted | None = None) -> Stored:
        """Remove a file, or with a final "/" an empty directory. What was there comes back."""
        relative = self._named(path)
        with self.entered(path) as root, self._spot(root, relative, path, None) as spot, _lock(self, spot):
            if path.endswith("/"):
                os.rmdir(spot.name, dir_fd=spot.directory)
                return Stored(relative, b"")
            before = self._status(spot, path)
            if before is None:
                raise FileNotFoundError(2, "")
            data = self._content(spot, path)
            if noted:
                self._note(noted, spot, path, before, after=None, earlier=data)
            os.unlink(spot.name, dir_fd=spot.directory)
            return Stored(relative, data, stat.S_IMODE(before.st_mode), before.st_mtime_ns)

    def permits(self, path: str, op: str) -> None:
        """Raise what reading, listing, writing, editing or removing would raise first; touch nothing."""
        relative = self.relative(path) if op in {"read", "list"} else self._named(path)
        with self.entered(path) as root:
            if op in {"read", "list"}:
                self._opens(root, relative, path, directory=op == "list")
                return
            try:
                with self._spot(root, relative, path, None) as spot:
                    emptied = op == "delete" and path.endswith("/")
                    there = emptied or self._status(spot, path) is not None
            except FileNotFoundError:
                there = False
            if not there and op != "write":
                raise FileNotFoundError(2, "")

    def _opens(self, root: int, relative: str, asked: str, *, directory: bool) -> None:
        fd = self.beneath.open(root, relative, os.O_RDONLY | (os.O_DIRECTORY if directory else 0), asked=asked)
        try:
            if not directory:
                self._check(os.fstat(fd), asked, BYTES_OF_FILE)
        finally:
            os.close(fd)

    def restore(
        self, path: str, data: bytes | None, fits: Callable[[bytes | None], None], *, mode: int, noted: Noted | None
    ) -> None:
        """Put back an earlier content, or remove the file; `fits` looks at what is there and may refuse."""
        relative = self._named(path)
        made: list[str] = []
        with self.entered(path) as root:
            try:
                with self._spot(root, relative, path, made) as spot, _lock(self, spot):
                    before = self._status(spot, path)
                    now = self._content(spot, path) if before else None
                    fits(now)
                    if noted:
                        self._note(noted, spot, path, before, after=data, earlier=now, made=made)
                    if data is not None:
                        self._put(spot, data, before, mode)
                    elif before:
                        os.unlink(spot.name, dir_fd=spot.directory)
            except (OSError, ToolFailed):
                self._unmake(root, made)
                raise

    def tidy(self, directories: Sequence[str]) -> None:
        """Remove directories that a call made, those that are empty."""
        with self.entered(".") as root:
            self._unmake(root, directories)

    def _note(
        self,
        noted: Noted,
        spot: Spot,
        asked: str,
        before: os.stat_result | None,
        *,
        after: bytes | None,
        earlier: bytes | None = None,
        made: Sequence[str] = (),
    ) -> None:
        """Say what is about to change. A file beyond what is kept is noted without its content."""
        if before and earlier is None and before.st_size <= BYTES_OF_FILE:
            earlier = self._content(spot, asked)
        noted(
            Rewritten(
                path=spot.path,
                existed=before is not None,
                before=earlier,
                mode=stat.S_IMODE(before.st_mode) if before else 0,
                size=before.st_size if before else 0,
                after=after,
                directories=tuple(made),
            )
        )

    def _named(self, path: str) -> str:
        relative = self.relative(path)
        if relative == ".":
            raise faults.told(IsADirectoryError(21, ""), path)
        return relative

    @contextmanager
    def _spot(self, root: int, relative: str, asked: str, made: list[str] | None) -> Generator[Spot]:
        spot = self.beneath.spot(root, relative, asked=asked, made=made)
        try:
            yield spot
        finally:
            os.close(spot.directory)

    @staticmethod
    def _check(status: os.stat_result, asked: str, limit: int) -> None:
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, "")
        if not stat.S_ISREG(status.st_mode):
            raise faults.irregular(asked)
        if status.st_nlink > 1:
            raise faults.linked(asked)
        if status.st_size > limit:
            raise faults.too_large(asked, status.st_size, limit)

    def _status(self, spot: Spot, asked: str) -> os.stat_result | None:
        """The regular, writable file that is there; None if there is nothing."""
        try:
            status = os.stat(spot.name, dir_fd=spot.directory, follow_symlinks=False)
        except FileNotFoundError:
            return None
        self._check(status, asked, sys.maxsize)
        # A rename would replace a read-only file all the same; who made it read-only meant something.
        if not os.access(spot.name, os.W_OK, dir_fd=spot.directory):
            raise PermissionError(13, "")
        return status

    def _content(self, spot: Spot, asked: str) -> bytes:
        fd = os.open(spot.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=spot.directory)
        try:
            status = os.fstat(fd)
            self._check(status, asked, BYTES_OF_FILE)
            return _drain(fd, status.st_size, BYTES_OF_FILE)
        finally:
            os.close(fd)

    def _put(self, spot: Spot, data: bytes, before: os.stat_result | None, again: int | None = None) -> int:
        """Write beside the file and rename over it. The file is the old one or the new one, never half of each."""
        beside = f".toolcrib-{token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(beside, flags, 0o666 if before is None else 0o600, dir_fd=spot.directory)
        try:
            try:
                _pour(fd, data)
                mode = self._keep_owner(fd, before)
                if before is None and again is not None:
                    os.fchmod(fd, again & 0o777)
                if self._durable:
                    os.fsync(fd)
            finally:
                os.close(fd)
            os.rename(beside, spot.name, src_dir_fd=spot.directory, dst_dir_fd=spot.directory)
        except OSError:
            os.unlink(beside, dir_fd=spot.directory)
            raise
        return mode

    @staticmethod
    def _keep_owner(fd: int, before: os.stat_result | None) -> int:
        status = os.fstat(fd)
        if before is None:
            return stat.S_IMODE(status.st_mode)
        if (before.st_uid, before.st_gid) != (status.st_uid, status.st_gid):
            with suppress(PermissionError):  # only root may give a file away
                os.fchown(fd, before.st_uid, before.st_gid)
        mode = stat.S_IMODE(before.st_mode) & 0o777
        os.fchmod(fd, mode)
        return mode

    def _unmake(self, root: int, made: Sequence[str]) -> None:
        """Take back the directories of a write that failed."""
        for path in reversed(made):
            with suppress(OSError, ToolFailed), self._spot(root, path, path, None) as spot:
                os.rmdir(spot.name, dir_fd=spot.directory)


def _lock(root: Root, spot: Spot) -> Lock:
    return _LOCKS[hash((root.path, spot.path)) % len(_LOCKS)]


def _drain(fd: int, size: int, limit: int) -> bytes:
    data = os.read(fd, size + 1)
    if len(data) == size and size:
        return data
    parts = [data]
    total = len(data)
    while total <= limit and (data := os.read(fd, min(1 << 20, limit + 1 - total))):
        parts.append(data)
        total += len(data)
    return b"".join(parts)


def _pour(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
