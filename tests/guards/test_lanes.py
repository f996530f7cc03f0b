"""Inside a team: daily operations together up to a number, an org operation alone, in order of arrival."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import examples
from tests.core.test_resolver import made
from tests.core.workbench import Bench
from tests.guards.calls import call
from toolcrib.core.call import Status
from toolcrib.core.guard import Call
from toolcrib.core.tool import Effect, Family, Lane
from toolcrib.guards.lanes import AT_ONCE, Lanes

DAILY, ORG = made("daily"), made("org", lane=Lane.ORG)


class Floor:
    """What runs, and what has run."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.log: list[str] = []
        self.daily = self.org = self.most = 0
        self.wrong: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.begun: dict[str, asyncio.Event] = {}

    def start(self, name: str, *, org: bool = False, team: str = "t") -> "asyncio.Task[Any]":
        """Begin an operation that runs until its gate opens."""
        self.gates[name], self.begun[name] = asyncio.Event(), asyncio.Event()

        async def body(asked: Call) -> str:
            self._enter(name, org=org)
            self.begun[name].set()
            try:
                await self.gates[name].wait()
            finally:
                self._leave(org=org)
            return name

        entered: Awaitable[Any] = self.lanes(call(ORG if org else DAILY, team=team), body)
        return asyncio.ensure_future(entered)

    def _enter(self, name: str, *, org: bool) -> None:
        if self.org or (org and self.daily):
            self.wrong.append(name)
        self.log.append(name)
        self.org += org
        self.daily += not org
        self.most = max(self.most, self.daily)

    def _leave(self, *, org: bool) -> None:
        self.org -= org
        self.daily -= not org


