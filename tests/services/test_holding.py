"""What an agent holds as people look at it, read off the resolver's trace."""

import pytest

from toolcrib import Crib, tool
from toolcrib.core.errors import ToolFailed
from toolcrib.core.resolver import Seat
from toolcrib.services.advice.holding import granting, holders, holding, known_box, matrix, with_agent, with_toolbox
from toolcrib.services.advice.setup import State, checklist
from toolcrib.services.config.reading import read_config

CONFIG = """\
agents:
  a: {toolboxes: [one]}
  b: {toolboxes: [one, two], deny: [erase]}
toolboxes:
  one: {tools: [look]}
  two: {tools: [look, erase]}
"""


@tool(effect="read")
def look() -> str:
    """Look."""
    return ""


@tool(effect="destroy")
def erase() -> str:
    """Erase."""
    return ""


@pytest.fixture
def crib() -> Crib:
    return Crib([look, erase], config=read_config(CONFIG, env={}))


def test_each_tool_has_all_that_let_it_in(crib: Crib):
    held = holding(crib.resolver, Seat(agent="b"))
    assert [(one.tool.name, one.by) for one in held.tools] == [("look", ("toolbox one", "toolbox two"))]
    assert (held.read_only, held.destructive, held.deferred) == (1, 0, 0)
    assert held.tokens > 0


def test_a_change_is_shown_against_what_is_now_and_saves_nothing(crib: Crib):
    now, seat = crib.resolver, Seat(agent="a")
    after = holding(with_agent(now, "a", toolboxes=("two",)), seat, now.view(seat))
    assert [one.tool.name for one in after.tools if one.gained] == ["erase"]
    assert after.gained == 1
    assert holding(with_agent(now, "a", toolboxes=()), seat, now.view(seat)).lost == ("look",)
    assert now.view(seat).names == ("look",)


def test_a_toolbox_is_tried_under_its_own_and_another_name(crib: Crib):
    now = crib.resolver
    assert with_toolbox(now, "ONE", ["erase"]).view(Seat(agent="a")).names == ("erase",)
    assert with_toolbox(now, "one", None).view(Seat(agent="a")).names == ()
    assert with_toolbox(now, "one", ["look"], renamed="other").view(Seat(agent="a")).names == ()


def test_who_holds_a_tool_and_what_grants_it(crib: Crib):
    assert {one.agent: one.told.issued for one in holders(crib.resolver, "erase")} == {"a": False, "b": False}
    assert {"two"} <= set(granting(crib.resolver, "erase"))
    told = matrix(crib.resolver, ["a", "b"])
    assert told["look"]["a"].issued
    assert told["erase"]["b"].step == "agent_deny"


def test_an_unknown_toolbox_is_refused_with_the_nearest(crib: Crib):
    with pytest.raises(ToolFailed) as refused:
        known_box(crib.resolver, "onee")
    assert "one" in refused.value.hint


def test_the_list_of_what_to_do_follows_what_is_there():
    assert [one.id for one in checklist(State()) if not one.optional] == ["agent", "toolbox", "call"]
    done = checklist(State(agents=1, with_tools=1, calls=3, answered=1, secrets=1, signed_in=True))
    assert all(one.done for one in done)
