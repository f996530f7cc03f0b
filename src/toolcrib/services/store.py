"""What a store offers as a whole, and how it says that it cannot be opened or written."""

from typing import Protocol

from toolcrib.core.errors import ToolError
from toolcrib.services.access import Access
from toolcrib.services.approvals.requests import Approvals
from toolcrib.services.content.documents import Documents
from toolcrib.services.drawers import Drawers
from toolcrib.services.labels import Labels
from toolcrib.services.loaded import LoadedKits
from toolcrib.services.mcp.book import McpBook
from toolcrib.services.people.ports import PeopleRows
from toolcrib.services.record.audit import Audit
from toolcrib.services.record.journal import Journal
from toolcrib.services.shelf import Shelf
from toolcrib.services.todos import Todos
from toolcrib.services.undo.notes import UndoLog
from toolcrib.services.vault.ports import VaultRows


class StoreError(ToolError):
    """The store cannot be used. Nothing was changed."""

    code = "store_unavailable"


class StoreBusy(StoreError):
    """Another process holds the store, for longer than we wait."""

    code = "store_busy"
    retryable = True


class StoreNewer(StoreError):
    """The store was written by a newer version of this program."""

    code = "store_newer"


class Store(Protocol):
    """One open store: a port for each thing that is kept. Whole results are kept elsewhere, as files of the machine."""

    @property
    def audit(self) -> Audit: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def drawers(self) -> Drawers: ...
    @property
    def shelf(self) -> Shelf: ...
    @property
    def loaded(self) -> LoadedKits: ...
    @property
    def access(self) -> Access: ...
    @property
    def labels(self) -> Labels: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def undo(self) -> UndoLog: ...
    @property
    def todos(self) -> Todos: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def people(self) -> PeopleRows: ...
    @property
    def vault(self) -> VaultRows: ...
    @property
    def mcp(self) -> McpBook: ...

    async def close(self) -> None:
        """Write what waits to be written, and let go of everything."""
        ...
