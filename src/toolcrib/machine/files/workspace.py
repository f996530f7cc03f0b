"""Workspaces on the local disk: the port of services/content/files.py, each call one hop to a thread."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from functools import partial

from toolcrib.core.call import Caller
from toolcrib.machine.files import faults, pdf, search, tree
from toolcrib.machine.files.noting import Noting
from toolcrib.machine.files.root import Root
from toolcrib.machine.halt import Halt
from toolcrib.services.content.files import BYTES_OF_FILE, Edit, Hits, Listing, Query, Stored, Written

ALWAYS_DENIED = (".toolcrib",)
EVERYBODY = "*"
ROOTS_KEPT = 1000


class LocalWorkspace:
    """One root, as one agent may use it."""

    def __init__(self, root: Root, ripgrep: str | None, noting: Noting | None = None) -> None:
        self.root = root
        self._noted = noting.noted if noting else _nothing
        self._ripgrep = ripgrep

    def relative(self, path: str) -> str:
        return self.root.relative(path)

    async def read(self, path: str, limit: int = BYTES_OF_FILE) -> Stored:
        return await asyncio.to_thread(self.root.read, path, limit)

    async def write(self, path: str, data: bytes, *, directories: bool = True, keep: bool = False) -> Written:
        noted = self._noted(self.root.path)
        return await asyncio.to_thread(self.root.write, path, data, directories=directories, keep=keep, noted=noted)

    async def change(self, path: str, edit: Edit) -> Written:
        return await asyncio.to_thread(self.root.change, path, edit, self._noted(self.root.path))

    async def remove(self, path: str) -> Stored:
        return await asyncio.to_thread(self.root.remove, path, self._noted(self.root.path))

    async def listing(self, path: str, *, depth: int = 1, pattern: str = "", limit: int = 1000) -> Listing:
        return await asyncio.to_thread(tree.listing, self.root, path, depth=depth, pattern=pattern, limit=limit)

    async def find(self, pattern: str, path: str = ".", limit: int = 1000) -> Listing:
        return await asyncio.to_thread(tree.find, self.root, pattern, path, limit)

    async def search(self, query: Query) -> Hits:
        halt = Halt(query.seconds)
        try:
            return await asyncio.to_thread(search.search, self.root, query, halt, self._ripgrep)
        except asyncio.CancelledError:
            halt.cancel()
            raise

    async def permits(self, path: str, op: str) -> None:
        await asyncio.to_thread(self.root.permits, path, op)

    async def pdf_pages(self, path: str, data: bytes) -> Sequence[str]:
        return await asyncio.to_thread(pdf.pages, path, data)


class LocalWorkspaces:
    """Workspaces of this machine.

    A caller works in its own workspace, or in the default one. `deny` lists path prefixes, relative to the
    workspace, by agent; those under "*" hold for every agent, and `.toolcrib` is always denied. `ripgrep` is the
    program, "" to do without it; None looks on the PATH.
    """

    def __init__(
        self,
        default_root: str | None = None,
        deny: Mapping[str, Sequence[str]] | None = None,
        *,
        ripgrep: str | None = None,
        kernel: bool | None = None,
        durable: bool = False,
        noting: Noting | None = None,
    ) -> None:
        self._default = default_root
        self._deny = deny or {}  # not copied: the lists of an agent change while it works
        self._ripgrep = (shutil.which("rg") if ripgrep is None else ripgrep) or None
        self._root = partial(Root, kernel=kernel, durable=durable)
        self._noting = noting
        self._kept: dict[tuple[str, tuple[str, ...]], LocalWorkspace] = {}

    def of(self, caller: Caller) -> LocalWorkspace:
        """The workspace this caller works in."""
        key = path, denied = self.place(caller)
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= ROOTS_KEPT:
                self._kept.clear()  # they hold nothing but names
            found = self._kept[key] = LocalWorkspace(self._root(path, denied), self._ripgrep, self._noting)
        return found

    def place(self, caller: Caller) -> tuple[str, tuple[str, ...]]:
        """Where that is, and what is denied there."""
        path = caller.workspace or self._default
        if not path:
            raise faults.missing()
        return path, (*ALWAYS_DENIED, *self._deny.get(EVERYBODY, ()), *self._deny.get(caller.agent, ()))


def _nothing(root: str) -> None:
    """Nobody notes anything."""
