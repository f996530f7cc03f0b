"""The calls of one model step: side by side where that is safe, answered in order, whatever happens to one."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import examples
from tests.core.workbench import Bench, code
from toolcrib.core.batch import AT_ONCE, QUIET_ENOUGH, Stop, batches, run_batch
from toolcrib.core.call import Caller, Outcome, Request, Status
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import tool


class Stage:
    """Tools that say when they run, and how many at once."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.running = self.most = 0
        self.go = asyncio.Event()
        self.started = asyncio.Event()

        @tool(effect="read", parallel=True)
        async def look(name: str) -> str:
            """Look."""
            return await self.play(name)

        @tool(effect="write", parallel=True)
        async def mark(name: str) -> str:
            """Mark."""
            return await self.play(name)

        @tool(effect="read")
        async def alone(name: str) -> str:
            """Alone."""
            return await self.play(name)

        @tool(parallel=True)
        async def wrong(name: str) -> str:
            """Fail."""
            raise ToolFailed(f"{name} went wrong", code="wrong")

        @tool(parallel=True, inline=True)
        def quick(name: str) -> str:
            """Quick."""
            return name

        @tool(parallel=True)
        async def hold(name: str) -> str:
            """Hold on."""
            self.log.append(name)
            self.started.set()
            await self.go.wait()
            return name

        self.bench = Bench(look, mark, alone, wrong, quick, hold)

    async def play(self, name: str) -> str:
        self.log.append(f"+{name}")
        self.running += 1
        self.most = max(self.most, self.running)
        for _ in range(3):
            await asyncio.sleep(0)
        self.running -= 1
        self.log.append(f"-{name}")
        return name

    async def run(self, *calls: str, stop: Stop | None = None, at_once: int = AT_ONCE) -> list[Outcome]:
        """Each call is `tool:name`; the name is the call's id too."""
        bench, caller = self.bench, Caller(agent="ada")
        view = bench.view()

        async def one(request: Request) -> Outcome:
            return await bench.runner.call(bench.resolver, view, caller, request)

        def skip(request: Request) -> Outcome:
            return bench.runner.skip(view, caller, request)

        return await run_batch(view, caller, list(map(asked, calls)), one, stop=stop, at_once=at_once, skip=skip)


def asked(call: str) -> Request:
    name, _, label = call.partition(":")
    return Request(name, {"name": label}, label)


def ids(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.id for outcome in outcomes]


@pytest.mark.meets("batch:safe:fuses", "batch:other:alone")
def test_a_run_of_safe_calls_is_one_batch_and_every_other_call_is_alone() -> None:
    calls = ["look:1", "mark:2", "alone:3", "alone:4", "look:5", "nothing:6", "look:7", "quick:8"]
    cut = batches(Stage().bench.view(), list(map(asked, calls)))
    assert [[request.id for request in batch] for batch in cut] == [["1", "2"], ["3"], ["4"], ["5"], ["6"], ["7", "8"]]


@pytest.mark.meets("batch:safe:fuses")
async def test_safe_calls_really_overlap() -> None:
    met = asyncio.Barrier(3)

    @tool(parallel=True)
    async def meet() -> str:
        """Meet the others."""
        await met.wait()
        return "met"

    bench, caller = Bench(meet), Caller(agent="ada")
    view = bench.view()

    async def one(request: Request) -> Outcome:
        return await bench.runner.call(bench.resolver, view, caller, request)

    outcomes = await run_batch(
        view, caller, [Request("meet")] * 3, one, skip=lambda r: bench.runner.skip(view, caller, r)
    )
    assert [outcome.text for outcome in outcomes] == ["met"] * 3


@pytest.mark.meets("batch:other:alone")
async def test_other_calls_run_one_after_the_other_in_order() -> None:
    stage = Stage()
    await stage.run("alone:a", "alone:b", "look:c", "look:d", "alone:e")
    assert stage.log == ["+a", "-a", "+b", "-b", "+c", "+d", "-c", "-d", "+e", "-e"]


