"""Whole results as files that only this user of the machine can read."""

import asyncio
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock

import msgspec

from toolcrib.core.call import Attachment, Caller
from toolcrib.services.content.results import BYTES_KEPT, SECONDS_KEPT, Kept, no_result
from toolcrib.services.store import StoreError

LOOKS, SPARE = 60.0, 0.1  # seconds between two looks at all of them; the share that is let go of beyond what has to be
_ENDING = ".result"
_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Kept).decode


class FileResults:
    """One file for each result. Its name follows from the agent, the session and the call, so nobody else finds it."""

    def __init__(self, folder: Path, *, most: int = BYTES_KEPT, seconds: float = SECONDS_KEPT) -> None:
        self._folder = folder
        self._most = most
        self._seconds = seconds
        self._size = 0  # of all that is kept, about: what was there at the last look, and what was written since
        self._looked = -LOOKS
        self._lock = Lock()

    async def keep(self, call: str, caller: Caller, text: str, attachments: Sequence[Attachment] = ()) -> None:
        made = Kept(
            agent=caller.agent,
            session=caller.session,
            at=time.time(),
            text=_whole(text),
            attachments=tuple(attachments),
        )
        await asyncio.to_thread(self._write, self._path(call, caller), made)

    async def read(self, call: str, caller: Caller) -> Kept:
        found = await asyncio.to_thread(self._read, self._path(call, caller))
        if found is None or not found.belongs_to(caller) or found.at < time.time() - self._seconds:
            raise no_result(call)
        return found

    def _path(self, call: str, caller: Caller) -> Path:
        whose = msgspec.json.encode((caller.agent, caller.session, call))
        return self._folder / (sha256(whose).hexdigest() + _ENDING)

    def _read(self, path: Path) -> Kept | None:
        try:
            return _decode(path.read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None

    def _write(self, path: Path, kept: Kept) -> None:
        draft = path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}.draft")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
                size = file.write(_encode(kept))
            draft.replace(path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink()
            raise StoreError(f"The whole result could not be kept: {error.strerror or error}.") from error
        with self._lock:
            self._size += size
            if self._size > self._most or time.monotonic() - self._looked >= min(LOOKS, self._seconds):
                self._prune()

    def _prune(self) -> None:
        """Remove what is too old, then the oldest until the rest fits. Drafts of a process that died go with age.

        Looking at all files for each one that is written would take longer the more there are. So it is done once in a
        while, and where there are too many, some more than has to be goes at once.
        """
        oldest = time.time() - self._seconds
        files = sorted(self._files(), reverse=True)  # newest first
        fits = sum(taken for _, taken, _ in files) <= self._most
        bound = self._most if fits else self._most * (1 - SPARE)
        size = 0
        for number, (at, taken, path) in enumerate(files):
            if at < oldest or (size + taken > bound and number):
                with suppress(OSError):
                    path.unlink()
            else:
                size += taken
        self._size, self._looked = size, time.monotonic()

    def _files(self) -> list[tuple[float, int, Path]]:
        found: list[tuple[float, int, Path]] = []
        for entry in os.scandir(self._folder):
            with suppress(OSError):
                told = entry.stat(follow_symlinks=False)
                found.append((told.st_mtime, told.st_size, Path(entry.path)))
        return found


def _whole(text: str) -> str:
    """Text that can be written: half of a surrogate pair cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
