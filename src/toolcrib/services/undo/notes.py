"""What calls changed, so that it can be put back.

Before a call changes something the product holds, it notes what is there and what will be. So whenever a process
dies, what is there tells how far it came: it is as it was, as the call left it, or neither; and undo acts on that.

    note(before, after) ──► change          undo: is it as the call left it? ──► put back what was before
"""

import time
from collections.abc import Coroutine, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolError, ToolFailed

T = TypeVar("T")


class Change(Struct, frozen=True, kw_only=True):
    """One thing that is changed. The values are JSON as their kind writes them; None: there is nothing."""

    kind: str
    place: str
    before: str | None
    after: str | None
    root: str = ""  # the workspace, for files


class Entry(Struct, frozen=True, kw_only=True):
    """A change as it is kept."""

    call: str
    at: float
    agent: str
    user: str
    session: str
    tool: str
    kind: str
    place: str
    before: str | None
    after: str | None
    workspace: str = ""
    undone: str = ""  # the undo that put it back
    number: int = 0

    @property
    def caller(self) -> Caller:
        """Who made the change."""
        return Caller(agent=self.agent, user=self.user, session=self.session, workspace=self.workspace)


class UndoLog(Protocol):
    """Keeps what calls changed, for some time."""

    def adding(self, entry: Entry) -> int:
        """Keep an entry; its number. It blocks: for those who are in a thread."""
        ...

    async def add(self, entry: Entry) -> int:
        """The same for everybody else."""
        ...

    async def drop(self, number: int) -> None:
        """Forget an entry: the change did not come about."""
        ...

    async def of(self, call: str) -> tuple[Entry, ...]:
        """What a call changed, in order."""
        ...

    async def mark(self, numbers: Sequence[int], undo: str) -> None:
        """Note which undo put these back."""
        ...


class Copies(Protocol):
    """Keeps contents under a name that follows from them, within bounds of size and age. Blocking."""

    def keep(self, data: bytes) -> str:
        """Keep a content; its name."""
        ...

    def get(self, name: str) -> bytes | None:
        """The content; None when it was pruned or is damaged."""
        ...


class Notes:
    """Takes down what one call changes."""

    def __init__(self, log: UndoLog, call: str, tool: str, caller: Caller) -> None:
        self._log = log
        self._call = call
        self._tool = tool
        self._caller = caller

    def noting(self, change: Change) -> int:
        """Note a change that is about to be made. It blocks."""
        return self._log.adding(self._entry(change))

    async def note(self, change: Change) -> int:
        """The same, for everybody else."""
        return await self._log.add(self._entry(change))

    async def drop(self, number: int) -> None:
        """The change did not come about."""
        await self._log.drop(number)

    def _entry(self, change: Change) -> Entry:
        who = self._caller
        return Entry(
            call=self._call,
            at=time.time(),
            agent=who.agent,
            user=who.user,
            session=who.session,
            tool=self._tool,
            kind=change.kind,
            place=change.place,
            before=change.before,
            after=change.after,
            workspace=change.root or who.workspace,
        )


NOTES: ContextVar[Notes | None] = ContextVar("toolcrib_undo", default=None)
"""What the running call notes its changes in; None where nothing can be undone."""


async def noted(change: Change, doing: Coroutine[Any, Any, T]) -> T:
    """Make a change, noted before it is made. One that is refused leaves no note."""
    notes = NOTES.get()
    if notes is None:
        return await doing
    stands = False
    try:
        number = await notes.note(change)
        stands = True
    finally:
        if not stands:
            doing.close()  # what cannot be noted is not begun
    try:
        return await doing
    except ToolError:
        await notes.drop(number)
        raise


class Restorer(Protocol):
    """Puts back one kind of thing. What it writes is noted like any other change."""

    async def look(self, entry: Entry) -> str:
        """How it stands: "after" as the call left it, "before" as it was, or what is otherwise, as a clause.

        Raises a ToolError when it cannot be put back whatever it is now.
        """
        ...

    async def restore(self, entry: Entry, *, force: bool) -> str:
        """Put it back; says what was done. Unless forced it looks again, and raises `changed_since`."""
        ...


class Undone(Struct, frozen=True, kw_only=True):
    """What an undo did. Its id can be undone in turn."""

    id: str
    call: str
    tool: str
    did: tuple[str, ...]


class Undoing:
    """Undoes what is kept of a call: all of it, or nothing."""

    def __init__(self, log: UndoLog, restorers: Mapping[str, Restorer]) -> None:
        self._log = log
        self._restorers = restorers

    async def kept(self, call: str) -> tuple[Entry, ...]:
        """What is kept of a call. What was changed twice counts from the first state to the last."""
        found: dict[tuple[str, str, str], Entry] = {}
        for entry in await self._log.of(call):
            key = (entry.kind, entry.workspace, entry.place)
            first = found.get(key)
            found[key] = entry if first is None else _joined(first, entry)
        return tuple(found.values())

    async def undo(self, entries: Sequence[Entry], *, id: str, by: str, force: bool = False) -> Undone:  # noqa: A002
        """Put back what these entries say. Nothing is touched unless all of it can be."""
        call = entries[0].call
        todo = [entry for entry in reversed(entries) if await self._wanted(entry, force=force)]
        if not todo:
            marks = {entry.undone for entry in entries} - {""}
            if marks:
                raise ToolFailed(
                    f"The call {call} is undone already, by {min(marks)}.",
                    code="already_undone",
                    hint="Undo that to redo.",
                )
            raise ToolFailed(f"There is nothing to undo: all is as it was before {call}.", code="nothing_to_undo")
        before = NOTES.get()
        NOTES.set(Notes(self._log, id, "undo", Caller(agent=entries[0].agent, user=by, session=entries[0].session)))
        try:
            did = [await self._restorers[entry.kind].restore(entry, force=force) for entry in todo]
        finally:
            NOTES.set(before)
        await self._log.mark([entry.number for entry in await self._log.of(call)], id)
        return Undone(id=id, call=call, tool=entries[0].tool, did=tuple(did))

    async def _wanted(self, entry: Entry, *, force: bool) -> bool:
        restorer = self._restorers.get(entry.kind)
        if restorer is None:
            raise ToolFailed(f"Nothing here can put back a {entry.kind}.", code="not_undoable")
        stands = await restorer.look(entry)
        if stands not in {"before", "after"} and not force:
            raise changed_since(entry, stands)
        return stands != "before"


def changed_since(entry: Entry, how: str) -> ToolFailed:
    """The refusal where something else came after the call."""
    return ToolFailed(
        f"Nothing was undone: {how} since the call {entry.call}.",
        code="changed_since",
        hint="Look at it first; --force puts it back all the same, and that can be undone too.",
    )


def _joined(first: Entry, last: Entry) -> Entry:
    return replace(last, before=first.before)
