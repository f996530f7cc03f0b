"""Texts that look like files to an agent and are kept in the store: context files and memory files (seed 004)."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from msgspec import Struct

Index: TypeAlias = Callable[["Document"], Awaitable[None]]


class Document(Struct, frozen=True, kw_only=True):
    """One text. `user` "" is the agent's own, which everybody shares who has none of their own."""

    agent: str
    user: str
    path: str
    content: str
    changed: float = 0.0


class Documents(Protocol):
    """Keeps texts by agent, user and path."""

    async def get(self, agent: str, user: str, path: str) -> str | None:
        """The text; None when there is none."""
        ...

    async def put(self, agent: str, user: str, path: str, content: str) -> None:
        """Write it."""
        ...

    async def delete(self, agent: str, user: str, path: str) -> bool:
        """Remove it; whether it was there."""
        ...

    async def paths(self, agent: str, user: str, prefix: str = "") -> tuple[str, ...]:
        """The paths that begin so, sorted."""
        ...


async def no_index(document: Document) -> None:
    """The index of those who have none."""
