"""Lets the calls of tools that can be undone note what they change. Calls of other tools do not pass here."""

from typing import Any

from toolcrib.core.guard import Call, CallNext
from toolcrib.core.tool import Tool
from toolcrib.services.undo.notes import NOTES, Notes, UndoLog


class Noting:
    """A ring: while the body runs, and in its threads, the services find the call's notes."""

    def __init__(self, log: UndoLog) -> None:
        self._log = log

    def watches(self, tool: Tool) -> bool:
        return tool.traits.undoable

    async def __call__(self, call: Call, call_next: CallNext) -> Any:  # noqa: ANN401 - whatever the body gives
        before = NOTES.get()
        NOTES.set(Notes(self._log, call.id, call.tool.name, call.caller))
        try:
            return await call_next(call)
        finally:
            NOTES.set(before)
