"""Undoing a call by its id: why it cannot be, or that it was; and the record of it."""

import time
from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex

import msgspec

from toolcrib.core.call import Caller, Record, Status
from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Effect, Flow, Tool
from toolcrib.services.record.audit import Entry as Line
from toolcrib.services.record.audit import Query
from toolcrib.services.store import Store
from toolcrib.services.undo.notes import Restorer, Undoing, Undone


class UndoDesk:
    """What `crib.undo` does."""

    def __init__(
        self,
        store: Store,
        restorers: Mapping[str, Restorer],
        current: Callable[[], Resolver],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._store = store
        self._undoing = Undoing(store.undo, restorers)
        self._current = current
        self._refresh = refresh

    async def undo(self, call: str, *, by: str, force: bool) -> Undone:
        """Undo a call, and write down who did it and what came of it."""
        began, undo = time.perf_counter(), f"u{token_hex(8)}"
        entries = await self._undoing.kept(call)
        caller = Caller(agent=entries[0].agent if entries else "", user=by)
        code, status = "", Status.FAILED
        try:
            if not entries:
                raise ToolFailed(f"Nothing was undone: {await self._why_not(call)}.", code="not_undoable")
            done = await self._undoing.undo(entries, id=undo, by=by, force=force)
            status = Status.DONE
        except ToolError as error:
            code, status = error.as_fault().code, Status.REFUSED
            raise
        finally:
            self._store.audit.hand(
                Record(
                    id=undo,
                    at=time.time(),
                    caller=caller,
                    tool="undo",
                    arguments=msgspec.json.encode({"call": call, "force": force}),
                    status=status,
                    code=code,
                    seconds=time.perf_counter() - began,
                    approval=f"by {by}" if by else "",
                )
            )
        await self._refresh()
        return done

    async def said(self, call: str) -> str:
        """Whether a call can be undone, as a sentence."""
        entries = await self._undoing.kept(call)
        if not entries:
            why = await self._why_not(call)
            return f"It cannot be undone: {why}."
        if marks := {entry.undone for entry in entries} - {""}:
            return f"It was undone by {min(marks)}."
        return f"It can be undone: toolcrib undo {call}"

    async def _why_not(self, call: str) -> str:
        """Why nothing is kept of a call, as a clause."""
        lines = (await self._store.audit.entries(Query(id=call))).entries
        if not lines:
            return f"there is no call {call!r} in the record"
        line = lines[0]
        if line.status == Status.REFUSED.value:
            return f"{call} was refused, so it changed nothing"
        tool = self._current().registry.get(line.tool)
        return f"{line.tool} is no tool that is here now" if tool is None else _why_not(line, tool)


def _why_not(line: Line, tool: Tool) -> str:
    traits = tool.traits
    if traits.effect is Effect.READ and Flow.SENDS not in traits.flow:
        return f"{tool.name} only reads"
    if traits.undoable:
        done = "failed" if line.status == Status.FAILED.value else "changed nothing"
        return f"nothing is kept of {line.id}: it {done}, or it was too long ago"
    if Flow.SENDS in traits.flow:
        return f"{tool.name} sends things out, and they cannot be called back"
    if traits.runs_code:
        return f"{tool.name} runs commands, and nobody knows all that they changed"
    return f"{tool.name} cannot be undone, as it was said before it ran"
