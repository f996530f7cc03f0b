"""A call with an idempotency key runs once; the same key gives back what was recorded."""

import asyncio
from typing import Any

import pytest

from tests.core.workbench import Bench, Watch, code
from toolcrib.core.call import Status
from toolcrib.core.errors import ToolFailed
from toolcrib.core.guard import deny
from toolcrib.core.tool import tool
from toolcrib.guards.once import JournalOnce
from toolcrib.services.record.journal import Claim, ClaimState
from toolcrib.stores.inprocess.journal import MemoryJournal


class Shop:
    """A tool that counts what it did, and a bench around it."""

    def __init__(self, journal: Any = None, **bench: Any) -> None:
        self.bought: list[str] = []
        self.trouble: Exception | None = None
        self.started, self.go_on = asyncio.Event(), asyncio.Event()

        @tool
        async def buy(what: str = "tea", more: int = 1) -> dict[str, object]:
            """Buy it."""
            self.bought.append(what)
            if self.trouble:
                raise self.trouble
            return {"bought": what, "more": more}

        @tool(effect="read")
        async def look(what: str = "tea") -> str:
            """Look at it."""
            self.bought.append(what)
            if self.trouble:
                raise self.trouble
            return what

        @tool
        async def hold() -> str:
            """Hold on."""
            self.bought.append("held")
            self.started.set()
            await self.go_on.wait()
            return "held"

        self.bench = Bench(buy, look, hold, once=JournalOnce(journal or MemoryJournal()), **bench)
        self.call = self.bench.call


@pytest.mark.meets("once:key:replayed")
async def test_the_same_key_gives_back_the_recorded_result_and_does_not_run_again() -> None:
    shop = Shop()
    first = await shop.call("buy", {"what": "tea", "more": 2}, key="k", id="c1")
    again = await shop.call("buy", '{ "more": 2, "what": "tea" }', key="k", id="c2")
    assert shop.bought == ["tea"]
    assert (again.id, again.replayed, again.status) == ("c2", True, Status.DONE)
    assert (again.text, again.structured) == (first.text, first.structured)
    assert again.as_json()["replayed"]
    assert "replayed" not in first.as_json()
    assert [record.id for record in shop.bench.records] == ["c1", "c2"]


async def test_without_a_key_or_with_another_one_it_runs_again() -> None:
    shop = Shop()
    for key in ("", "", "a", "b"):
        assert (await shop.call("buy", key=key)).ok
    assert len(shop.bought) == 4


async def test_a_key_means_something_only_for_one_agent_session_and_tool() -> None:
    shop = Shop()
    for name, session in (("buy", ""), ("buy", "s"), ("look", ""), ("look", "s")):
        assert not (await shop.call(name, key="k", session=session)).replayed
    assert len(shop.bought) == 4


@pytest.mark.meets("once:key:other-arguments")
async def test_the_same_key_with_other_arguments_is_refused() -> None:
    shop = Shop()
    await shop.call("buy", {"what": "tea"}, key="k")
    refused = await shop.call("buy", {"what": "rum"}, key="k")
    assert (refused.status, code(refused)) == (Status.REFUSED, "key_reused")
    assert shop.bought == ["tea"]


@pytest.mark.meets("once:key:concurrent")
async def test_of_two_calls_with_one_key_at_once_one_runs() -> None:
    shop = Shop()
    first = asyncio.ensure_future(shop.call("hold", key="k"))
    await shop.started.wait()
    second = await shop.call("hold", key="k")
    assert second.error is not None
    assert (second.error.code, second.error.retryable) == ("in_progress", True)
    shop.go_on.set()
    assert (await first).ok
    assert (await shop.call("hold", key="k")).replayed
    assert shop.bought == ["held"]


async def test_a_failure_of_a_tool_that_acts_is_replayed_and_that_of_a_read_is_tried_again() -> None:
    for trouble, expected in ((ToolFailed("Sold out.", code="sold_out"), "sold_out"), (KeyError("x"), "internal")):
        shop = Shop()
        shop.trouble = trouble
        assert code(await shop.call("buy", key="k")) == expected
        assert code(await shop.call("look", key="k")) == expected
        shop.trouble = None
        again = await shop.call("buy", key="k")
        assert (code(again), again.replayed) == (expected, True)
        assert (await shop.call("look", key="k")).text == "tea"


async def test_a_refusal_gives_the_key_back() -> None:
    closed = [True]
    guard = Watch(lambda _: deny("hours", "the shop is closed") if closed[0] else None)
    shop = Shop(guards=[guard])
    assert code(await shop.call("buy", key="k")) == "denied"
    closed[0] = False
    outcome = await shop.call("buy", key="k")
    assert outcome.ok
    assert not outcome.replayed


async def test_bad_arguments_do_not_take_the_key() -> None:
    shop = Shop()
    assert code(await shop.call("buy", {"what": 1}, key="k")) == "invalid_args"
    assert (await shop.call("buy", {"what": "tea"}, key="k")).ok


class Died(MemoryJournal):
    """A journal of a process that died in the middle."""

    async def claim(self, scope: str, key: str, fingerprint: str) -> Claim:
        return Claim(ClaimState.UNKNOWN)


async def test_a_call_that_was_cut_off_is_not_repeated_unless_it_only_reads() -> None:
    shop = Shop(Died())
    refused = await shop.call("buy", key="k")
    assert refused.error is not None
    assert (refused.error.code, refused.error.retryable) == ("unknown_outcome", False)
    assert not shop.bought
    assert (await shop.call("look", key="k")).ok


class Broken(MemoryJournal):
    """A journal that cannot be reached."""

    async def claim(self, scope: str, key: str, fingerprint: str) -> Claim:
        raise OSError("the store is gone")


async def test_without_a_journal_to_ask_the_tool_does_not_run() -> None:
    shop = Shop(Broken())
    outcome = await shop.call("buy", key="k")
    assert (outcome.status, code(outcome)) == (Status.REFUSED, "internal")
    assert not shop.bought
    assert len(shop.bench.records) == 1


async def test_after_a_cancel_a_key_is_not_told_to_be_running() -> None:
    shop = Shop()
    task = asyncio.ensure_future(shop.call("hold", key="k"))
    await shop.started.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert code(await shop.call("hold", key="k")) == "unknown_outcome"


class Forgetful(MemoryJournal):
    """A journal that cannot keep outcomes."""

    async def keep(self, scope: str, key: str, outcome: bytes) -> None:
        raise OSError("the disk is full")


async def test_a_call_that_ran_is_not_told_as_refused_when_its_outcome_cannot_be_kept() -> None:
    shop = Shop(Forgetful())
    outcome = await shop.call("buy", key="k")
    assert shop.bought == ["tea"]
    assert outcome.status is not Status.REFUSED
