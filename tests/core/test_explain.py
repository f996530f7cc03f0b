"""Why a tool is held or not, in words, and what to change for the other answer."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.test_resolver import made
from tests.core.workbench import resolver_of
from toolcrib.core.call import Spawn
from toolcrib.core.errors import NotIssued, UnknownTool
from toolcrib.core.explain import explain, explain_all, refusal
from toolcrib.core.policy import AgentRules, KitTool, Policy, ProviderRules, SubAgentRules, Toolbox, Toolkit
from toolcrib.core.registry import Names, Reserved
from toolcrib.core.resolver import Resolver, Seat

TOOLS = [made("git", aliases=("vcs",)), made("paint"), made("base"), made("kit_tool"), made("lonely")]
ADA = AgentRules(name="ada", toolboxes=("dev",), allowed_toolkits=("kit",))
SEAT = Seat(agent="ada", provider="acme", group="ops")


def built(rules: dict[str, Any] | None = None, **grants: Any) -> Resolver:
    boxes = {"dev": Toolbox(name="dev", tools=("git",)), "art": Toolbox(name="art", tools=("paint",))}
    return resolver_of(
        TOOLS,
        {"ada": replace(ADA, **(rules or {}))},
        names=Names(reserved={"fly": Reserved("fly", "Fly.", "air")}),
        **{
            "floor": ("base",),
            "toolboxes": boxes,
            "toolkits": {"kit": Toolkit(name="kit", tools=(KitTool("kit_tool"),))},
            "profiles": {"none": ()},
            **grants,
        },
    )


@pytest.mark.meets("explain:tool:deciding-step", "explain:tool:what-to-change")
@pytest.mark.parametrize(
    ("rules", "grants", "step", "reason", "change"),
    [
        ({}, {"policy": Policy(profile="none")}, "global_profile", "profile none", "policy.profile"),
        ({}, {"policy": Policy(providers={"acme": ProviderRules(profile="none")})}, "provider_profile", "none", "acme"),
        ({}, {"policy": Policy(allow=())}, "global_allow", "global allow list", "policy.allow"),
        ({}, {"policy": Policy(providers={"acme": ProviderRules(allow=())})}, "provider_allow", "acme", "acme.allow"),
        ({"allow": ()}, {}, "agent_allow", "agent's allow list", "agents.ada.allow"),
        ({"by_provider": {"acme": ()}}, {}, "agent_provider_allow", "acme", "agents.ada.by_provider.acme"),
        ({}, {"policy": Policy(groups={"ops": ()})}, "group_allow", "group ops", "policy.groups.ops"),
        ({}, {"policy": Policy(deny=("vcs",))}, "global_deny", "global policy", "policy.deny"),
        ({"deny": ("vcs",)}, {}, "agent_deny", "agent policy", "agents.ada.deny"),
        ({}, {"policy": Policy(hard_deny=("vcs",))}, "hard_deny", "hard-deny list", "policy.hard_deny"),
    ],
)
def test_what_took_a_tool_away_is_named_with_what_to_change(
    rules: dict[str, Any], grants: dict[str, Any], step: str, reason: str, change: str
) -> None:
    told = explain(built(rules, **grants), SEAT, "VCS")
    assert (told.tool, told.issued, told.shown, told.step) == ("git", False, False, step)
    assert reason in told.reason
    assert change in told.change
    assert told.let_in == "toolbox dev"


@pytest.mark.meets("explain:tool:deciding-step")
@pytest.mark.parametrize(
    ("lists", "depth", "reason"),
    [
        (SubAgentRules(excluded=("git",)), 1, "sub-agents never hold it"),
        (SubAgentRules(denied=("git",)), 1, "denied to sub-agents"),
        (SubAgentRules(leaf=("git",)), 1, "depth 1 is the deepest allowed"),
    ],
)
def test_what_a_sub_agent_may_not_hold_says_which_list_it_is_on(lists: SubAgentRules, depth: int, reason: str) -> None:
    told = explain(built(policy=Policy(sub_agents=lists)), replace(SEAT, depth=depth), "git")
    assert told.step == "sub_agent_floor"
    assert reason in told.reason


@pytest.mark.meets("explain:tool:deciding-step")
def test_what_bounds_a_task_or_a_request_is_named() -> None:
    resolver = built()
    task = replace(SEAT, depth=1, spawn=Spawn(frozenset({"base"})))
    assert explain(resolver, task, "git").reason == "its spawner did not hold it"
    other = replace(SEAT, depth=1, toolboxes=("art",), spawn=Spawn())
    assert explain(resolver, other, "paint").reason == "ada does not hold it itself"
    assert explain(resolver, replace(SEAT, only=("base",)), "git").reason == "this request's list leaves it out"
    assert explain(resolver, replace(SEAT, only=()), "git").reason == "this request allows no tools"


@pytest.mark.meets("explain:tool:deciding-step")
def test_what_let_a_tool_in_is_named() -> None:
    seat = replace(SEAT, granted=("paint",), loaded=("kit",), in_session=True)
    told = {one.tool: one for one in explain_all(built({"also_allow": ("lonely",)}), seat)}
    assert {name: one.reason for name, one in told.items()} == {
        "base": "the core floor",
        "git": "toolbox dev",
        "kit_tool": "toolkit kit",
        "lonely": "agents.ada.also_allow adds it",
        "paint": "a temporary grant",
    }
    assert all(one.issued and one.shown for one in told.values())


@pytest.mark.meets("explain:tool:what-to-change", "call:issued:what-to-do")
def test_what_nothing_grants_says_which_toolkit_or_toolbox_would() -> None:
    resolver = built()
    assert explain(resolver, SEAT, "kit_tool").reason == (
        "toolkit kit is not loaded: call load_tools, it takes effect on the next request"
    )
    assert "art" in explain(resolver, SEAT, "paint").change
    assert explain(resolver, SEAT, "lonely").change == "Put lonely in a toolbox of the agent."
    assert explain(resolver, SEAT, "lonely").reason == "not in your toolboxes"


@pytest.mark.meets("registry:catalogue:known-not-built")
def test_a_tool_that_is_not_built_and_one_that_is_unknown_are_told_apart() -> None:
    resolver = built()
    fly = explain(resolver, SEAT, "fly")
    assert (fly.issued, fly.step) == (False, "universe")
    assert "does not have it yet" in fly.reason
    gut = explain(resolver, SEAT, "gitt")
    assert (gut.issued, gut.step) == (False, "unknown")
    assert "git" in gut.reason


def test_a_deferred_tool_is_held_and_says_how_it_comes_into_the_prompt() -> None:
    told = explain(built({"tool_limit": 1}), SEAT, "git")
    assert (told.issued, told.shown, told.step) == (True, False, "deferred")
    assert "search_tools" in told.reason


@pytest.mark.meets("call:issued:reason")
def test_a_refusal_says_the_same_as_explain() -> None:
    resolver = built({"deny": ("git",)})
    refused = refusal(resolver, resolver.view(SEAT), "vcs")
    told = explain(resolver, SEAT, "git")
    assert isinstance(refused, NotIssued)
    assert refused.message == f"git was not called: {told.reason}."
    assert refused.hint == told.change
    assert isinstance(refusal(resolver, resolver.view(SEAT), "fly"), UnknownTool)
    unknown = refusal(resolver, resolver.view(SEAT), "bse")
    assert unknown.data["nearest"] == ["base"]


def test_what_takes_a_held_tool_away_is_told() -> None:
    told = explain(built(), SEAT, "git")
    assert told.change == "Add it to agents.ada.deny."
    assert not explain(built({"deny": ("git",)}), SEAT, "git").issued


def test_what_takes_away_a_tool_that_also_allow_adds_is_told() -> None:
    rules = {"also_allow": ("paint",)}
    told = explain(built(rules), SEAT, "paint")
    assert told.issued
    if "agents.ada.deny" in told.change:
        assert not explain(built({**rules, "deny": ("paint",)}), SEAT, "paint").issued


@pytest.mark.meets("names:alias:ambiguous", "names:cover:several")
@pytest.mark.parametrize("name", ["send", "MAIL", "post"])
def test_a_name_of_several_tools_is_answered_with_all_of_them(name: str) -> None:
    tools = [made("send_mail", aliases=("send",)), made("send_note", aliases=("send",))]
    names = Names(covers={"mail": ("send_mail", "read_mail"), "post": ("send_mail", "send_note")})
    resolver = resolver_of(tools, {"ada": AgentRules(name="ada", tools=(KitTool("send_mail"),))}, names=names, floor=())
    seat = Seat(agent="ada")
    told = explain(resolver, seat, name)
    assert told.step == "unknown"
    assert "is not one tool, it stands for send_mail" in told.reason
    refused = refusal(resolver, resolver.view(seat), name)
    assert isinstance(refused, UnknownTool)
    assert refused.hint == "Call send_mail."
    assert refused.data == {"nearest": ["send_mail"]}
