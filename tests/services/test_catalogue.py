"""What one caller sees of the catalogue."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import pytest
from msgspec.structs import replace

from toolcrib.core.call import Caller
from toolcrib.core.policy import AgentRules, Grants, KitTool, Policy, Toolbox, Toolkit
from toolcrib.core.registry import Names, Registry, Reserved
from toolcrib.core.resolver import Resolver, View, seat_of
from toolcrib.core.tool import Effect, Tool, Traits, read_tool
from toolcrib.services.finding.catalogue import FOUND_KEPT, Catalogue


def made(name: str, about: str, domain: str = "desk", source: str = "native") -> Tool:
    async def body(*, what: Annotated[str, "What to work on"] = "") -> str:
        return what

    body.__doc__ = about
    return replace(read_tool(domain, body, Traits(effect=Effect.READ), name=name), source=source)


WORDS = {
    "think": "Write a thought down.",
    "search_tools": "Find tools.",
    "request_tool_access": "Ask a person for tools.",
    "load_tools": "Load a toolkit.",
    "cut_paper": "Cut a sheet of paper.",
    "fold_paper": "Fold a sheet of paper.",
    "glue_paper": "Glue sheets of paper.",
    "burn_paper": "Burn a sheet of paper.",
}
TOOLS = [
    *(made(name, about) for name, about in WORDS.items()),
    made("custom_stamp", "Stamp a letter.", "post", "custom"),
    made("mcp_mail_send", "Send a letter by mail.", "mail", "mcp"),
    made("plugin_wax_seal", "Seal a letter.", "post", "plugin"),
]
RESERVED = {"shred_paper": Reserved("shred_paper", "Shred a sheet of paper.", "desk", flags="D")}


def resolver(agents: Sequence[AgentRules], policy: Policy | None = None) -> Resolver:
    grants = Grants(
        floor=("think", "search_tools"),
        toolboxes={"all": Toolbox(name="all", tools=("*",), builtin=True)},
        toolkits={"fire": Toolkit(name="fire", tools=(KitTool("burn_paper"),))},
        agents={rules.name: rules for rules in agents},
        policy=policy or Policy(),
    )
    return Resolver(Registry(TOOLS, Names(reserved=RESERVED)), grants)


def desk(rules: AgentRules, session: str = "s", policy: Policy | None = None) -> tuple[Catalogue, View]:
    made = resolver([rules], policy)
    return Catalogue(lambda: made), made.view(seat_of(Caller(agent=rules.name, session=session)))


@pytest.mark.meets("list-tools:filters")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"source": "custom"}, {"custom_stamp"}),
        ({"source": "mcp"}, {"mcp_mail_send"}),
        ({"source": "plugin"}, {"plugin_wax_seal"}),
        ({"domain": "POST"}, {"custom_stamp", "plugin_wax_seal"}),
        ({"domain": "post", "source": "custom"}, {"custom_stamp"}),
        ({"query": "a letter", "domain": "mail"}, {"mcp_mail_send"}),
        ({"query": "shred"}, {"shred_paper"}),
        ({"domain": "nowhere"}, set()),
    ],
)
def test_the_catalogue_is_narrowed(filters: Mapping[str, str], expected: set[str]):
    catalogue, view = desk(AgentRules(name="a"))
    assert {one.name for one in catalogue.list(view, **filters)} == expected


@pytest.mark.meets("list-tools:filters", "registry:catalogue:known-not-built")
def test_the_catalogue_says_what_is_held_and_what_is_not_built():
    catalogue, view = desk(AgentRules(name="a"))
    listed = {one.name: one for one in catalogue.list(view)}
    assert len(listed) == len(TOOLS) + 1
    assert listed["think"].held
    assert not listed["cut_paper"].held
    assert not listed["shred_paper"].built
    assert listed["shred_paper"].flags == ("destructive",)


@pytest.mark.meets("search-tools:held-only")
def test_a_search_finds_only_what_is_held():
    catalogue, view = desk(AgentRules(name="a", tools=(KitTool("cut_paper"),)))
    assert [one.name for one in catalogue.search(view, "sheet of paper").tools] == ["cut_paper"]


def test_nothing_else_is_offered_to_who_can_neither_load_nor_ask():
    catalogue, view = desk(AgentRules(name="a"))
    assert catalogue.search(view, "sheet of paper").others == ()


def test_what_could_be_had_is_offered_with_the_way_to_it():
    rules = AgentRules(
        name="a",
        tools=(KitTool("request_tool_access"), KitTool("load_tools")),
        allowed_toolkits=("fire",),
        deny=("glue_paper",),
    )
    catalogue, view = desk(rules)
    ways = {one.name: one.how for one in catalogue.search(view, "sheet of paper").others}
    assert ways["burn_paper"] == 'load_tools {"toolkit": "fire"}'
    assert ways["cut_paper"].startswith("request_tool_access")
    assert "glue_paper" not in ways


@pytest.mark.meets("search-tools:shows", "resolve:shown:limit")
def test_a_deferred_tool_that_was_found_is_shown_from_the_next_request_on():
    rules = AgentRules(name="a", toolboxes=("all",), tool_limit=3)
    catalogue, view = desk(rules)
    assert "glue_paper" in {tool.name for tool in view.deferred}
    found = catalogue.search(view, "glue", session="s")
    assert found.next_request == ("glue_paper",)
    assert "glue_paper" not in {tool.name for tool in view.shown}, "the running request stays as it is"
    assert "glue_paper" in {tool.name for tool in _next(catalogue, rules).shown}


@pytest.mark.meets("search-tools:shows")
def test_the_newest_find_is_shown_when_not_all_fit():
    rules = AgentRules(name="a", toolboxes=("all",), tool_limit=3)
    catalogue, view = desk(rules)
    for query in ("cut", "glue", "fold"):
        assert catalogue.search(view, f"{query} paper", 1, session="s").next_request == (f"{query}_paper",)
    assert {tool.name for tool in _next(catalogue, rules).shown} == {"think", "search_tools", "fold_paper"}


@pytest.mark.meets("search-tools:shows", "resolve:shown:limit")
def test_a_search_is_of_use_in_a_prompt_that_is_too_small_for_the_floor():
    rules = AgentRules(name="a", toolboxes=("all",), tool_limit=2)
    catalogue, view = desk(rules)
    assert {tool.name for tool in view.shown} == {"think", "search_tools"}
    assert catalogue.search(view, "glue paper", 1, session="s").next_request == ("glue_paper",)
    assert {tool.name for tool in _next(catalogue, rules).shown} == {"search_tools", "glue_paper"}


def test_finds_belong_to_one_agent_and_session():
    catalogue, view = desk(AgentRules(name="a", toolboxes=("all",), tool_limit=3))
    catalogue.search(view, "glue", session="s")
    assert catalogue.found("a", "s") == ("glue_paper",)
    assert catalogue.found("a", "t") == ()
    assert catalogue.found("b", "s") == ()


def test_a_search_without_a_session_remembers_nothing():
    catalogue, view = desk(AgentRules(name="a", toolboxes=("all",), tool_limit=3))
    assert catalogue.search(view, "glue").next_request == ()
    assert catalogue.found("a", "") == ()


def test_only_so_many_finds_are_kept():
    many = [made(f"press_{i}", "Press paper.") for i in range(40)]
    rules = AgentRules(name="a", tools=tuple(KitTool(tool.name) for tool in many), tool_limit=30)
    grants = Grants(agents={"a": rules}, floor=("search_tools",))
    held = Resolver(Registry([*TOOLS, *many]), grants)
    catalogue = Catalogue(lambda: held)
    view = held.view(seat_of(Caller(agent="a", session="s")))
    for tool in view.deferred:
        catalogue.search(view, tool.name, 1, session="s")
    assert 0 < len(catalogue.found("a", "s")) <= FOUND_KEPT


def test_a_wish_is_sorted_by_what_can_come_of_it():
    rules = AgentRules(name="a", deny=("glue_paper",))
    catalogue, view = desk(rules, policy=Policy(hard_deny=("burn_paper",)))
    wish = catalogue.wish(view.seat, ["THINK", "cut_paper", "glue_paper", "burn_paper", "shred_paper", "cut_papr"])
    assert wish.held == ("think",)
    assert wish.open == ("cut_paper",)
    assert [(one.tool, one.step) for one in wish.closed] == [("glue_paper", "agent_deny"), ("burn_paper", "hard_deny")]
    assert [one.tool for one in wish.unknown] == ["shred_paper", "cut_papr"]


@pytest.mark.meets("explain-tool:answers")
def test_explain_answers_from_the_seat_of_the_asking_agent():
    catalogue, view = desk(AgentRules(name="a", deny=("glue_paper",), toolboxes=("all",)))
    assert catalogue.explain(view.seat, "glue_paper").reason == "denied by agent policy"
    assert catalogue.explain(view.seat, "cut_paper").let_in == "toolbox all"


def _next(catalogue: Catalogue, rules: AgentRules) -> View:
    """The view of the next request, as the app works it out."""
    return resolver([rules]).view(seat_of(Caller(agent="a", session="s"), found=catalogue.found("a", "s")))
