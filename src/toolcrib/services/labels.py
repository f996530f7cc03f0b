"""What each session has taken in: private data, strangers' words. Kept, so that a restart forgets nothing."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from toolcrib.core.tool import Flow


class Labels(Protocol):
    """Keeps the labels of sessions, and the tool that first brought each."""

    async def of(self, sessions: Sequence[str]) -> Mapping[str, Mapping[Flow, str]]:
        """The labels of these sessions, each with its tool. A session that took nothing in may be missing."""
        ...

    async def add(self, session: str, label: Flow, tool: str) -> None:
        """Label a session. A label that it has already stays as it is."""
        ...
