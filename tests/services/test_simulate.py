"""What a change would do, and what an agent really needs."""

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from tests import examples, worlds
from tests.core.test_resolver import made
from tests.core.workbench import resolver_of
from toolcrib.core.policy import AgentRules, Grants, Policy, Toolbox
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.services.advice.simulate import Change, Past, simulate, suggest

TOOLS = [made(name) for name in ("a", "b", "c", "base")]
BOXES = {
    "one": Toolbox(name="one", tools=("a",)),
    "two": Toolbox(name="two", tools=("a", "b")),
    "all": Toolbox(name="all", tools=("*",)),
}


def built(agents: dict[str, tuple[str, ...]], **grants: Any) -> Resolver:
    rules = {name: AgentRules(name=name, toolboxes=boxes) for name, boxes in agents.items()}
    return resolver_of(TOOLS, rules, floor=("base",), toolboxes=BOXES, **grants)


@pytest.mark.meets("simulate:change:who", "simulate:change:history")
def test_a_change_says_who_gains_who_loses_and_which_past_calls_it_would_refuse() -> None:
    before = built({"ada": ("one",), "bob": ("two",), "kim": (), "old": ()})
    after = built({"ada": ("two",), "bob": ("one",), "kim": (), "new": ("one",)})
    past = [Past("bob", "b", 7), Past("bob", "a", 3), Past("ada", "a", 1), Past("old", "base", 2)]
    assert simulate(before, after, past) == [
        Change(agent="ada", gains=("b",)),
        Change(agent="bob", loses=("b",), refused={"b": 7}),
        Change(agent="new", gains=("a", "base"), new=True),
        Change(agent="old", loses=("base",), refused={"base": 2}, gone=True),
    ]


@pytest.mark.meets("simulate:change:who")
def test_a_global_deny_is_seen_at_every_agent_and_nothing_is_changed() -> None:
    before = built({"ada": ("one",), "bob": ("two",)})
    held = before.view(Seat(agent="ada")).names
    changes = simulate(before, built({"ada": ("one",), "bob": ("two",)}, policy=Policy(deny=("a",))))
    assert [(change.agent, change.loses) for change in changes] == [("ada", ("a",)), ("bob", ("a",))]
    assert before.view(Seat(agent="ada")).names == held
    assert simulate(before, before) == []


@given(present=worlds.tools, before=worlds.grants, after=worlds.grants)
def test_gains_and_losses_are_what_really_changes(present: Any, before: Grants, after: Grants) -> None:
    registry = worlds.registry_of(present)
    old, new = Resolver(registry, before), Resolver(registry, after)
    changes = {change.agent: change for change in simulate(old, new)}
    for agent in worlds.AGENTS:
        had, has = set(old.view(Seat(agent=agent)).names), set(new.view(Seat(agent=agent)).names)
        change = changes.get(agent, Change(agent=agent))
        assert (had - set(change.loses)) | set(change.gains) == has
        assert not set(change.gains) & had
        assert set(change.loses) <= had
    examples.count()


@pytest.mark.meets("suggest:agent:smallest")
def test_the_smallest_box_is_what_was_called_beside_the_floor() -> None:
    resolver = built({"ada": ("all",), "bob": ()})
    past = [Past("ada", "A", 5), Past("ada", "base", 2), Past("ada", "gone", 1), Past("bob", "b", 9)]
    told = suggest(resolver, "ada", past)
    assert (told.tools, told.floor, told.unused, told.lost) == (("a",), ("base",), ("b", "c"), ("gone",))
    assert told.calls == 8
    assert told.nearest == (("one", 0), ("two", 1), ("all", 2))


@pytest.mark.meets("suggest:agent:smallest")
def test_with_the_suggested_box_every_recorded_call_would_have_passed() -> None:
    resolver = built({"ada": ("all",)})
    told = suggest(resolver, "ada", [Past("ada", "a", 1), Past("ada", "c", 1)])
    box = Toolbox(name="new", tools=told.tools)
    grants = replace(
        resolver.grants, toolboxes={"new": box}, agents={"ada": AgentRules(name="ada", toolboxes=("new",))}
    )
    view = Resolver(resolver.registry, grants).view(Seat(agent="ada"))
    assert "a" in view
    assert "c" in view
    assert "b" not in view


@pytest.mark.meets("suggest:agent:smallest")
def test_an_agent_without_the_floor_is_offered_no_box_that_brings_it_back() -> None:
    boxes = {**BOXES, "look": Toolbox(name="look", tools=("a", "base"), exact=True)}
    rules = {"ada": AgentRules(name="ada", toolboxes=("look",))}
    resolver = resolver_of(TOOLS, rules, floor=("base",), toolboxes=boxes)
    told = suggest(resolver, "ada", [Past("ada", "base", 1)])
    assert told.exact
    assert told.box == "ada"
    assert suggest(built({"one": ("one",)}), "one", []).box == "one-only"
    assert (told.tools, told.floor, told.unused, told.nearest) == (("base",), (), ("a",), (("look", 1),))


def test_an_agent_that_called_nothing_needs_nothing() -> None:
    told = suggest(built({"ada": ("all",)}), "ada", [])
    assert (told.tools, told.nearest, told.unused) == ((), (), ("a", "b", "c"))