async def settle() -> None:
    """Let everything that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.meets("lane:daily:cap")
@pytest.mark.parametrize("cap", [1, 3, AT_ONCE])
async def test_daily_operations_run_together_up_to_the_cap(cap: int) -> None:
    floor = Floor(Lanes(cap))
    tasks = [floor.start(f"d{i}") for i in range(cap + 2)]
    await settle()
    assert floor.daily == cap
    assert floor.lanes.state("t") == {
        "active_daily_ops": cap, "saturation": True, "org_op_pending": False, "waiting": 2,
    }  # fmt: skip
    for gate in floor.gates.values():
        gate.set()
    await asyncio.gather(*tasks)
    assert floor.most == cap
    assert floor.log == [f"d{i}" for i in range(cap + 2)]
    assert AT_ONCE == 5


@pytest.mark.meets("lane:org:drains")
async def test_an_org_operation_waits_for_the_running_ones_runs_alone_and_opens_the_gate() -> None:
    floor = Floor(Lanes())
    one, two = floor.start("one"), floor.start("two")
    await settle()
    org, late = floor.start("org", org=True), floor.start("late")
    await settle()
    assert floor.log == ["one", "two"]  # no new admission, nothing aborted
    assert floor.lanes.state("t")["org_op_pending"]
    floor.gates["one"].set()
    await one
    await settle()
    assert floor.log == ["one", "two"]
    floor.gates["two"].set()
    await two
    await floor.begun["org"].wait()
    assert floor.log == ["one", "two", "org"]
    floor.gates["org"].set()
    floor.gates["late"].set()
    await asyncio.gather(org, late)
    assert floor.log == ["one", "two", "org", "late"]
    assert not floor.wrong
    assert floor.lanes.state("t")["waiting"] == 0


@pytest.mark.meets("lane:org:drains")
async def test_org_operations_run_one_at_a_time() -> None:
    floor = Floor(Lanes())
    tasks = [floor.start(f"o{i}", org=True) for i in range(3)]
    for i, task in enumerate(tasks):
        await settle()
        assert floor.log == [f"o{n}" for n in range(i + 1)]
        floor.gates[f"o{i}"].set()
        await task
    assert not floor.wrong


async def test_who_was_stopped_while_it_waited_does_not_take_away_the_gate_of_those_who_came_later() -> None:
    floor = Floor(Lanes(1))
    first = floor.start("first")
    await settle()
    stopped = floor.start("stopped")
    await settle()
    # In one step, in this order: the first leaves, two come to a gate of their own, and the stopped one wakes.
    floor.gates["first"].set()
    second, third = floor.start("second"), floor.start("third")
    stopped.cancel()
    await settle()
    last = floor.start("last")
    await settle()
    assert floor.log == ["first", "second"]
    for gate in floor.gates.values():
        gate.set()
    await asyncio.gather(first, stopped, second, third, last, return_exceptions=True)
    assert (floor.most, floor.log) == (1, ["first", "second", "third", "last"])


async def test_teams_do_not_wait_for_each_other() -> None:
    floor = Floor(Lanes(1))
    tasks = [floor.start("a", org=True, team="a"), floor.start("b", team="b")]
    await settle()
    assert sorted(floor.log) == ["a", "b"]
    for gate in floor.gates.values():
        gate.set()
    await asyncio.gather(*tasks)
    assert not floor.lanes._gates


@pytest.mark.parametrize("org", [True, False])
async def test_who_is_cancelled_while_waiting_holds_nobody_up(org: bool) -> None:
    floor = Floor(Lanes(1))
    first = floor.start("first")
    await settle()
    waiting, last = floor.start("waiting", org=org), floor.start("last")
    await settle()
    waiting.cancel()
    floor.gates["first"].set()
    floor.gates["last"].set()
    await asyncio.gather(first, last)
    assert floor.log == ["first", "last"]
    assert not floor.lanes._gates


async def test_who_is_cancelled_at_the_moment_of_admission_gives_the_place_on() -> None:
    floor = Floor(Lanes(1))
    first, second, third = floor.start("first"), floor.start("second"), floor.start("third")
    await settle()
    for gate in floor.gates.values():
        gate.set()
    first.add_done_callback(lambda _: second.cancel())
    await asyncio.gather(first, second, third, return_exceptions=True)
    assert floor.log[-1] == "third"
    assert not floor.lanes._gates


async def test_the_last_of_a_team_takes_its_gate_away_also_when_it_is_cancelled_at_its_admission() -> None:
    floor = Floor(Lanes(1))

    async def ends(asked: Call) -> str:
        return asked.tool.name

    async def first_and_then_cancel() -> None:
        await floor.lanes(call(DAILY, team="t"), ends)
        second.cancel()  # in the step that has just let it in

    blocker = floor.start("blocker")
    await settle()
    first = asyncio.ensure_future(first_and_then_cancel())
    await settle()
    second = floor.start("second")
    await settle()
    floor.gates["blocker"].set()
    await asyncio.gather(blocker, first, second, return_exceptions=True)
    assert second.cancelled()
    assert floor.log == ["blocker"]
    assert not floor.lanes._gates


steps = st.lists(st.tuples(st.sampled_from(("daily", "org", "end", "cancel")), st.integers(0, 9)), max_size=30)


@pytest.mark.meets("lane:daily:cap", "lane:org:drains")
@settings(deadline=None, max_examples=150)
@given(steps, st.integers(1, 4))
@example([("daily", 4), ("org", 3), ("end", 7), ("daily", 4), ("cancel", 3), ("daily", 7)], 3)  # comes while one wakes
def test_whatever_comes_and_goes_the_cap_holds_org_is_alone_and_all_get_their_turn(
    asked: list[tuple[str, int]], cap: int
) -> None:
    async def run() -> Floor:
        floor = Floor(Lanes(cap))
        tasks: dict[str, asyncio.Task[Any]] = {}
        gone = set[str]()
        for i, (what, which) in enumerate(asked):
            name = f"{i:02d}"
            if what in {"daily", "org"}:
                tasks[name] = floor.start(name, org=what == "org")
            elif tasks:
                chosen = list(tasks)[which % len(tasks)]
                if what == "end":
                    floor.gates[chosen].set()
                else:
                    tasks[chosen].cancel()
                    gone.add(chosen)
            await asyncio.sleep(0)
        for gate in floor.gates.values():
            gate.set()
        await asyncio.wait_for(asyncio.gather(*tasks.values(), return_exceptions=True), 5)
        assert set(tasks) - gone <= set(floor.log)
        assert floor.lanes.state("t")["waiting"] == floor.lanes.state("t")["active_daily_ops"] == 0
        return floor

    floor = asyncio.run(run())
    assert not floor.wrong
    assert floor.most <= cap
    assert floor.log == sorted(floor.log)  # in order of arrival
    examples.count()


async def test_in_the_pipeline_only_calls_of_a_team_wait() -> None:
    family = Family(name="f", label="F", about="F.", icon="f")
    started, go_on = asyncio.Event(), asyncio.Event()

    @family.tool(Effect.WRITE, lane=Lane.ORG)
    async def move(*, team: bool) -> str:
        """Move."""
        if team:
            started.set()
            await go_on.wait()
        return "moved"

    lanes = Lanes()
    bench = Bench(*family.tools, team_rings=[lanes])
    held: Callable[..., Awaitable[Any]] = bench.call
    first = asyncio.ensure_future(held("move", {"team": True}, team="t"))
    await started.wait()
    second = asyncio.ensure_future(held("move", {"team": True}, team="t"))
    assert (await bench.call("move", {"team": False})).ok
    await settle()
    assert lanes.state("t")["waiting"] == 1
    second.cancel()
    go_on.set()
    assert (await first).ok
    await asyncio.gather(second, return_exceptions=True)
    assert [record.status for record in bench.records].count(Status.CANCELLED) == 1
