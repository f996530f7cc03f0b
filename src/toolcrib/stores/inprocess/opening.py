"""Opens the in-memory store: one attribute for each port."""

from toolcrib.services.record.audit import Scrub
from toolcrib.services.shelf import Shelf
from toolcrib.stores.inprocess.access import MemoryAccess
from toolcrib.stores.inprocess.approvals import MemoryApprovals
from toolcrib.stores.inprocess.audit import MemoryAudit
from toolcrib.stores.inprocess.documents import MemoryDocuments
from toolcrib.stores.inprocess.drawers import MemoryDrawers
from toolcrib.stores.inprocess.journal import MemoryJournal
from toolcrib.stores.inprocess.labels import MemoryLabels
from toolcrib.stores.inprocess.loaded import MemoryLoadedKits
from toolcrib.stores.inprocess.mcp import MemoryMcp
from toolcrib.stores.inprocess.people import MemoryPeople
from toolcrib.stores.inprocess.todos import MemoryTodos
from toolcrib.stores.inprocess.undo import MemoryUndo
from toolcrib.stores.inprocess.vault import MemoryVaultRows


class MemoryStore:
    """Every port of a store, in memory."""

    def __init__(self, *, scrub: Scrub) -> None:
        self.audit = MemoryAudit(scrub)
        self.journal = MemoryJournal()
        self.drawers = MemoryDrawers()
        self.shelf = Shelf(self.drawers)
        self.loaded = MemoryLoadedKits()
        self.access = MemoryAccess()
        self.labels = MemoryLabels()
        self.approvals = MemoryApprovals()
        self.undo = MemoryUndo()
        self.todos = MemoryTodos()
        self.documents = MemoryDocuments()
        self.people = MemoryPeople()
        self.vault = MemoryVaultRows()
        self.mcp = MemoryMcp(self.drawers.touch)

    async def close(self) -> None:
        """Nothing to let go of."""


def open_store(*, scrub: Scrub) -> MemoryStore:
    """A new, empty store."""
    return MemoryStore(scrub=scrub)
