"""Tools that ask a person by their own nature: those that say so, and the effects that people chose to confirm."""

from collections.abc import Collection

from toolcrib.core.guard import Call, Verdict, ask
from toolcrib.core.tool import Effect, Tool


class Confirm:
    """Asks before tools with the approval trait, and before the chosen effects."""

    name = "confirm"

    def __init__(self, effects: Collection[str] = ()) -> None:
        self._effects = frozenset(map(Effect, effects))

    def watches(self, tool: Tool) -> bool:
        return tool.traits.approval or tool.traits.effect in self._effects

    def check(self, call: Call) -> Verdict:
        if call.tool.traits.approval:
            return ask("approval", f"{call.tool.name} always asks")
        undo = "" if call.tool.traits.undoable else ", and cannot be undone"
        return ask(f"confirm:{call.tool.traits.effect}", f"{call.tool.name} may {_does(call.tool)}{undo}")


def _does(tool: Tool) -> str:
    return {Effect.DESTROY: "delete or overwrite", Effect.WRITE: "change things"}.get(tool.traits.effect, "read")
