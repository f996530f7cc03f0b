"""Contents of files under their digests, in a folder that only this user can read."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock

from toolcrib.services.store import StoreError

DAYS = 30
BYTES = 512 * 1024 * 1024
LOOK_AFTER = 256  # copies between two looks for old ones, or
PART = 16  # this part of the bound in new bytes
SECONDS_DRAFT = 3600


class FileCopies:
    """One file for each content. What is used again counts as new."""

    def __init__(self, folder: Path, *, most: int = BYTES, days: float = DAYS) -> None:
        self._folder = folder
        self._most = most
        self._seconds = days * 86_400
        self._lock = Lock()
        self._count = 0
        self._bytes = 0

    def keep(self, data: bytes) -> str:
        name = sha256(data).hexdigest()
        path = self._path(name)
        try:
            try:
                os.utime(path)
            except FileNotFoundError:
                self._write(path, data)
        except OSError as error:
            why = error.strerror or str(error)
            raise StoreError(
                f"The earlier content could not be kept for an undo: {why}.", hint="Make room, or tell a person."
            ) from error
        return name

    def get(self, name: str) -> bytes | None:
        try:
            data = self._path(name).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == name else None

    def prune(self) -> None:
        """Remove what is too old, then the oldest until the rest fits. Drafts of a process that died go with age."""
        now, size = time.time(), 0
        for at, taken, path in sorted(self._files(), reverse=True):  # newest first
            size += taken
            draft = path.suffix == ".draft" and at < now - SECONDS_DRAFT
            if draft or at < now - self._seconds or size > self._most:
                with suppress(OSError):
                    path.unlink()

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _write(self, path: Path, data: bytes) -> None:
        draft = path.with_suffix(f".{token_hex(8)}.draft")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        try:
            fd = os.open(draft, flags, 0o600)
        except FileNotFoundError:
            for folder in (self._folder, path.parent):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(draft, flags, 0o600)
        try:
            with os.fdopen(fd, "wb", buffering=0) as file:
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
            draft.rename(path)
        except OSError:
            with suppress(OSError):
                draft.unlink()
            raise
        self._grown(len(data))

    def _grown(self, size: int) -> None:
        with self._lock:
            due = self._count % LOOK_AFTER == 0 or self._bytes + size > self._most // PART
            self._count += 1
            self._bytes = 0 if due else self._bytes + size
        if due:
            self.prune()

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        with suppress(OSError):
            for folder in os.scandir(self._folder):
                with suppress(OSError), os.scandir(folder) as entries:
                    for entry in entries:
                        told = entry.stat(follow_symlinks=False)
                        yield told.st_mtime, told.st_size, Path(entry.path)
