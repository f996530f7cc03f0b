"""Context files and memory files in memory."""


class MemoryDocuments:
    """A dict by agent, user and path."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, str], str] = {}

    async def get(self, agent: str, user: str, path: str) -> str | None:
        return self._texts.get((agent, user, path))

    async def put(self, agent: str, user: str, path: str, content: str) -> None:
        self._texts[agent, user, path] = content

    async def delete(self, agent: str, user: str, path: str) -> bool:
        return self._texts.pop((agent, user, path), None) is not None

    async def paths(self, agent: str, user: str, prefix: str = "") -> tuple[str, ...]:
        return tuple(sorted(path for a, u, path in self._texts if (a, u) == (agent, user) and path.startswith(prefix)))
