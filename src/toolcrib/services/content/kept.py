"""Kept results as files: `.toolcrib/results/<call>` reads the whole of a result that was too long, before any disk.

So an agent that holds `read_file` and not `read_result` can still read what was cut.
"""

from collections.abc import Sequence

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.services.content.files import PathRoutes
from toolcrib.services.content.results import Results

FOLDER = ".toolcrib/results/"


class KeptRoutes:
    """Stands before other routes and claims the folder of kept results."""

    def __init__(self, results: Results, others: PathRoutes) -> None:
        self._results = results
        self._others = others

    def claims(self, caller: Caller, path: str) -> bool:
        """Whether this path is a kept result, or another route's."""
        return path.startswith(FOLDER) or self._others.claims(caller, path)

    async def read(self, caller: Caller, path: str) -> str | None:
        """The whole text of a result."""
        if path.startswith(FOLDER):
            return (await self._results.read(path.removeprefix(FOLDER), caller)).text
        return await self._others.read(caller, path)

    async def write(self, caller: Caller, path: str, content: str) -> None:
        """Results are never written over."""
        if path.startswith(FOLDER):
            raise ToolFailed(f"{path} is a kept result; it cannot be written.", code="access_denied")
        await self._others.write(caller, path, content)

    async def listing(self, caller: Caller, directory: str) -> Sequence[str]:
        """Kept results are read by name; they are not listed."""
        return await self._others.listing(caller, directory)
