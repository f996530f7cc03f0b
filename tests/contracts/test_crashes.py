"""What is left after a kill in the middle, and when several processes write at once."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.contracts.conftest import Place
from tests.contracts.records import ANNA, record
from toolcrib.services.record.audit import Query
from toolcrib.services.record.journal import ClaimState

CRASHER = Path(__file__).with_name("crasher.py")
HOUSE = Path(__file__).parents[2] / "src"


async def start(place: Place, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(CRASHER),
        place.url,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(HOUSE)},
    )


async def line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()


async def kill(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGKILL)
    await process.communicate()


@pytest.mark.meets("record:kill:nothing-lost")
async def test_a_kill_in_the_middle_of_writing_tears_nothing(place: Place) -> None:
    settled = 0
    for turn in range(3):
        writer = await start(place, "forever", f"turn{turn}")
        said = [int(await line(writer)) for _ in range(8)]
        await kill(writer)
        settled += said[-1]
    store = place.open()
    verdict = await store.audit.verify()
    assert verdict.ok, verdict.why
    assert verdict.checked >= settled
    entries = (await store.audit.entries(Query(limit=1_000_000, oldest_first=True))).entries
    for turn in range(3):
        mine = [entry.id for entry in entries if entry.id.startswith(f"turn{turn}-")]
        assert mine == [f"turn{turn}-{number}" for number in range(len(mine))]  # a prefix: nothing is missing inside


@pytest.mark.meets("audit:chain:two-writers")
async def test_two_processes_that_write_at_once_make_one_chain(place: Place) -> None:
    place.open()
    writers = [await start(place, "count", name, "400") for name in ("left", "right")]
    for writer in writers:
        assert await line(writer) == "done"
        await writer.wait()
    verdict = await place.open().audit.verify()
    assert (verdict.ok, verdict.checked) == (True, 800), verdict.why


async def test_two_processes_may_open_a_new_store_at_the_same_moment(bare_place: Place) -> None:
    writers = [await start(bare_place, "count", name, "1") for name in "abcd"]
    assert [await line(writer) for writer in writers] == ["done"] * 4
    for writer in writers:
        await writer.wait()


@pytest.mark.meets("record:kill:nothing-lost")
async def test_a_call_whose_process_died_shows_as_interrupted_and_one_that_runs_does_not(place: Place) -> None:
    child = await start(place, "hang", "child")
    assert await line(child) == "hanging"
    early = place.open()
    assert (await early.audit.entries()).entries == ()  # it runs: the child lives
    assert (await early.journal.claim("scope", "key", "print")).state is ClaimState.RUNNING
    await kill(child)
    store = place.open()
    (entry,) = (await store.audit.entries()).entries
    assert (entry.id, entry.tool, entry.status, entry.code) == ("child-call", "slow", "cancelled", "interrupted")
    assert entry.arguments == '{"password":"[secret]"}'
    assert entry.seconds > 0
    assert (await store.audit.verify()).ok
    assert (await store.journal.claim("scope", "key", "print")).state is ClaimState.UNKNOWN
    place.open()
    assert len((await store.audit.entries()).entries) == 1  # told once, not at each start


async def test_a_running_call_of_this_process_is_not_declared_dead_by_a_second_store(place: Place) -> None:
    first = place.open()
    first.audit.began("slow", 1.0, ANNA, "slow", b"{}")
    await first.audit.settle()
    assert place.ask("SELECT id FROM tc_inflight") == [("slow",)]
    second = place.open()
    first.audit.hand(record(id="slow"))
    await first.audit.settle()
    assert [entry.status for entry in (await second.audit.entries()).entries] == ["done"]
    assert place.ask("SELECT id FROM tc_inflight") == []


async def test_a_silent_process_on_another_machine_counts_as_gone(place: Place) -> None:
    store = place.open()
    for name, beat in (("silent", 5.0), ("lively", 9e12)):
        place.execute(
            "INSERT INTO tc_inflight VALUES (:owner, :id, 1.0, 'a', '', '', '', 'slow', '{}', :beat)",
            owner=f"elsewhere|{name}|1|x",
            id=name,
            beat=beat,
        )
    place.open()
    assert [entry.id for entry in (await store.audit.entries()).entries] == ["silent"]
    assert place.ask("SELECT id FROM tc_inflight") == [("lively",)]


async def test_everything_handed_over_is_written_when_the_program_just_ends(place: Place) -> None:
    code = (
        "import sys, time; from toolcrib.stores import sql; from toolcrib.core.call import *\n"
        "store = sql.open_store(sys.argv[1], scrub=str)\n"
        "for n in range(100): store.audit.hand(Record(id=str(n), at=time.time(), caller=Caller(agent='a'), tool='t',"
        " arguments=b'{}', status=Status.DONE))\n"
    )
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, place.url, env={"PYTHONPATH": str(HOUSE)}
    )
    assert await program.wait() == 0
    assert (await place.open().audit.verify()).checked == 100
