"""The audit in a database: one chain, however many processes write to it."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from typing import Any, cast

import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.exc import DBAPIError

from toolcrib.core.call import Caller, Record
from toolcrib.services.record.audit import EVERYTHING, Entry, Head, Page, Query, Scrub, Verdict
from toolcrib.services.record.chain import START, Walk, link
from toolcrib.services.record.lines import Draft, Drafts, Line, Mark, entry, gap
from toolcrib.services.store import StoreError
from toolcrib.stores.sql.database import Database
from toolcrib.stores.sql.inflight import Marks, leftovers
from toolcrib.stores.sql.tables import AUDIT, HEAD
from toolcrib.stores.sql.writer import MOST_WAITING, Job, Writer

ROWS_READ = 1000  # at once, when the chain is checked or exported
# Rows inserted by one statement. Between statements the writer has to win back Python's lock from busy threads, which
# takes it 5 ms, so there should be few; and only few different ones, so that they stay prepared.
STATEMENT_ROWS = (1024, 256, 64, 16, 4, 1)


class SqlAudit:
    """Hands records to its writer, and reads what the writer and other processes have written."""

    def __init__(self, database: Database, scrub: Scrub, owner: str, *, most_waiting: int = MOST_WAITING) -> None:
        self._database = database
        self._drafts = Drafts(scrub)
        self._marks = Marks(owner, self._drafts)
        self._writer = Writer(self._plan, self._beat, most=most_waiting)

    @property
    def trouble(self) -> str:
        return self._writer.trouble

    @property
    def full(self) -> bool:
        return self._writer.full

    def hand(self, record: Record) -> None:
        self._writer.hand(record)

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        self._writer.mark(Mark(call, at, caller, tool, arguments))

    async def durable(self, record: Record) -> None:
        self._writer.hand(record)
        await self._writer.settled()

    async def settle(self) -> None:
        await self._writer.settled()

    async def entries(self, query: Query = EVERYTHING) -> Page:
        await self._settle_softly()
        found = await self._database.read(lambda connection: _entries(connection, query, query.limit + 1))
        page = tuple(found[: query.limit])
        return Page(page, page[-1].seq if page and len(found) > len(page) else None)

    async def export(self, query: Query = EVERYTHING) -> AsyncIterator[dict[str, object]]:
        await self._settle_softly()
        following = replace(query, oldest_first=True, cursor=None)
        while True:
            page = await self._database.read(partial(_entries, query=following, limit=ROWS_READ))
            for one in page:
                yield one.as_json()
            if len(page) < ROWS_READ:
                return
            following = replace(following, cursor=page[-1].seq)

    async def verify(self) -> Verdict:
        await self._settle_softly()
        return await self._database.read(_verified)

    async def head(self) -> Head:
        await self._settle_softly()
        return await self._database.read(_head)

    def start(self) -> None:
        """Write down what processes left behind that died in the middle of a call, and begin to write."""
        self._database.writing(_recover)
        self._writer.start()

    async def close(self) -> None:
        """Write what waits, and stop."""
        await asyncio.to_thread(self._writer.finish)

    async def _settle_softly(self) -> None:
        """Let what waits be written before reading; when it cannot be, what is there is still worth reading."""
        with suppress(StoreError):
            await self._writer.settled()

    def _plan(self, batch: list[Record], marks: list[Mark], later: list[Record], lost: int) -> Job:
        """What one transaction does: entries, and the marks of calls that began and ended."""
        drafts = [self._drafts.of(record) for record in batch]
        if lost:
            drafts.append(gap(lost, time.time()))
        change = self._marks.plan(batch, marks, later)

        def work(connection: sa.Connection) -> None:
            _append(connection, drafts)
            change.write(connection)

        def job() -> None:
            if drafts or change:
                self._database.writing(work)
            self._marks.written(change)

        return job

    def _beat(self) -> None:
        alive = self._marks.beat()
        if alive is not None:
            self._database.writing(lambda connection: connection.execute(alive))


def _recover(connection: sa.Connection) -> None:
    _append(connection, leftovers(connection))


def _head(connection: sa.Connection, *, to_write: bool = False) -> Head:
    asked = sa.select(HEAD.c.seq, HEAD.c.hash).where(HEAD.c.one == 1)
    row = connection.execute(asked.with_for_update() if to_write else asked).first()
    if row is None:
        raise StoreError("The audit's head is missing from the store: somebody removed it.")
    return Head(row.seq, _hex(row.hash))


def _append(connection: sa.Connection, drafts: Sequence[Draft]) -> None:
    """Link lines to the end of the chain. The head is held until the transaction ends, so there is one chain."""
    if not drafts:
        return
    head = _head(connection, to_write=True)
    seq, digest = head.seq, head.hash
    rows: list[tuple[object, ...]] = []
    for line, body in drafts:
        seq += 1
        digest = link(digest, seq, body)
        rows.append((seq, *line, bytes.fromhex(digest)))
    place = "?" if connection.dialect.name == "sqlite" else "%s"
    start = 0
    while start < len(rows):
        size = next(size for size in STATEMENT_ROWS if size <= len(rows) - start)
        values = tuple(chain.from_iterable(rows[start : start + size]))
        connection.exec_driver_sql(_statement(place, size), values)
        start += size
    connection.execute(sa.update(HEAD).where(HEAD.c.one == 1).values(seq=seq, hash=bytes.fromhex(digest)))


@cache
def _statement(place: str, rows: int) -> str:
    """One statement that inserts so many rows: the driver's own words, since this runs for every call ever made."""
    names = ", ".join(f'"{column.name}"' for column in AUDIT.columns)
    row = f"({', '.join([place] * len(AUDIT.columns))})"
    return f"INSERT INTO tc_audit ({names}) VALUES {', '.join([row] * rows)}"  # noqa: S608 - our own names only


