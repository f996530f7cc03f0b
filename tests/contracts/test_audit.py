"""What every audit keeps, and how it is asked for."""

import asyncio
import gc
from typing import Any

import msgspec
import pytest

from tests.contracts.records import ANNA, BERT, record
from toolcrib.core.call import Caller, Status
from toolcrib.services.record.audit import Entry, Head, Query
from toolcrib.services.record.chain import START, verified


@pytest.mark.meets("store:contract:inprocess", "store:contract:sqlite", "store:contract:postgres")
async def test_an_entry_says_all_that_the_record_said(store: Any) -> None:
    told = record(
        caller=BERT,
        tool="read_file",
        arguments=b'{"path":"a.txt"}',
        status=Status.REFUSED,
        code="denied",
        verdicts=("path: deny", 'say "x"'),
        approval="ap-1",
        generation=7,
    )
    store.audit.hand(told)
    (entry,) = (await store.audit.entries()).entries
    assert (entry.seq, entry.id, entry.at, entry.tool) == (1, told.id, told.at, "read_file")
    assert (entry.agent, entry.user, entry.session) == ("bert", "u2", "s2")
    assert msgspec.json.decode(entry.context) == {"depth": 1, "channel": "mail"}
    assert (entry.arguments, entry.status, entry.code) == ('{"path":"a.txt"}', "refused", "denied")
    assert (entry.seconds, entry.size, entry.generation) == (0.25, 3, 7)
    assert (entry.verdicts, entry.approval) == (("path: deny", 'say "x"'), "ap-1")
    assert (entry.previous, len(entry.hash)) == (START, 64)


async def test_arguments_are_scrubbed_before_they_are_kept(store: Any) -> None:
    store.audit.hand(record(arguments=b'{"password":"hunter2"}'))
    (entry,) = (await store.audit.entries()).entries
    assert entry.arguments == '{"password":"[secret]"}'


async def test_entries_keep_the_order_in_which_they_were_handed_over(store: Any) -> None:
    told = [record() for _ in range(3000)]
    for one in told:
        store.audit.hand(one)
    await store.audit.settle()
    page = await store.audit.entries(Query(limit=5000, oldest_first=True))
    assert [entry.id for entry in page.entries] == [one.id for one in told]
    assert [entry.seq for entry in page.entries] == list(range(1, 3001))
    assert (await store.audit.verify()).checked == 3000


async def test_each_entry_follows_the_hash_before_it(store: Any) -> None:
    for _ in range(5):
        store.audit.hand(record())
    entries = (await store.audit.entries(Query(oldest_first=True))).entries
    assert [entry.previous for entry in entries] == [START, *(entry.hash for entry in entries[:-1])]
    assert await store.audit.head() == Head(5, entries[-1].hash)
    verdict = await store.audit.verify()
    assert (verdict.ok, verdict.checked, verdict.broken_seq) == (True, 5, None)


async def test_an_empty_audit_is_in_order(store: Any) -> None:
    verdict = await store.audit.verify()
    assert (verdict.ok, verdict.checked) == (True, 0)
    assert (await store.audit.entries()).entries == ()


@pytest.mark.meets("audit:filter:fields")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        (Query(agent="bert"), [3, 2]),
        (Query(tool="grep"), [3, 1]),
        (Query(user="u1"), [4, 1, 0]),
        (Query(session="s2"), [3, 2]),
        (Query(status="failed"), [2]),
        (Query(code="not_found"), [2]),
        (Query(id="call-x3"), [3]),
        (Query(since=20.0, until=40.0), [2, 1]),
        (Query(agent="bert", tool="grep"), [3]),
        (Query(agent="nobody"), []),
        (Query(oldest_first=True), [0, 1, 2, 3, 4]),
    ],
)
async def test_entries_are_found_by_what_is_asked(store: Any, query: Query, found: list[int]) -> None:
    kept = [
        record(id="call-x0", at=10.0),
        record(id="call-x1", at=20.0, tool="grep"),
        record(id="call-x2", at=30.0, caller=BERT, status=Status.FAILED, code="not_found"),
        record(id="call-x3", at=40.0, caller=BERT, tool="grep"),
        record(id="call-x4", at=50.0),
    ]
    for one in kept:
        store.audit.hand(one)
    page = await store.audit.entries(query)
    assert [entry.id for entry in page.entries] == [f"call-x{number}" for number in found]
    assert page.cursor is None


