"""Whole results, kept in memory or as files, for who made them."""

import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from toolcrib.core.call import Attachment, Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.results import FileResults
from toolcrib.services.store import StoreError
from toolcrib.stores.inprocess.results import MemoryResults

ANNA = Caller(agent="anna", session="s1")


@pytest.fixture(params=["memory", "files"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Makes results of each kind."""
    if request.param == "memory":
        return MemoryResults
    return lambda **options: FileResults(tmp_path / "results", **options)


async def refused(results: Any, call: str, caller: Caller = ANNA) -> None:
    with pytest.raises(ToolFailed) as caught:
        await results.read(call, caller)
    assert caught.value.as_fault().code == "result_not_found"


async def test_a_result_is_read_back_as_it_was(make: Any) -> None:
    results = make()
    picture = Attachment(name="p.png", media_type="image/png", data=b"\x89\x00")
    await results.keep("c1", ANNA, "ganz\r\n\0 groß 😀", [picture])
    found = await results.read("c1", ANNA)
    assert (found.text, found.attachments) == ("ganz\r\n\0 groß 😀", (picture,))


async def test_only_the_agent_and_session_that_made_it_may_read_it(make: Any) -> None:
    results = make()
    await results.keep("c1", ANNA, "secret")
    for other in (Caller(agent="bert", session="s1"), Caller(agent="anna", session="s2"), Caller(agent="anna")):
        await refused(results, "c1", other)
    await refused(results, "c2")
    await refused(results, "../c1")


async def test_one_callers_result_does_not_replace_anothers_of_the_same_id(make: Any) -> None:
    results = make()
    await results.keep("c1", ANNA, "first")
    await results.keep("c1", Caller(agent="bert", session="s1"), "second")
    await results.keep("c1", ANNA, "third")
    assert (await results.read("c1", ANNA)).text == "third"


async def test_the_oldest_give_way_when_there_is_too_much(make: Any) -> None:
    results = make(most=2500)
    for number in range(5):
        await results.keep(f"c{number}", ANNA, "x" * 1000)
    await refused(results, "c0")
    assert (await results.read("c4", ANNA)).text == "x" * 1000


async def test_results_are_gone_after_their_time(make: Any) -> None:
    results = make(seconds=-1)
    await results.keep("c1", ANNA, "x")
    await refused(results, "c1")


async def test_only_the_owner_may_look_at_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "results"
    await FileResults(folder).keep("c1", ANNA, "x")
    (path,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "anna" not in path.name


async def test_old_files_and_drafts_of_dead_processes_are_removed(tmp_path: Path) -> None:
    results = FileResults(tmp_path / "results")
    await results.keep("c1", ANNA, "x")
    (tmp_path / "results" / "half.draft").write_text("x")
    for path in (tmp_path / "results").iterdir():
        os.utime(path, (1.0, 1.0))
    await FileResults(tmp_path / "results").keep("c2", ANNA, "y")  # one that has just begun looks at once
    assert len(list((tmp_path / "results").iterdir())) == 1


async def test_thousands_of_files_cost_no_more_each_than_a_few_and_stay_within_bounds(tmp_path: Path) -> None:
    results = FileResults(tmp_path / "results", most=1_500_000)
    began = time.process_time()
    for number in range(3000):
        await results.keep(f"c{number}", ANNA, "x" * 1000)
    assert time.process_time() - began < 4  # with a look at all of them each time it would be some twenty
    held = sum(path.stat().st_size for path in (tmp_path / "results").iterdir())
    assert 1_000_000 < held <= 1_500_000
    assert (await results.read("c2999", ANNA)).text == "x" * 1000


async def test_a_file_that_was_damaged_is_as_good_as_gone(tmp_path: Path) -> None:
    results = FileResults(tmp_path / "results")
    await results.keep("c1", ANNA, "x")
    for path in (tmp_path / "results").iterdir():
        path.write_bytes(b"\xff\x00 rubbish")
    await refused(results, "c1")


async def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="could not be kept"):
        await FileResults(tmp_path / "file" / "results").keep("c1", ANNA, "x")
