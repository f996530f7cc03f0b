"""What calls do to files, noted before it is done, and put back when a person wants it.

A file's state is its digest and mode; its content is kept under that digest. As the state after is known before the
rename, what is found later tells whether the call came to its write.
"""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import Protocol

import msgspec
from msgspec import Struct

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files.root import Root
from toolcrib.safety.paths import shown
from toolcrib.services.content.files import BYTES_OF_FILE, Noted, Rewritten
from toolcrib.services.undo.notes import NOTES, Change, Copies, Entry, Notes, changed_since


class _State(Struct, omit_defaults=True):
    """A file at one moment. An empty digest: its content was too large to keep."""

    sha: str
    size: int = 0
    mode: int = 0o644
    made: tuple[str, ...] = ()  # directories that were made for it


_state = msgspec.json.Decoder(_State).decode


class Noting:
    """Notes what is done to files in the notes of the running call."""

    def __init__(self, copies: Copies) -> None:
        self._copies = copies

    def noted(self, root: str) -> Noted | None:
        """Whom to tell of changes below a root; None when no call takes notes."""
        notes = NOTES.get()
        return None if notes is None else lambda change: self._note(notes, root, change)

    def _note(self, notes: Notes, root: str, change: Rewritten) -> None:
        before = None
        if change.existed:
            sha = "" if change.before is None else self._copies.keep(change.before)
            before = _State(sha, change.size, change.mode)
        after = None
        if change.after is not None:
            after = _State(sha256(change.after).hexdigest(), len(change.after), made=change.directories)
        notes.noting(
            Change(kind="file", place=change.path, before=_json(before), after=_json(after), root=root),
        )


class _Rooted(Protocol):
    """A workspace with its root."""

    @property
    def root(self) -> Root: ...


class FileRestorer:
    """Puts files back as they were, bytes and mode."""

    def __init__(self, copies: Copies, of: Callable[[Caller], _Rooted], noting: Noting) -> None:
        self._copies = copies
        self._of = of
        self._noting = noting

    async def look(self, entry: Entry) -> str:
        return await asyncio.to_thread(self._look, entry)

    async def restore(self, entry: Entry, *, force: bool) -> str:
        return await asyncio.to_thread(self._restore, entry, force=force)

    def _look(self, entry: Entry) -> str:
        root = self._of(entry.caller).root
        stands = _stands(entry, _content(root, entry.place))
        if stands != "before":
            self._earlier(entry)
        return stands

    def _restore(self, entry: Entry, *, force: bool) -> str:
        root = self._of(entry.caller).root
        was = None if entry.before is None else _state(entry.before)

        def fits(now: bytes | None) -> None:
            stands = _stands(entry, None if now is None else sha256(now).hexdigest())
            if not force and stands != "after":
                raise changed_since(entry, stands)

        data = self._earlier(entry)
        mode = was.mode if was else 0o644
        root.restore(entry.place, data, fits, mode=mode, noted=self._noting.noted(root.path))
        if data is None:
            made = _state(entry.after).made if entry.after else ()
            root.tidy(made)
            return f"removed {shown(entry.place)}, which the call had made"
        return f"put back {shown(entry.place)}: {len(data):,} bytes"

    def _earlier(self, entry: Entry) -> bytes | None:
        """The content before the call; None when there was no file."""
        if entry.before is None:
            return None
        was, where = _state(entry.before), shown(entry.place)
        if not was.sha:
            raise ToolFailed(
                f"Nothing was undone: {where} had {was.size:,} bytes before {entry.call}, and no more than"
                f" {BYTES_OF_FILE:,} are kept of a file.",
                code="not_undoable",
            )
        data = self._copies.get(was.sha)
        if data is None:
            raise ToolFailed(
                f"Nothing was undone: the copy of {where} from before {entry.call} is gone. Copies are kept for a"
                " time and up to a size, the latest longest.",
                code="copy_gone",
                hint="`undo` in toolcrib.yaml says how much is kept.",
            )
        return data


def _content(root: Root, path: str) -> str | None:
    """The digest of a file as it is now; None when there is none."""
    try:
        return sha256(root.read(path).data).hexdigest()
    except ToolFailed as error:
        if error.as_fault().code == "not_found":
            return None
        if error.as_fault().code in {"too_large", "is_a_directory", "not_a_file"}:
            return ""
        raise


def _stands(entry: Entry, now: str | None) -> str:
    before = None if entry.before is None else _state(entry.before).sha
    after = None if entry.after is None else _state(entry.after).sha
    if now == after:
        return "after"
    if now == before and now != "":
        return "before"
    return f"{shown(entry.place)} was {'removed' if now is None else 'made again' if after is None else 'changed'}"


def _json(state: _State | None) -> str | None:
    return None if state is None else msgspec.json.encode(state).decode()