@pytest.mark.parametrize("oldest_first", [True, False])
async def test_pages_follow_each_other_without_gap_or_repeat(store: Any, oldest_first: bool) -> None:
    for _ in range(10):
        store.audit.hand(record())
    seen: list[int] = []
    cursor = None
    while True:
        page = await store.audit.entries(Query(limit=4, cursor=cursor, oldest_first=oldest_first))
        seen += [entry.seq for entry in page.entries]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == (list(range(1, 11)) if oldest_first else list(range(10, 0, -1)))


async def test_an_export_can_be_checked_without_the_store(store: Any) -> None:
    for number in range(2500):
        store.audit.hand(record(verdicts=("a", "b") if number % 2 else (), arguments='{"é":"ü"}'.encode()))
    lines = [msgspec.json.encode(told) async for told in store.audit.export()]
    entries = [msgspec.json.decode(line, type=Entry) for line in lines]
    assert verified(entries, await store.audit.head()).ok
    entries[1200] = msgspec.structs.replace(entries[1200], agent="mallory")
    assert verified(entries, await store.audit.head()).broken_seq == 1201


async def test_an_export_holds_what_is_asked_for(store: Any) -> None:
    store.audit.hand(record(tool="grep"))
    store.audit.hand(record())
    assert [told["tool"] async for told in store.audit.export(Query(tool="grep"))] == ["grep"]


async def test_a_durable_record_is_there_when_the_wait_ends(store: Any) -> None:
    told = record()
    await store.audit.durable(told)
    assert [entry.id for entry in (await store.audit.entries()).entries] == [told.id]


async def test_text_that_a_database_cannot_take_is_kept_in_a_form_that_it_can(store: Any) -> None:
    odd = Caller(agent="a\0b", user="u\ud800", session="s")
    store.audit.hand(record(caller=odd, tool="no\0such", arguments=b'{"a": \xff\xfe not JSON \x00'))
    (entry,) = (await store.audit.entries()).entries
    assert (entry.agent, entry.user, entry.tool) == ("a\ufffdb", "u?", "no\ufffdsuch")
    assert "not JSON" in entry.arguments
    assert (await store.audit.verify()).ok


async def test_long_arguments_are_cut_and_their_digest_is_kept(store: Any) -> None:
    store.audit.hand(record(arguments=b'{"content":"%b"}' % (b"x" * 100_000)))
    (entry,) = (await store.audit.entries()).entries
    told = msgspec.json.decode(entry.arguments)
    assert (told["characters"], len(told["sha256"])) == (100_014, 64)
    assert len(entry.arguments) < 40_000


async def test_a_scrubber_that_fails_lets_nothing_through(store: Any) -> None:
    def fails(text: str) -> str:
        raise ValueError(text)

    store.audit._drafts._scrub = fails
    store.audit.hand(record(arguments=b'{"password":"hunter2"}'))
    (entry,) = (await store.audit.entries()).entries
    assert "hunter2" not in entry.arguments
    assert "withheld" in entry.arguments


async def test_a_call_that_ends_leaves_one_entry_however_it_was_marked(store: Any) -> None:
    for pause in (False, True):
        told = record(id=f"marked-{pause}")
        store.audit.began(told.id, told.at, ANNA, told.tool, told.arguments)
        if pause:
            await store.audit.settle()
        store.audit.hand(told)
    await store.audit.settle()
    assert [entry.id for entry in (await store.audit.entries()).entries] == ["marked-True", "marked-False"]


async def test_records_handed_over_by_many_threads_are_all_kept(store: Any) -> None:
    def some() -> None:
        for _ in range(200):
            store.audit.hand(record())

    await asyncio.gather(*(asyncio.to_thread(some) for _ in range(8)))
    await store.audit.settle()
    assert (await store.audit.verify()).checked == 1600


async def test_handing_over_keeps_no_caller_alive_for_ever(store: Any) -> None:
    for number in range(2000):
        store.audit.hand(record(caller=Caller(agent=f"agent-{number}")))
    await store.audit.settle()
    gc.collect()
    assert len(store.audit._drafts._callers) <= 256
