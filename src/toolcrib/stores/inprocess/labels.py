"""Labels of sessions, in memory."""

from collections.abc import Mapping, Sequence

from toolcrib.core.tool import Flow

SESSIONS_KEPT = 100_000


class MemoryLabels:
    """A dict by session. Beyond its bound the session that was labelled first gives way."""

    def __init__(self) -> None:
        self._labels: dict[str, dict[Flow, str]] = {}

    async def of(self, sessions: Sequence[str]) -> Mapping[str, Mapping[Flow, str]]:
        return {session: dict(self._labels[session]) for session in sessions if session in self._labels}

    async def add(self, session: str, label: Flow, tool: str) -> None:
        if session not in self._labels and len(self._labels) >= SESSIONS_KEPT:
            del self._labels[next(iter(self._labels))]
        self._labels.setdefault(session, {}).setdefault(label, tool)
