"""Loading and unloading toolkits: every status, in the order of the rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests import examples
from tests.core.test_resolver import made
from toolcrib.core.call import Caller, Where
from toolcrib.core.policy import AgentRules, Grants, KitTool, Toolbox, Toolkit
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.core.toolkit import Kits, conflict, normal, settled
from toolcrib.services.toolkits import Toolkits
from toolcrib.stores.inprocess.loaded import MemoryLoadedKits

REGISTRY = Registry(
    [
        made("git", aliases=("vcs",)),
        made("deploy"),
        made("paint"),
        made("head", where=frozenset({Where.MAIN})),
        made("load_tools", condition="toolkits"),
        made("floor_tool"),
    ]
)
KITS = {
    kit.name: kit
    for kit in (
        Toolkit(name="build", description="Build it.", tools=(KitTool("git", {"tags": ["a", "b"]}), KitTool("deploy"))),
        Toolkit(name="same", tools=(KitTool("vcs", {"tags": "a, b"}),)),
        Toolkit(name="other", tools=(KitTool("git", {"tags": ["c"]}),)),
        Toolkit(name="static", tools=(KitTool("paint", {"wet": True}),)),
        Toolkit(name="mains", tools=(KitTool("head"),)),
        Toolkit(name="foreign", tools=()),
        Toolkit(name="sticky", tools=()),
    )
}
ADA = AgentRules(
    name="ada",
    toolboxes=("b",),
    allowed_toolkits=("sticky", "build", "same", "other", "static", "mains"),
    initial_toolkits=("sticky",),
)
GRANTS = Grants(
    floor=("floor_tool",),
    toolboxes={"b": Toolbox(name="b", tools=("paint",))},
    toolkits=KITS,
    agents={"ada": ADA, "bob": replace(ADA, name="bob")},
)


def kits(*, in_session: bool = True, rules: AgentRules = ADA) -> Kits:
    return Kits(REGISTRY, GRANTS, rules, in_session=in_session)


@pytest.mark.meets("toolkit:load:statuses")
@pytest.mark.parametrize(
    ("name", "loaded", "in_session", "where", "status"),
    [
        ("nope", (), False, "sub_agent", "unknown"),
        ("foreign", ("foreign",), False, "sub_agent", "not_allowed"),
        ("mains", ("mains",), False, "sub_agent", "scope_incompatible"),
        ("build", ("build", "other"), False, "main", "already_loaded"),
        ("other", ("build",), False, "main", "error"),
        ("other", ("build",), True, "main", "conflict"),
        ("static", (), True, "main", "conflict"),
        ("build", (), True, "main", "loaded"),
        ("mains", (), True, "main", "loaded"),
    ],
)
def test_load_answers_with_the_first_status_that_holds(
    name: str, loaded: tuple[str, ...], in_session: bool, where: str, status: str
) -> None:
    answer, after = kits(in_session=in_session).load(name, loaded, where)
    assert answer.status == status
    assert answer.toolkit == name
    assert answer.loaded_toolkits == after
    assert answer.message
    if status != "loaded":
        assert after == loaded
    assert answer.takes_effect == ("next_request" if status in {"loaded", "already_loaded"} else "")
    assert bool(answer.allowed_toolkits) == (status in {"unknown", "not_allowed"})


@pytest.mark.meets("toolkit:load:statuses")
def test_without_a_session_the_words_are_those_of_the_seed() -> None:
    answer, _ = kits(in_session=False).load("build", ())
    assert answer.message == "Dynamic toolkit changes require a stable session_id."


@pytest.mark.meets("toolkit:load:conflict", "toolkit:load:failed-changes-nothing")
def test_a_conflict_names_the_tool_and_both_settings_and_changes_nothing() -> None:
    answer, after = kits().load("other", ("sticky", "build"))
    assert answer.conflicting_tool == "git"
    assert answer.existing_overrides == {"tags": ["a", "b"]}
    assert answer.candidate_overrides == {"tags": ["c"]}
    assert after == ("sticky", "build")


@pytest.mark.meets("toolkit:load:identical-kept")
def test_the_same_settings_in_other_words_are_no_conflict() -> None:
    answer, after = kits().load("same", ("build",))
    assert answer.status == "loaded"
    assert after == ("build", "same")


@pytest.mark.meets("toolkit:load:conflict")
def test_the_whole_set_is_looked_at_the_agents_own_tools_first() -> None:
    own = replace(ADA, tools=(KitTool("deploy", {"dry": True}),), toolboxes=())
    answer, _ = kits(rules=own).load("build", ())
    assert (answer.status, answer.conflicting_tool) == ("conflict", "deploy")
    assert answer.existing_overrides == {"dry": True}
    assert conflict(REGISTRY, (), [KITS["build"], KITS["same"]]) is None


def test_a_box_in_other_letters_counts_among_the_agents_own_tools() -> None:
    answer, _ = kits(rules=replace(ADA, toolboxes=("B",))).load("static", ())
    assert answer.status == "conflict"


@pytest.mark.meets("toolkit:unload:statuses")
@pytest.mark.parametrize(
    ("name", "loaded", "in_session", "status"),
    [
        ("nope", (), False, "unknown"),
        ("foreign", (), False, "not_allowed"),
        ("sticky", (), False, "sticky"),
        ("build", (), False, "not_loaded"),
        ("build", ("build",), False, "error"),
        ("build", ("sticky", "build"), True, "unloaded"),
    ],
)
def test_unload_answers_with_the_first_status_that_holds(
    name: str, loaded: tuple[str, ...], in_session: bool, status: str
) -> None:
    answer, after = kits(in_session=in_session).unload(name, loaded)
    assert (answer.status, answer.loaded_toolkits) == (status, after)
    assert after == (("sticky",) if status == "unloaded" else loaded)
    assert answer.takes_effect == ("next_request" if status in {"unloaded", "not_loaded"} else "")
    assert bool(answer.allowed_toolkits) == (status in {"unknown", "not_allowed"})


@pytest.mark.meets("toolkit:list:shape")
def test_the_catalogue_has_every_allowed_toolkit_and_no_other() -> None:
    listed = kits().catalogue(("sticky", "build"))
    assert [kit["name"] for kit in listed] == list(ADA.allowed_toolkits)
    assert listed[1] == {
        "name": "build", "description": "Build it.", "tool_names": ["git", "deploy"], "loaded": True, "sticky": False,
    }  # fmt: skip
    assert listed[0]["sticky"]
    assert not listed[2]["loaded"]


@pytest.mark.meets("toolkit:initial:sticky", "toolkit:state:sanitised")
def test_a_session_has_the_sticky_ones_and_what_is_still_valid_in_the_order_of_the_list() -> None:
    assert settled(GRANTS, ADA, None).loaded == ("sticky",)
    state = settled(GRANTS, ADA, ("other", "gone", "build", "foreign"))
    assert state.loaded == ("sticky", "build", "other")
    assert state.dropped == ("foreign", "gone")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["a", "b"], "a,b", True),
        (["a", "b"], " a , b ", True),
        (("a", "b"), ["a", "b"], True),
        ([1, 2], "1,2", True),
        ({"x": None}, {}, True),
        (["a", "b"], ["b", "a"], False),
        ("a", "b", False),
        ({"x": 1}, {"x": 2}, False),
        (True, False, False),
    ],
)
def test_settings_are_compared_in_one_form(one: Any, other: Any, same: bool) -> None:
    assert (normal(one) == normal(other)) is same


def test_a_list_of_one_equals_its_text() -> None:
    assert normal(["a"]) == normal("a")


steps = st.lists(st.tuples(st.booleans(), st.sampled_from((*KITS, "nope"))), max_size=8)


@pytest.mark.meets("toolkit:load:failed-changes-nothing", "toolkit:load:conflict")
@given(steps, st.booleans())
def test_whatever_is_loaded_and_unloaded_the_set_stays_valid_and_without_conflict(
    asked: list[tuple[bool, str]], in_session: bool
) -> None:
    rules, loaded = kits(in_session=in_session), settled(GRANTS, ADA, None).loaded
    for load, name in asked:
        answer, after = rules.load(name, loaded) if load else rules.unload(name, loaded)
        assert (after != loaded) == (answer.status in {"loaded", "unloaded"})
        loaded = after
    assert "sticky" in loaded
    assert loaded == tuple(name for name in ADA.allowed_toolkits if name in loaded)
    assert conflict(REGISTRY, [KitTool("paint")], [KITS[name] for name in loaded]) is None
    assert in_session or loaded == ("sticky",)
    examples.count()


@pytest.mark.meets("toolkit:state:members-apart", "toolkit:state:persisted", "toolkit:change:next-request")
async def test_what_is_loaded_is_kept_by_agent_and_session_and_holds_from_the_next_request_on() -> None:
    resolver = Resolver(REGISTRY, GRANTS)
    kept = MemoryLoadedKits()
    service = Toolkits(lambda: resolver, kept)
    ada = Caller(agent="ada", session="s")
    running = resolver.view(Seat(agent="ada", in_session=True, loaded=(await service.state("ada", "s")).names))
    assert (await service.load(ada, "Build"))["status"] == "loaded"
    assert "git" not in running
    again = Toolkits(lambda: resolver, kept)  # as after a restart
    now = (await again.state("ada", "s")).names
    assert now == ("sticky", "build")
    assert "git" in resolver.view(Seat(agent="ada", in_session=True, loaded=now))
    assert (await again.state("bob", "s")).names == ("sticky",)
    assert (await again.state("ada", "t")).names == ("sticky",)


@pytest.mark.meets("toolkit:state:sanitised", "toolkit:prompt:block")
async def test_a_toolkit_that_the_configuration_no_longer_has_is_dropped_with_a_note() -> None:
    rules = {"ada": ADA}
    kept = MemoryLoadedKits()
    service = Toolkits(lambda: Resolver(REGISTRY, replace(GRANTS, agents=rules)), kept)
    ada = Caller(agent="ada", session="s")
    await service.load(ada, "build")
    rules["ada"] = replace(ADA, allowed_toolkits=("sticky", "same"))
    state = await service.state("ada", "s")
    assert state.names == ("sticky",)
    assert "build" in state.notes[0]
    block = await service.prompt(ada)
    assert "sticky (always loaded)" in block
    assert "same (not loaded)" in block
    assert "Note: " in block
    assert not await service.prompt(Caller(agent="ada"))
