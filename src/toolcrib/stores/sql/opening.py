"""Opens a store on disk: connects, migrates, writes down what dead processes left, starts the audit's writer."""

import asyncio

from toolcrib.services.record.audit import Scrub
from toolcrib.services.shelf import Shelf
from toolcrib.stores.sql.access import SqlAccess
from toolcrib.stores.sql.approvals import SqlApprovals
from toolcrib.stores.sql.audit import SqlAudit
from toolcrib.stores.sql.database import SECONDS_BUSY, Database
from toolcrib.stores.sql.documents import SqlDocuments
from toolcrib.stores.sql.drawers import SqlDrawers
from toolcrib.stores.sql.journal import SqlJournal
from toolcrib.stores.sql.labels import SqlLabels
from toolcrib.stores.sql.loaded import SqlLoadedKits
from toolcrib.stores.sql.mcp import SqlMcp
from toolcrib.stores.sql.people import SqlPeople
from toolcrib.stores.sql.process import new_owner
from toolcrib.stores.sql.schema import migrate
from toolcrib.stores.sql.todos import SqlTodos
from toolcrib.stores.sql.undo import SqlUndo
from toolcrib.stores.sql.vault import SqlVaultRows
from toolcrib.stores.sql.writer import MOST_WAITING


class SqlStore:
    """Every port, on one database."""

    def __init__(self, database: Database, *, scrub: Scrub, most_waiting: int = MOST_WAITING) -> None:
        owner = new_owner()
        self.database = database
        self.audit = SqlAudit(database, scrub, owner, most_waiting=most_waiting)
        self.journal = SqlJournal(database, owner)
        self.drawers = SqlDrawers(database)
        self.shelf = Shelf(self.drawers)
        self.loaded = SqlLoadedKits(database)
        self.access = SqlAccess(database)
        self.labels = SqlLabels(database)
        self.approvals = SqlApprovals(database)
        self.undo = SqlUndo(database)
        self.todos = SqlTodos(database)
        self.documents = SqlDocuments(database)
        self.people = SqlPeople(database)
        self.vault = SqlVaultRows(database)
        self.mcp = SqlMcp(database)

    async def close(self) -> None:
        try:
            await self.audit.close()
        finally:
            await asyncio.to_thread(self.database.close)


def open_store(
    url: str, *, scrub: Scrub, strict: bool = False, busy: float = SECONDS_BUSY, most_waiting: int = MOST_WAITING
) -> SqlStore:
    """Open the store at a URL: sqlite:///path or postgresql://user@host/name.

    With `strict` a commit reaches the disk before it counts. Raises StoreError, StoreBusy or StoreNewer.
    """
    database = Database(url, strict=strict, busy=busy)
    opened = False
    try:
        migrate(database)
        store = SqlStore(database, scrub=scrub, most_waiting=most_waiting)
        store.audit.start()
        opened = True
    finally:
        if not opened:
            database.close()
    return store
