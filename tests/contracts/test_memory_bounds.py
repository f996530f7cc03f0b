"""The audit in memory keeps the newest calls, in a bounded piece of memory, and says what it let go."""

import pytest

from tests.contracts.conftest import hide
from tests.contracts.records import record
from toolcrib.services.record.audit import Query
from toolcrib.stores.inprocess.audit import MemoryAudit


async def test_records_that_nobody_looked_at_give_way_and_leave_a_gap_entry() -> None:
    audit = MemoryAudit(hide, newest=100)
    told = [record() for _ in range(1000)]
    for one in told:
        audit.hand(one)
    entries = (await audit.entries(Query(limit=1000, oldest_first=True))).entries
    assert (entries[0].status, entries[0].code) == ("gap", "records_lost")
    assert entries[0].size + len(entries) - 1 == 1000
    assert [entry.id for entry in entries[1:]] == [one.id for one in told[entries[0].size :]]
    assert (await audit.verify()).ok


async def test_entries_that_were_looked_at_give_way_to_newer_ones_and_the_rest_still_verifies() -> None:
    audit = MemoryAudit(hide, newest=100)
    for _ in range(10):
        for _ in range(30):
            audit.hand(record())
        await audit.settle()
    entries = (await audit.entries(Query(limit=1000))).entries
    assert [entry.seq for entry in entries] == list(range(300, 200, -1))
    verdict = await audit.verify()
    assert (verdict.ok, verdict.checked) == (True, 100)


@pytest.mark.parametrize("size", [1000, 5_000_000])
async def test_memory_is_bounded_by_bytes_too(size: int) -> None:
    audit = MemoryAudit(hide)
    arguments = b"x" * size
    for _ in range(4096):
        audit.hand(record(arguments=arguments))
    kept = len(audit._waiting)
    assert kept * size <= 64 * 1024 * 1024
