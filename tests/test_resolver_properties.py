"""The properties of grants.md, and the resolver against a second, slow reading of the same rule.

The examples are the same in every run; TOOLCRIB_PROPERTY_SEED=<number> tries others.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests import examples, reference, worlds
from toolcrib.core.call import Caller, Record, Request, Spawn
from toolcrib.core.explain import explain, explain_all
from toolcrib.core.policy import AgentRules, Grants, Policy
from toolcrib.core.resolver import Resolver, Seat, seat_of
from toolcrib.core.run import Runner
from toolcrib.core.shape import Shaper
from toolcrib.core.tool import Effect, Tool

SEED = os.environ.get("TOOLCRIB_PROPERTY_SEED", "")
F = TypeVar("F", bound=Callable[..., Any])
Present = tuple[Tool, ...]


def tried(times: int) -> Callable[[F], F]:
    """Run a property so many times."""

    def decorate(test: F) -> F:
        ready = settings(
            max_examples=times,
            deadline=None,
            database=None,
            derandomize=not SEED,
            suppress_health_check=[HealthCheck.too_slow],
        )(test)
        return seed(int(SEED))(ready) if SEED else ready

    return decorate


def held(present: Present, rules: Grants, seat: Seat) -> set[str]:
    return set(Resolver(worlds.registry_of(present), rules).view(seat).names)


@pytest.mark.meets("resolve:property:reference", "explain:all:agrees")
@tried(2500)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats)
def test_the_resolver_and_explain_agree_with_the_reference(present: Present, rules: Grants, seat: Seat) -> None:
    resolver = Resolver(worlds.registry_of(present), rules)
    expected = reference.evaluate(worlds.world_of(present, rules), seat)
    view = resolver.view(seat)
    assert set(view.names) == {name for name, answer in expected.items() if answer.issued}
    told = list(explain_all(resolver, seat))
    assert {one.tool: one.issued for one in told} == {name: answer.issued for name, answer in expected.items()}
    # A deferred tool is held; the step that says why it is not in the prompt is told instead of the grant.
    steps = {one.tool: one.step for one in told if one.step != "deferred"}
    assert steps == {name: expected[name].step for name in steps}
    assert {one.tool for one in told if one.step == "deferred"} == {tool.name for tool in view.deferred}
    examples.count()


@pytest.mark.meets("toolbox:adding:never-removes")
@tried(400)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats, more=st.sampled_from(worlds.BOXES))
def test_adding_a_toolbox_never_removes_a_tool(present: Present, rules: Grants, seat: Seat, more: str) -> None:
    """Policy apart, which looks at tools and not at boxes. An agent without boxes has the floor, which an exact box
    is there to replace; to anybody else every box only adds.
    """
    seat = replace(seat, toolboxes=None)
    boxes = rules.agents[seat.agent].toolboxes or ("one",)
    before = held(present, worlds.with_agent(rules, seat.agent, toolboxes=boxes), seat)
    after = held(present, worlds.with_agent(rules, seat.agent, toolboxes=(*boxes, more)), seat)
    assert before <= after
    examples.count()


@pytest.mark.meets("toolbox:adding:never-removes")
@tried(300)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats, again=st.randoms(use_true_random=False))
def test_the_order_of_boxes_and_lists_and_resolving_twice_change_nothing(
    present: Present, rules: Grants, seat: Seat, again: Any
) -> None:
    def mixed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(again.sample(names, len(names)))

    agent = rules.agents[seat.agent]
    other = worlds.with_agent(rules, seat.agent, toolboxes=mixed(agent.toolboxes), deny=mixed(agent.deny))
    turned = seat if seat.toolboxes is None else replace(seat, toolboxes=mixed(seat.toolboxes))
    resolver = Resolver(worlds.registry_of(present), rules)
    first, second = resolver.resolve(seat), resolver.resolve(seat)
    assert first.names == second.names
    assert [tool.name for tool in first.shown] == [tool.name for tool in second.shown]
    assert set(first.names) == held(tuple(mixed(present)), other, turned)  # type: ignore[arg-type] - tools, as well mixed
    examples.count()


@pytest.mark.meets("toolbox:wildcard:not-mcp", "toolbox:wildcard:not-plugin", "toolbox:wildcard:native-and-custom")
@tried(300)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats)
def test_a_star_grants_native_and_custom_tools_and_never_mcp_or_plugin_tools(
    present: Present, rules: Grants, seat: Seat
) -> None:
    box = replace(rules.toolboxes["one"], tools=("*",))
    open_policy = replace(rules, toolboxes={**rules.toolboxes, "one": box}, policy=Policy(max_spawn_depth=9))
    agent = AgentRules(name=seat.agent, toolboxes=("one",), allowed_toolkits=rules.agents[seat.agent].allowed_toolkits)
    bare = replace(open_policy, agents={seat.agent: agent})
    sat = replace(seat, toolboxes=None, loaded=(), granted=(), only=None, spawn=None)
    resolver = Resolver(worlds.registry_of(present), bare)
    view = resolver.view(sat)
    assert {tool.source for tool in view} <= {"native", "custom"}
    there = {one.tool for one in explain_all(resolver, sat) if one.step != "universe"}
    own = {tool.name for tool in present if tool.source in {"native", "custom"}}
    assert set(view.names) == there & own
    examples.count()


@pytest.mark.meets("resolve:hard-deny:final", "resolve:sub-agent:excluded")
@tried(400)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats)
def test_nothing_gives_back_what_is_hard_denied_or_excluded_for_sub_agents(
    present: Present, rules: Grants, seat: Seat
) -> None:
    """Whatever else the configuration says, and with everything that grants turned on."""
    world = worlds.world_of(present, rules)
    every = ("*everything",)
    policy = replace(rules.policy, also_allow=every)
    generous = worlds.with_agent(replace(rules, policy=policy), seat.agent, also_allow=every)
    names = held(present, generous, replace(seat, granted=every))
    assert not names & reference.members(world, rules.policy.hard_deny)
    if seat.depth:
        assert not names & reference.members(world, rules.policy.sub_agents.excluded)
        assert not names & reference.members(world, rules.policy.sub_agents.denied)
    examples.count()


@pytest.mark.meets("resolve:escalation:self-spawned")
@tried(300)
@given(
    present=worlds.tools,
    rules=worlds.grants,
    seat=worlds.seats,
    boxes=st.lists(worlds.subsets(worlds.BOXES), min_size=4, max_size=4),
)
def test_a_self_spawned_task_holds_no_more_than_its_spawner_and_the_reply_protocol(
    present: Present, rules: Grants, seat: Seat, boxes: list[tuple[str, ...]]
) -> None:
    resolver = Resolver(worlds.registry_of(present), rules)
    reply = reference.members(worlds.world_of(present, rules), rules.reply)
    spawner = resolver.view(replace(seat, depth=0))
    for depth, frozen in enumerate(boxes, 1):
        task = replace(seat, depth=depth, toolboxes=frozen, spawn=Spawn(frozenset(spawner.names)))
        view = resolver.view(task)
        assert set(view.names) <= set(spawner.names) | reply
        spawner = view
    examples.count()


@pytest.mark.meets("resolve:escalation:other-agent")
@tried(300)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats)
def test_a_task_as_another_agent_holds_no_more_than_that_agent_and_the_reply_protocol(
    present: Present, rules: Grants, seat: Seat
) -> None:
    reply = reference.members(worlds.world_of(present, rules), rules.reply)
    own = held(present, rules, Seat(agent=seat.agent, provider=seat.provider))
    assert held(present, rules, replace(seat, spawn=Spawn())) <= own | reply
    examples.count()


class Kept:
    """An audit that keeps the records."""

    full = False

    def __init__(self) -> None:
        self.records: list[Record] = []

    def hand(self, record: Record) -> None:
        self.records.append(record)

    async def durable(self, record: Record) -> None:
        self.records.append(record)

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        """Not looked at."""


@pytest.mark.meets("resolve:property:call-agrees")
@tried(250)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats)
def test_what_a_call_is_refused_is_exactly_what_is_not_issued(present: Present, rules: Grants, seat: Seat) -> None:
    resolver = Resolver(worlds.registry_of(present), rules)
    expected = reference.issued(worlds.world_of(present, rules), seat)
    caller = Caller(
        agent=seat.agent, depth=seat.depth, provider=seat.provider, group=seat.group,
        session="s" if seat.in_session else "", toolboxes=seat.toolboxes, only=seat.only, spawn=seat.spawn,
    )  # fmt: skip
    view = resolver.view(replace(seat_of(caller, seat.loaded, seat.granted), user=seat.user))
    audit = Kept()
    runner = Runner({}, audit, Shaper(lambda text: text))

    async def call_all() -> dict[str, str]:
        answers = [await runner.call(resolver, view, caller, Request(tool.name)) for tool in present]
        return {answer.tool: answer.error.code if answer.error else "" for answer in answers}

    codes = asyncio.run(call_all())
    assert {name for name, code in codes.items() if not code} == expected
    assert {code for code in codes.values() if code} <= {"not_issued"}
    assert len(audit.records) == len(present)
    examples.count()


@pytest.mark.meets("resolve:shown:limit", "resolve:shown:order")
@tried(400)
@given(present=worlds.tools, rules=worlds.grants, seat=worlds.seats, found=worlds.subsets(tuple(worlds.POOL)))
def test_what_is_held_is_shown_or_deferred_within_the_limit_and_always_in_one_order(
    present: Present, rules: Grants, seat: Seat, found: tuple[str, ...]
) -> None:
    resolver = Resolver(worlds.registry_of(present), rules)
    view = resolver.view(replace(seat, found=found))
    shown, deferred = [t.name for t in view.shown], [t.name for t in view.deferred]
    assert sorted((*shown, *deferred)) == sorted(view.names)
    assert shown == sorted(shown)
    agent, policy = rules.agents[seat.agent], rules.policy
    limit = policy.tool_limit if agent.tool_limit is None else agent.tool_limit
    if limit is not None:
        assert len(shown) <= limit
    elif agent.tool_tokens is None:
        assert not deferred
    assert all(name in view for name in deferred)
    examples.count()


@pytest.mark.meets("tool:flags:never-grant")
@tried(150)
@given(
    present=worlds.tools,
    rules=worlds.grants,
    seat=worlds.seats,
    effect=st.sampled_from(Effect),
    parallel=st.booleans(),
)
def test_flags_describe_and_never_grant(
    present: Present, rules: Grants, seat: Seat, effect: Effect, parallel: bool
) -> None:
    traits = [replace(tool.traits, effect=effect, parallel=parallel) for tool in present]
    flagged = tuple(replace(tool, traits=changed) for tool, changed in zip(present, traits, strict=True))
    assert held(flagged, rules, seat) == held(present, rules, seat)
    examples.count()


@pytest.mark.meets("names:alias:before-lists", "names:case:insensitive")
@tried(200)
@given(
    present=worlds.tools,
    rules=worlds.grants,
    seat=worlds.seats,
    spelling=st.sampled_from(("bash", "exec", "run_shell", "Bash", "RUN_SHELL", "group:runtime")),
)
def test_denying_any_name_of_a_tool_denies_the_tool(present: Present, rules: Grants, seat: Seat, spelling: str) -> None:
    plain = replace(rules, policy=replace(rules.policy, also_allow=(), hard_deny=(spelling,)))
    resolver = Resolver(worlds.registry_of(present), plain)
    view = resolver.view(seat)
    assert "run_shell" not in view
    assert "bash" not in view
    if any(tool.name == "run_shell" for tool in present):
        assert explain(resolver, seat, spelling.removeprefix("group:").replace("runtime", "exec")).tool == "run_shell"
    examples.count()
