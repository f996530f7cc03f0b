"""To-do lists in memory."""

from collections.abc import Sequence

from toolcrib.services.todos import Todo


class MemoryTodos:
    """A dict by agent and session."""

    def __init__(self) -> None:
        self._lists: dict[tuple[str, str], tuple[Todo, ...]] = {}

    async def get(self, agent: str, session: str) -> tuple[Todo, ...]:
        return self._lists.get((agent, session), ())

    async def put(self, agent: str, session: str, todos: Sequence[Todo]) -> None:
        self._lists[agent, session] = tuple(todos)
