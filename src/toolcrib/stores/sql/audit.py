"""The audit in a database: one chain, however many processes write to it."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import sqlalchemy as sa
from msgspec.structs import replace

from toolcrib.core.call import Caller, Record
from toolcrib.services.audit import EVERYTHING, Entry, Head, Page, Query, Scrub, Verdict
from toolcrib.services.chain import Walk, link
from toolcrib.services.lines import Draft, Drafts, Line, Mark, entry, gap, interrupted
from toolcrib.services.store import StoreError
from toolcrib.stores.sql.database import Database
from toolcrib.stores.sql.process import is_gone
from toolcrib.stores.sql.tables import AUDIT, HEAD, INFLIGHT
from toolcrib.stores.sql.writer import Writer

SILENT = 90.0  # seconds without a sign of life, after which a process on another machine counts as gone
ROWS_READ = 1000  # at once, when the chain is checked or exported
ROWS_PER_STATEMENT = 1024  # SQLite lets other threads run only between statements' rows, so there should be few
_OPENING = ("id", "at", "agent", "user", "session", "context", "tool", "arguments")


class SqlAudit:
    """Hands records to its writer, and reads what the writer and other processes have written."""

    def __init__(self, database: Database, scrub: Scrub, owner: str, **writer: int) -> None:
        self._database = database
        self._drafts = Drafts(scrub)
        self._owner = owner
        self._running: dict[str, Mark] = {}
        self._marked: set[str] = set()
        self._drafted: list[Draft] = []
        self._statements: dict[int, str] = {}
        self._writer = Writer(self._commit, self._beat, **writer)
        self.hand = self._writer.hand  # straight to the writer: this is the hot path

    @property
    def trouble(self) -> str:
        return self._writer.trouble

    @property
    def full(self) -> bool:
        return self._writer.full

    def hand(self, record: Record) -> None:
        raise NotImplementedError

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        self._writer.mark(Mark(call, at, caller, tool, arguments))

    async def durable(self, record: Record) -> None:
        self.hand(record)
        await self._writer.settled()

    async def settle(self) -> None:
        await self._writer.settled()
