"""The audit: what handing over costs a call, and what a record costs all in, durable in SQLite with the chain.

The floor is the standard library's sqlite3 that inserts the same columns, in one transaction, with no chain.
"""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from toolcrib.core.call import Caller, Record, Status
from toolcrib.services.record.lines import Drafts
from toolcrib.stores import sql
from toolcrib_bench.figures import Figure, best, figure

RECORDS = 50_000
COLUMNS = 17
ME = Caller(agent="clerk", user="u1", session="s1")


def run() -> Iterator[Figure]:
    """Handing over, writing, checking."""
    records = [
        Record(
            id=f"call-{number:08}",
            at=time.time(),
            caller=ME,
            tool="add",
            arguments=b'{"a":17,"b":25}',
            status=Status.DONE,
            seconds=0.000_012,
            size=2,
        )
        for number in range(RECORDS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        bare = _bare(records, Path(folder) / "bare.db")
        yield from asyncio.run(_ours(records, Path(folder) / "ours.db", bare))


async def _ours(records: list[Record], path: Path, bare: float) -> list[Figure]:
    store = sql.open_store(f"sqlite:///{path}", scrub=str)
    plain: list[Record] = []
    append = best(lambda: plain.append(records[0]), 100_000)
    store.audit.hand(records[0])  # wakes the writer, which then waits for more to gather: this is what a call meets
    began = time.perf_counter()
    for record in records[:1000]:
        store.audit.hand(record)
    handed = (time.perf_counter() - began) / 1000
    await store.audit.settle()
    began, used = time.perf_counter(), time.process_time()
    for place in range(0, RECORDS, 500):
        for record in records[place : place + 500]:
            store.audit.hand(record)
        await asyncio.sleep(0.001)
    await store.audit.settle()
    cpu, wall = time.process_time() - used, time.perf_counter() - began
    began = time.perf_counter()
    verdict = await store.audit.verify()
    checked = (time.perf_counter() - began) / verdict.checked
    await store.close()
    size = await asyncio.to_thread(lambda: path.stat().st_size)
    assert verdict.ok
    return [
        figure("audit", "hand over", handed * 1e6, "us", append * 1e6),
        figure("audit", "record, all in, CPU", cpu / RECORDS * 1e6, "us", bare * 1e6),
        figure("audit", "records durable in SQLite", RECORDS / wall, "1/s"),
        figure("audit", "verify, one entry", checked * 1e6, "us"),
        figure("audit", "store, one entry", size / verdict.checked, "bytes"),
    ]


def _bare(records: list[Record], path: Path) -> float:
    """CPU seconds for one row: the columns of a line, a number and a hash that is not computed."""
    drafts = Drafts(str)
    rows = [(number, *drafts.of(record)[0], bytes(32)) for number, record in enumerate(records)]
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute(f"CREATE TABLE line (seq INTEGER PRIMARY KEY, {', '.join(f'c{n}' for n in range(COLUMNS - 1))})")
    used = time.process_time()
    database.execute("BEGIN")
    database.executemany(f"INSERT INTO line VALUES ({', '.join('?' * COLUMNS)})", rows)  # noqa: S608 - a fixed count
    database.execute("COMMIT")
    used = time.process_time() - used
    database.close()
    return used / len(rows)
