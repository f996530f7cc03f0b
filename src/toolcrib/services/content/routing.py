"""Sends context files and memory files to the store instead of the disk (seed 004, section 3).

Only names at the root of the workspace count. An agent whose kind is not configured keeps everything on the disk.

    context file   open        the user's own, else the agent's        written: the user's
                   predefined  USER.md: the user's; the others: the agent's
    memory file    either      the user's own, else everybody's        written: the user's
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.services.content.documents import Document, Documents, Index, no_index

BOOTSTRAP = "BOOTSTRAP.md"
USER = "USER.md"
CONTEXT_FILES = ("SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", USER, BOOTSTRAP, "USER_PREDEFINED.md")
MEMORY_FILES = ("MEMORY.md", "memory.md")
MEMORY_FOLDER = "memory"
LONGEST_PATH = 1000
EVERYBODY = ""


class Kind(StrEnum):
    """Whose an agent's context files are."""

    OPEN = "open"  # each user's
    PREDEFINED = "predefined"  # the agent's, but for USER.md


class DocumentRoutes:
    """Reads and writes the routed paths. `index` is told of each memory in Markdown that is written."""

    def __init__(self, documents: Documents, kinds: Mapping[str, Kind | str], *, index: Index = no_index) -> None:
        for kind in kinds.values():
            Kind(kind)
        self._documents = documents
        self._kinds = kinds  # not copied: an agent may be given another kind
        self._index = index

    def claims(self, caller: Caller, path: str) -> bool:
        """Whether this path is kept in the store for this agent."""
        return caller.agent in self._kinds and (path in CONTEXT_FILES or _is_memory(path))

    async def read(self, caller: Caller, path: str) -> str | None:
        """The text for this user; None when there is none."""
        for user in self._readable(caller, path):
            text = await self._documents.get(caller.agent, user, path)
            if text is not None:
                return text
        return None

    async def write(self, caller: Caller, path: str, content: str) -> None:
        """Write where this user's reading looks first. An empty BOOTSTRAP.md removes it: the first run is over."""
        if len(path) > LONGEST_PATH:
            raise ToolFailed(f"This path is longer than {LONGEST_PATH} characters.", code="bad_path")
        if "\0" in content:
            raise ToolFailed(
                f"{path} holds text, and text has no NUL characters. Nothing was written.", code="bad_text"
            )
        user = self._readable(caller, path)[0]
        if path == BOOTSTRAP and not content:
            await self._documents.delete(caller.agent, user, path)
            return
        await self._documents.put(caller.agent, user, path, content)
        if _is_memory(path) and path.endswith(".md"):
            await self._index(Document(agent=caller.agent, user=user, path=path, content=content))

    async def listing(self, caller: Caller, directory: str) -> Sequence[str]:
        """The paths of the texts and folders that lie directly in a directory; a folder's ends with "/"."""
        if caller.agent not in self._kinds:
            return ()
        prefix = "" if directory in {"", "."} else directory.rstrip("/") + "/"
        found: set[str] = set()
        for user in {caller.user, EVERYBODY}:
            paths = await self._documents.paths(caller.agent, user, prefix)
            found.update(path for path in paths if user in self._readable(caller, path))
        below = (path[len(prefix) :].partition("/") for path in found)
        return sorted({f"{prefix}{name}{slash}" for name, slash, _ in below})

    def _readable(self, caller: Caller, path: str) -> tuple[str, ...]:
        """Whose text is looked at for a path, in order."""
        if _is_memory(path) or self._kinds[caller.agent] == Kind.OPEN:
            return (caller.user, EVERYBODY)
        return (caller.user,) if path == USER else (EVERYBODY,)


def _is_memory(path: str) -> bool:
    folder, slash, name = path.partition("/")
    return path in MEMORY_FILES or (folder == MEMORY_FOLDER and bool(slash and name) and ".." not in name.split("/"))