@pytest.mark.meets("batch:order:kept", "batch:safe:cap")
@pytest.mark.parametrize("at_once", [1, 2, AT_ONCE])
async def test_no_more_than_the_cap_run_at_once_and_results_keep_the_order(at_once: int) -> None:
    stage = Stage()
    names = [f"n{i:02d}" for i in range(23)]
    outcomes = await stage.run(*(f"look:{name}" for name in names), at_once=at_once)
    assert ids(outcomes) == names
    assert [outcome.text for outcome in outcomes] == names
    assert stage.most == at_once
    assert AT_ONCE == 10


@pytest.mark.meets("batch:failure:others-run")
async def test_the_failure_of_one_does_not_stop_the_others() -> None:
    outcomes = await Stage().run("look:a", "wrong:b", "look:c", "nothing:d", "alone:e")
    assert [code(outcome) for outcome in outcomes] == ["", "wrong", "", "unknown_tool", ""]


async def test_calls_that_never_wait_keep_their_place_among_those_that_do() -> None:
    stage = Stage()
    await stage.run(*(f"quick:{i}" for i in range(QUIET_ENOUGH)))
    names = ["look:a", "quick:b", "look:c", "quick:d"]
    assert ids(await stage.run(*names)) == ["a", "b", "c", "d"]
    assert ids(await stage.run("quick:a", "quick:b")) == ["a", "b"]


@pytest.mark.meets("batch:cancel:every-id-answered")
async def test_after_a_stop_every_id_is_answered() -> None:
    stage, stop = Stage(), Stop()
    running = asyncio.ensure_future(
        stage.run("look:a", "alone:b", "hold:c", "hold:d", "alone:e", "look:f", stop=stop, at_once=1)
    )
    await stage.started.wait()
    stop()
    outcomes = await running
    assert ids(outcomes) == ["a", "b", "c", "d", "e", "f"]
    assert [outcome.status for outcome in outcomes] == [Status.DONE] * 2 + [Status.CANCELLED] * 4
    assert [code(outcome) for outcome in outcomes[2:]] == ["cancelled"] * 4
    assert stage.log.count("c") == 1
    assert "d" not in stage.log
    assert "+e" not in stage.log


async def test_a_stop_before_the_start_runs_nothing() -> None:
    stage, stop = Stage(), Stop()
    stop()
    outcomes = await stage.run("look:a", "alone:b", stop=stop)
    assert [outcome.status for outcome in outcomes] == [Status.CANCELLED] * 2
    assert not stage.log


async def test_calls_that_a_stop_kept_from_beginning_are_recorded_too() -> None:
    stage, stop = Stage(), Stop()
    running = asyncio.ensure_future(stage.run("hold:a", "alone:b", stop=stop))
    await stage.started.wait()
    stop()
    await running
    assert [(record.id, record.code) for record in stage.bench.records] == [("a", "cancelled"), ("b", "cancelled")]


async def test_who_cancels_the_whole_batch_leaves_nothing_running() -> None:
    stage = Stage()
    running = asyncio.ensure_future(stage.run("hold:a", "hold:b", "look:c"))
    await stage.started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert {record.status for record in stage.bench.records if record.tool == "hold"} == {Status.CANCELLED}
    assert len(stage.bench.records) == 3


calls = st.lists(st.sampled_from(("look", "mark", "alone", "wrong", "quick", "nothing")), max_size=14)


@pytest.mark.meets("batch:order:kept", "batch:failure:others-run")
@settings(deadline=None, max_examples=100)
@given(calls, st.integers(1, 12))
def test_any_batch_is_answered_in_order_with_one_record_each(names: list[str], at_once: int) -> None:
    async def run() -> tuple[Stage, list[Outcome]]:
        stage = Stage()
        return stage, await stage.run(*(f"{name}:{i}" for i, name in enumerate(names)), at_once=at_once)

    stage, outcomes = asyncio.run(run())
    assert ids(outcomes) == [str(i) for i in range(len(names))]
    assert sorted(record.id for record in stage.bench.records) == sorted(ids(outcomes))
    assert stage.most <= at_once
    events: list[Any] = stage.log
    for i, name in enumerate(names):
        if name == "alone":  # nothing stands between its begin and its end
            at = events.index(f"+{i}")
            assert events[at + 1] == f"-{i}"
    examples.count()
