"""The audit in memory. Records wait as they were handed over; lines and hashes are made when somebody looks."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator

from toolcrib.core.call import Caller, Record
from toolcrib.services.record.audit import EVERYTHING, Entry, Head, Page, Query, Scrub, Verdict
from toolcrib.services.record.chain import START, link, verified
from toolcrib.services.record.lines import Draft, Drafts, entry, gap

NEWEST_KEPT = 50_000
BYTES_WAITING = 64 * 1024 * 1024
LOOK_AFTER = 4096  # records between two looks at how much memory they take


class MemoryAudit:
    """Keeps the newest entries. Older ones give way: records that nobody looked at leave a gap entry behind."""

    def __init__(self, scrub: Scrub, *, newest: int = NEWEST_KEPT) -> None:
        self._drafts = Drafts(scrub)
        self._waiting: list[Record] = []
        self._look_at = min(LOOK_AFTER, newest)
        self._lost = 0
        self._newest = newest
        self._entries: deque[Entry] = deque(maxlen=newest)
        self._head = Head(0, START)
        self._lock = threading.Lock()

    @property
    def trouble(self) -> str:
        return ""

    @property
    def full(self) -> bool:
        return False

    def hand(self, record: Record) -> None:
        self._waiting.append(record)
        if len(self._waiting) >= self._look_at:
            self._look()

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        """Nothing to do: what is in memory does not outlive the process."""

    async def durable(self, record: Record) -> None:
        self.hand(record)
        self._write()

    async def settle(self) -> None:
        self._write()

    async def entries(self, query: Query = EVERYTHING) -> Page:
        self._write()
        found = list(self._entries) if query.oldest_first else list(reversed(self._entries))
        if query.cursor is not None:
            cursor = query.cursor
            found = [one for one in found if (one.seq > cursor if query.oldest_first else one.seq < cursor)]
        found = [one for one in found if query.admits(one)]
        page = tuple(found[: query.limit])
        return Page(page, page[-1].seq if len(found) > len(page) and page else None)

    async def export(self, query: Query = EVERYTHING) -> AsyncIterator[dict[str, object]]:
        self._write()
        for one in list(self._entries):
            if query.admits(one):
                yield one.as_json()
            await asyncio.sleep(0)

    async def verify(self) -> Verdict:
        self._write()
        entries = list(self._entries)
        start = Head(entries[0].seq - 1, entries[0].previous) if entries else None
        return verified(entries, self._head, start)

    async def head(self) -> Head:
        self._write()
        return self._head

    def _look(self) -> None:
        """Let the oldest of what waits go when there are too many, or they take too much memory."""
        with self._lock:
            kept = len(self._waiting)
            size = sum(len(record.arguments) for record in self._waiting)
            while kept and (kept > self._newest or size > BYTES_WAITING):
                size //= 2
                kept //= 2
            self._lost += len(self._waiting) - kept
            del self._waiting[: len(self._waiting) - kept]
            self._look_at = min(kept + LOOK_AFTER, self._newest + 1)

    def _write(self) -> None:
        with self._lock:
            batch = self._waiting[:]
            del self._waiting[: len(batch)]
            self._look_at = min(LOOK_AFTER, self._newest + 1)
            if self._lost:
                self._link(gap(self._lost, time.time()))
                self._lost = 0
            for record in batch:
                self._link(self._drafts.of(record))

    def _link(self, draft: Draft) -> None:
        line, body = draft
        seq = self._head.seq + 1
        digest = link(self._head.hash, seq, body)
        self._entries.append(entry(seq, line, self._head.hash, digest))
        self._head = Head(seq, digest)
