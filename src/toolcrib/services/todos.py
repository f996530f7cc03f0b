"""The to-do list that an agent keeps for the task it works on. Each write replaces the whole list."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct


class Progress(StrEnum):
    """How far one item is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Todo(Struct, frozen=True):
    """One item."""

    content: str
    status: Progress = Progress.PENDING


class Todos(Protocol):
    """Keeps one list for each agent and session. With session "" it is the list of the agent itself."""

    async def get(self, agent: str, session: str) -> tuple[Todo, ...]:
        """The list as it was last written."""
        ...

    async def put(self, agent: str, session: str, todos: Sequence[Todo]) -> None:
        """Write this list instead."""
        ...