def _entries(connection: sa.Connection, query: Query, limit: int) -> list[Entry]:
    before = AUDIT.alias("before")
    previous = sa.select(before.c.hash).where(before.c.seq == AUDIT.c.seq - 1).scalar_subquery()
    asked = sa.select(AUDIT, previous).where(*_filters(query)).limit(limit)
    asked = asked.order_by(AUDIT.c.seq if query.oldest_first else AUDIT.c.seq.desc())
    return [_entry(tuple(row)) for row in connection.execute(asked)]


def _filters(query: Query) -> list[sa.ColumnElement[bool]]:
    exact = ("agent", "tool", "session", "user", "status", "code", "id")
    found = [AUDIT.c[name] == want for name in exact if (want := getattr(query, name)) is not None]
    if query.since is not None:
        found.append(AUDIT.c.at >= query.since)
    if query.until is not None:
        found.append(AUDIT.c.at < query.until)
    if query.cursor is not None:
        found.append(AUDIT.c.seq > query.cursor if query.oldest_first else AUDIT.c.seq < query.cursor)
    return found


def _entry(row: tuple[Any, ...]) -> Entry:
    return entry(row[0], cast("Line", row[1:16]), _hex(row[17]) if row[17] is not None else START, _hex(row[16]))


def _verified(connection: sa.Connection) -> Verdict:
    """Walk the chain in pieces. A piece that cannot be read is read row by row, to name the one that cannot."""
    walk = Walk()
    size = ROWS_READ
    while True:
        last = walk.checked
        asked = sa.select(AUDIT).where(AUDIT.c.seq > last).order_by(AUDIT.c.seq).limit(size)
        try:
            rows = connection.execute(asked).all()
        except DBAPIError as error:
            if size == 1:
                return walk.broken(last + 1, f"entry {last + 1} cannot be read: {error.orig}")
            size = 1
            continue
        for row in rows:
            if wrong := walk.step(row[0], tuple(row)[1:16], _hex(row[16])):
                return wrong
        if not rows:
            return _ended(connection, walk)


def _ended(connection: sa.Connection, walk: Walk) -> Verdict:
    try:
        return walk.end(_head(connection))
    except StoreError as error:  # the head is kept so that a cut shows; without it nobody can say where the end was
        return walk.broken(walk.checked + 1, error.message)


def _hex(value: object) -> str:
    """A hash as text; what is no hash at all, because somebody changed it, fits nothing."""
    return value.hex() if isinstance(value, bytes) else "?"
