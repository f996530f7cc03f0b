"""Loaded toolkits, in memory."""

from collections.abc import Sequence

from toolcrib.services.loaded import KitState


class MemoryLoadedKits:
    """A dict by agent and session."""

    def __init__(self) -> None:
        self._states: dict[tuple[str, str], KitState] = {}

    async def get(self, agent: str, session: str) -> KitState | None:
        return self._states.get((agent, session))

    async def put(self, agent: str, session: str, names: Sequence[str], notes: Sequence[str] = ()) -> None:
        if session:
            self._states[agent, session] = KitState(tuple(names), tuple(notes))
