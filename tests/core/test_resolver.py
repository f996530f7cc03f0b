"""The ten steps, one by one, on small and on the real lists. The properties stand in test_resolver_properties.py."""

from functools import cache
from typing import Any

import pytest
from msgspec.structs import replace

from tests.core.workbench import resolver_of
from tests.worlds import NoArguments, nothing
from toolcrib.core.call import Caller, Spawn, Where
from toolcrib.core.errors import ToolError
from toolcrib.core.explain import explain
from toolcrib.core.policy import AgentRules, Grants, KitTool, Policy, ProviderRules, SubAgentRules, Toolbox, Toolkit
from toolcrib.core.registry import Registry, Reserved
from toolcrib.core.resolver import Resolver, Seat, UnknownAgent, overlay, seat_of
from toolcrib.core.tool import Tool, Traits
from toolcrib.services.advice.simulate import grants_with
from toolcrib.services.config.reading import read_config
from toolcrib.sources.native import base_grants, names, native_tools
from toolcrib.sources.native import grants as configured

FLOOR = {
    "read_file", "write_file", "edit_file", "multi_edit", "list_directory", "grep", "run_shell",
    "update_task_status", "request_input", "report_to_parent", "prompt_human", "notify", "prompt_secret",
    "attach_file", "think", "task_todos",
}  # fmt: skip


def made(name: str, *, source: str = "native", origin: str = "", aliases: tuple[str, ...] = (), **traits: Any) -> Tool:
    return Tool(
        name=name, domain="d", about="A tool.", body=nothing, arguments=NoArguments(), aliases=aliases,
        traits=Traits(**traits), source=source, origin=origin,
    )  # fmt: skip


EVERY_WHERE = {"both": frozenset(Where), "main": frozenset({Where.MAIN}), "sub_agent": frozenset({Where.SUB_AGENT})}


@cache
def everything_built() -> Registry:
    """The whole catalogue as if each tool of it were built, beside custom, MCP and plugin tools."""
    reserved: dict[str, Reserved] = dict(names().reserved)
    native = {name: made(name, aliases=one.aliases, where=EVERY_WHERE[one.where]) for name, one in reserved.items()}
    native |= {tool.name: made(tool.name, aliases=tool.aliases, where=tool.traits.where) for tool in native_tools()}
    others = (
        made("custom_report", source="custom"),
        made("mcp_git_push", source="mcp", origin="git"),
        made("plugin_paint_draw", source="plugin", origin="paint"),
    )
    return Registry((*native.values(), *others), names(frozenset(native)))


def held(rules: AgentRules, policy: Policy | None = None, **seat: Any) -> set[str]:
    """What one agent holds of the whole catalogue, with the lists that come with the crib."""
    grants = replace(base_grants(), agents={rules.name: rules})
    if policy is not None:
        grants = replace(grants, policy=replace(policy, sub_agents=base_grants().policy.sub_agents))
    return set(Resolver(everything_built(), grants).view(Seat(agent=rules.name, **seat)).names)


def ada(*boxes: str, **rules: Any) -> AgentRules:
    return AgentRules(name="ada", toolboxes=boxes, **rules)


# The floor and the boxes


@pytest.mark.meets("toolbox:floor:sixteen", "toolbox:floor:nothing-chosen")
def test_an_agent_without_a_toolbox_holds_exactly_the_floor() -> None:
    main = {tool.name for tool in everything_built().tools if Where.MAIN in tool.traits.where}
    assert held(ada()) == FLOOR & main
    assert held(ada("research"), toolboxes=()) == FLOOR & main
    assert held(ada()) | held(ada(), depth=1) >= FLOOR
    assert len(base_grants().floor) == 16


@pytest.mark.meets("toolbox:formula:union")
def test_an_agent_holds_the_floor_and_every_tool_of_each_box() -> None:
    boxes = base_grants().toolboxes
    wanted = {*boxes["email"].tools, *boxes["calendar"].tools}
    assert held(ada("email", "Calendar")) == held(ada()) | wanted
    assert held(ada("email", "no-such-box")) == held(ada("email"))


@pytest.mark.meets("toolbox:wildcard:native-and-custom", "toolbox:wildcard:not-mcp", "toolbox:wildcard:not-plugin")
def test_the_box_of_everything_holds_native_and_custom_tools_only() -> None:
    names_held = held(ada("all"))
    assert {"create_agent", "execute_sql", "custom_report"} <= names_held
    assert not {name for name in names_held if name.startswith(("mcp_", "plugin_"))}


@pytest.mark.meets("toolbox:mcp:by-name", "toolbox:plugin:by-name-or-group", "toolbox:named:uncurated")
@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("mcp_git_push", "mcp_git_push"), ("group:mcp", "mcp_git_push"), ("group:mcp:git", "mcp_git_push"),
        ("plugin_paint_draw", "plugin_paint_draw"), ("group:plugin:paint", "plugin_paint_draw"),
        ("create_agent", "create_agent"), ("execute_sql", "execute_sql"), ("custom_report", "custom_report"),
    ],
)  # fmt: skip
def test_a_tool_outside_the_curated_boxes_is_granted_by_its_name_or_group(entry: str, name: str) -> None:
    assert held(ada(tools=(KitTool(entry),))) == held(ada()) | {name}


@pytest.mark.meets("toolbox:wildcard:later-tools")
def test_a_star_grants_a_tool_that_comes_later() -> None:
    rules = {"ada": AgentRules(name="ada", toolboxes=("all",))}
    grants: dict[str, Any] = {"floor": (), "toolboxes": {"all": Toolbox(name="all", tools=("*",))}}
    assert resolver_of([made("a")], rules, **grants).view(Seat(agent="ada")).names == ("a",)
    assert resolver_of([made("a"), made("b")], rules, **grants).view(Seat(agent="ada")).names == ("a", "b")


@pytest.mark.meets("toolbox:exact:replaces-floor", "toolbox:scout:no-writes")
@pytest.mark.parametrize("depth", [0, 1])
def test_a_scout_holds_its_box_the_reply_protocol_and_think_and_nothing_that_writes(depth: int) -> None:
    allowed = {*base_grants().toolboxes["scout"].tools, *base_grants().exact_floor}
    assert held(ada("scout"), depth=depth) <= allowed
    forbidden = {"write_file", "run_shell", "spawn_self", "http_request", "memorize", "scout", "edit_file"}
    assert not held(ada("scout"), depth=depth) & forbidden
    assert "write_file" in held(ada("scout", "email"), depth=depth)


@pytest.mark.meets("toolbox:dangerous:not-curated")
def test_a_dangerous_tool_stands_in_no_curated_box_but_the_configurators() -> None:
    dangerous = {
        "create_agent", "update_agent", "delete_agent", "get_agent_details", "get_platform_logs",
        "update_platform_config", "restart_platform", "execute_sql",
    }  # fmt: skip
    for name in base_grants().toolboxes:
        if name not in {"all", "configurator"}:
            assert not held(ada(name)) & dangerous, name
    assert not held(ada()) & dangerous
    assert dangerous <= held(ada("all"))
    assert not held(ada("configurator")) & {"execute_sql", "delete_agent"}


# Universe and policy


@pytest.mark.meets("resolve:universe:availability")
def test_a_tool_for_one_kind_of_hands_is_not_in_the_others() -> None:
    tools = [made("head", where=EVERY_WHERE["main"]), made("hand", where=EVERY_WHERE["sub_agent"]), made("both")]
    resolver = resolver_of(tools)
    assert resolver.view(Seat(agent="ada")).names == ("both", "head")
    assert resolver.view(Seat(agent="ada", depth=1)).names == ("both", "hand")
    assert explain(resolver, Seat(agent="ada", depth=1), "head").reason == "not available to sub-agents"


@pytest.mark.meets("resolve:universe:condition")
def test_a_tool_whose_condition_does_not_hold_is_not_there_and_explain_names_it() -> None:
    tools = [made("browse", condition="browser"), made("other")]
    without = resolver_of(tools, missing={"browser": "no browser is configured"})
    assert without.view(Seat(agent="ada")).names == ("other",)
    told = explain(without, Seat(agent="ada"), "browse")
    assert (told.step, told.reason) == ("universe", "no browser is configured")
    assert "browse" in resolver_of(tools).view(Seat(agent="ada"))


@pytest.mark.meets("resolve:policy:identity")
def test_without_a_policy_what_was_granted_stays() -> None:
    rules = ada("research", "ops")
    assert held(rules, Policy()) == held(rules)
    assert held(rules, Policy(profile="full")) == held(rules)


STEPS: dict[str, dict[str, Any]] = {
    "global_profile": {"policy": Policy(profile="tiny")},
    "provider_profile": {"policy": Policy(profile="none", providers={"acme": ProviderRules(profile="tiny")})},
    "global_allow": {"policy": Policy(allow=("keep",))},
    "provider_allow": {"policy": Policy(providers={"acme": ProviderRules(allow=("keep",))})},
    "agent_allow": {"agent": {"allow": ("keep",)}},
    "agent_provider_allow": {"agent": {"by_provider": {"acme": ("keep",)}}},
    "group_allow": {"policy": Policy(groups={"ops": ("keep",)})},
}


@pytest.mark.meets("resolve:policy:seven-steps", "resolve:policy:provider-profile", "resolve:allow:empty-nothing")
@pytest.mark.parametrize("step", STEPS)
def test_each_of_the_seven_lists_narrows_and_none_of_them_adds(step: str) -> None:
    made_of = STEPS[step]
    tools = [made("keep"), made("drop"), made("never")]
    rules = {"ada": AgentRules(name="ada", **made_of.get("agent", {}))}
    profiles = {"tiny": ("keep", "never"), "none": ()}
    grants: dict[str, Any] = {
        "floor": ("keep", "drop"),
        "profiles": profiles,
        "policy": made_of.get("policy", Policy()),
    }
    resolver = resolver_of(tools, rules, **grants)
    seat = Seat(agent="ada", provider="acme", group="ops")
    assert resolver.view(seat).names == ("keep",)
    assert explain(resolver, seat, "drop").step == step
    assert explain(resolver, seat, "never").step == "grant"
    elsewhere = Seat(agent="ada", provider="other", group="fun")
    if "provider" in step or step == "group_allow":
        assert "drop" in resolver.view(elsewhere) or step == "provider_profile"


@pytest.mark.meets("resolve:allow:empty-nothing")
@pytest.mark.parametrize("rules", [{"allow": ()}, {"by_provider": {"acme": ()}}])
def test_an_empty_allow_list_lets_nothing_pass_and_an_absent_one_everything(rules: dict[str, Any]) -> None:
    assert held(ada(**rules), provider="acme") == set()
    assert held(ada(), provider="acme") == held(ada())


@pytest.mark.meets("resolve:allow:empty-ignored")
def test_an_empty_allow_list_is_no_rule_where_the_configuration_asks_for_that() -> None:
    text = "agents: {ada: {allow: []}}\npolicy: {allow: [], empty_allow: MEANING}\n"
    for meaning, expected in (("nothing", set[str]()), ("ignore", held(ada()))):
        resolver = Resolver(everything_built(), configured(read_config(text.replace("MEANING", meaning), env={})))
        assert set(resolver.view(Seat(agent="ada")).names) == expected


@pytest.mark.meets("resolve:policy:four-profiles")
@pytest.mark.parametrize(
    ("profile", "has", "lacks"),
    [
        ("full", {"create_agent", "read_file", "memorize"}, set[str]()),
        ("minimal", {"session_status"}, {"read_file"}),
        ("coding", {"read_file", "run_shell", "recall", "web_search", "read_image"}, {"send_channel_message"}),
        ("messaging", {"send_channel_message", "web_search", "skill_search"}, {"run_shell", "write_file"}),
    ],
)
def test_the_four_profiles_hold_what_the_seed_says(profile: str, has: set[str], lacks: set[str]) -> None:
    names_held = held(ada("all"), Policy(profile=profile))
    assert has <= names_held
    assert not lacks & names_held


# Deny, also-allow, hard deny


@pytest.mark.meets("resolve:deny:global-and-agent", "names:alias:before-lists")
@pytest.mark.parametrize("name", ["run_shell", "bash", "exec", "group:runtime", "run_*"])
def test_a_deny_takes_away_by_any_name(name: str) -> None:
    assert "run_shell" in held(ada())
    assert "run_shell" not in held(ada(deny=(name,)))
    assert "run_shell" not in held(ada(), Policy(deny=(name,)))
    assert "run_shell" not in held(ada("all"), Policy(hard_deny=(name,)))


@pytest.mark.meets("resolve:also-allow:restores", "resolve:also-allow:in-universe")
def test_also_allow_restores_what_a_list_took_and_adds_nothing_that_is_not_there() -> None:
    assert "run_shell" in held(ada(deny=("run_shell",), also_allow=("bash",)))
    assert "recall" in held(ada(also_allow=("recall",)))
    assert "read_file" in held(ada(), Policy(allow=(), also_allow=("read_file",)))
    only_for_main = {t.name for t in everything_built().tools if Where.SUB_AGENT not in t.traits.where}
    assert only_for_main
    assert not held(ada(also_allow=tuple(only_for_main)), depth=1) & only_for_main


@pytest.mark.meets("resolve:hard-deny:final")
def test_nothing_restores_a_hard_denied_tool() -> None:
    policy = Policy(hard_deny=("exec",), also_allow=("run_shell",))
    assert "run_shell" not in held(ada("all", also_allow=("*",)), policy, granted=("run_shell",))


# Sub-agents and tasks


@pytest.mark.meets("resolve:sub-agent:excluded", "resolve:sub-agent:denied")
def test_a_sub_agent_holds_nothing_of_the_excluded_and_the_denied_lists() -> None:
    excluded = {
        "respond_to_task", "cancel_task", "list_tasks", "reply", "create_cron", "update_cron", "delete_cron",
        "list_crons", "add_mcp_server", "update_mcp_server", "remove_mcp_server", "list_mcp_servers",
        "create_custom_tool", "run_custom_tool_setup", "delete_custom_tool", "create_tool_domain", "create_agent",
        "update_agent", "delete_agent", "get_agent_details",
    }  # fmt: skip
    assert excluded - {"respond_to_task"} <= held(ada("all")) | {"respond_to_task"}
    names_held = held(ada("all", also_allow=("*",)), depth=1, granted=tuple(excluded))
    assert not names_held & excluded
    assert not names_held & {"gateway", "session_status", "sessions_send", "activate_channel", "trigger_cron"}


@pytest.mark.meets("resolve:sub-agent:keeps-reads")
def test_a_sub_agent_keeps_memory_and_the_list_of_its_kind() -> None:
    assert {"recall", "memorize", "list_kins"} <= held(ada("all"), depth=1)


@pytest.mark.meets("resolve:sub-agent:goclaw")
def test_the_preset_of_the_seed_takes_memory_away_and_keeps_the_exclusions() -> None:
    text = "agents: {ada: {toolboxes: [all]}}\npolicy: {sub_agents: {preset: goclaw}}\n"
    resolver = Resolver(everything_built(), configured(read_config(text, env={})))
    names_held = set(resolver.view(Seat(agent="ada", depth=1)).names)
    lost = {"gateway", "list_kins", "session_status", "recall", "memory_get", "sessions_send", "sessions_list",
            "sessions_history", "spawn_self", "create_cron", "create_agent"}  # fmt: skip
    assert not names_held & lost


@pytest.mark.meets("resolve:sub-agent:leaf")
def test_a_leaf_may_not_spawn_and_a_sub_agent_above_it_may() -> None:
    assert "spawn_self" not in held(ada("all"), depth=1)
    deep = Policy(max_spawn_depth=2)
    assert "spawn_self" in held(ada("all"), deep, depth=1)
    assert "spawn_self" not in held(ada("all"), deep, depth=2)
    assert "spawn_self" in held(ada("all", max_spawn_depth=3), deep, depth=2)


@pytest.mark.meets("resolve:escalation:self-spawned")
def test_a_self_spawned_task_cannot_gain_by_a_wider_box() -> None:
    spawn = Spawn(frozenset({"read_file"}))
    assert held(ada("all"), depth=1, toolboxes=("all",), spawn=spawn) == {"read_file", *base_grants().reply}


@pytest.mark.meets("resolve:escalation:other-agent")
def test_a_task_as_another_agent_is_bounded_by_that_agent() -> None:
    assert held(ada("email"), depth=1, toolboxes=("all",), spawn=Spawn()) <= held(ada("email")) | {*base_grants().reply}
    assert "read_email" in held(ada("email"), depth=1, toolboxes=("all",), spawn=Spawn())


@pytest.mark.meets("resolve:escalation:other-agent")
def test_a_task_as_another_agent_is_bounded_by_what_that_agent_holds_at_the_same_provider() -> None:
    policy = Policy(profile="minimal", providers={"acme": ProviderRules(profile="full")})
    task: dict[str, Any] = {"depth": 1, "toolboxes": ("email",), "spawn": Spawn()}
    assert "read_email" in held(ada("email"), policy, provider="acme", **task)
    assert "read_email" not in held(ada("email"), policy, provider="other", **task)


@pytest.mark.meets("resolve:escalation:frozen")
def test_a_tasks_boxes_are_those_of_its_row_whatever_its_agent_gets_later() -> None:
    before = held(ada("email"), depth=1, toolboxes=("email",))
    after = held(ada("email", "research", tools=(KitTool("execute_sql"),)), depth=1, toolboxes=("email",))
    assert before == after


# Requests, grants, prompts


@pytest.mark.meets("resolve:request-list:intersects", "resolve:request-list:empty")
def test_a_request_list_narrows_last_and_an_empty_one_means_no_tools() -> None:
    assert held(ada("all", also_allow=("*",)), only=("bash", "mcp_git_push")) == {"run_shell"}
    assert held(ada("all", also_allow=("*",)), only=()) == set()


@pytest.mark.meets("resolve:request-list:reply-survives")
def test_a_sub_agent_keeps_its_reply_protocol_under_any_request_list() -> None:
    assert held(ada("all"), depth=1, only=()) == set(base_grants().reply) & held(ada("all"), depth=1)
    assert held(ada("all"), depth=1, only=())


@pytest.mark.meets("resolve:grants:temporary")
def test_a_temporary_grant_adds_its_tools_while_it_holds() -> None:
    assert "execute_sql" in held(ada(), granted=("execute_sql",))
    assert "execute_sql" not in held(ada(), granted=())


@pytest.mark.meets("toolkit:meta:only-when-allowed")
def test_the_toolkit_tools_are_held_only_with_allowed_toolkits_and_a_session() -> None:
    tools = [made("load_tools", condition="toolkits"), made("other")]
    kits = {"k": Toolkit(name="k", tools=(KitTool("other"),))}
    for allowed, in_session in ((("k",), True), (("k",), False), ((), True)):
        rules = {"ada": AgentRules(name="ada", allowed_toolkits=allowed)}
        view = resolver_of(tools, rules, floor=(), toolkits=kits).view(Seat(agent="ada", in_session=in_session))
        assert ("load_tools" in view) == (bool(allowed) and in_session)
        assert "other" not in view


def many(limit: int | None = None, budget: int | None = None, **grants: Any) -> Resolver:
    tools = [*(made(f"t{i:02d}") for i in range(20)), made("search_tools"), made("finish")]
    rules = {"ada": AgentRules(name="ada", toolboxes=("b",), tool_limit=limit, tool_tokens=budget)}
    box = Toolbox(name="b", tools=tuple(f"t{i:02d}" for i in reversed(range(20))))
    return resolver_of(tools, rules, floor=("finish",), toolboxes={"b": box}, **grants)


@pytest.mark.meets("resolve:shown:limit", "resolve:shown:order")
def test_beyond_the_limit_tools_are_deferred_and_the_floor_and_the_finder_come_first() -> None:
    view = many(limit=5).view(Seat(agent="ada"))
    assert [tool.name for tool in view.shown] == ["finish", "search_tools", "t00", "t01", "t02"]
    assert len(view.deferred) == 17
    assert "t19" in view
    found = many(limit=5).view(Seat(agent="ada", found=("t19", "t18")))
    assert [tool.name for tool in found.shown] == ["finish", "search_tools", "t00", "t18", "t19"]
    assert len(many().view(Seat(agent="ada")).shown) == 21
    assert "search_tools" not in many().view(Seat(agent="ada"))


@pytest.mark.meets("resolve:shown:limit")
def test_a_token_budget_defers_too_and_a_limit_of_nothing_shows_nothing() -> None:
    tight = many(budget=60).view(Seat(agent="ada"))
    assert 0 < len(tight.shown) < 6
    assert many(limit=0).view(Seat(agent="ada")).shown == ()
    assert many(policy=Policy(tool_limit=3)).view(Seat(agent="ada")).shown


# Views


def test_two_callers_in_one_seat_share_a_view_and_a_change_of_grants_does_not() -> None:
    resolver = many()
    caller = Caller(agent="ada", user="u", session="s")
    assert resolver.view(seat_of(caller)) is resolver.view(seat_of(replace(caller, user="v", session="t")))
    changed = Resolver(resolver.registry, grants_with(resolver.grants, policy=Policy(deny=("t00",))))
    assert changed.grants.revision == resolver.grants.revision + 1
    assert "t00" not in changed.view(Seat(agent="ada"))
    assert "t00" in resolver.view(Seat(agent="ada"))


def test_an_agent_that_is_not_configured_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownAgent) as refused:
        many().view(Seat(agent="adda"))
    assert isinstance(refused.value, ToolError)
    assert "ada" in refused.value.hint


@pytest.mark.meets("toolbox:builtin:read-only")
def test_a_box_that_somebody_makes_does_not_take_the_name_of_a_built_in_one() -> None:
    base = base_grants().toolboxes
    merged = overlay(base, [Toolbox(name="Scout", tools=("*",)), Toolbox(name="mine", tools=("grep",))])
    assert merged["scout"] == base["scout"]
    assert "Scout" not in merged
    assert merged["mine"].tools == ("grep",)


def test_names_in_a_view_are_found_in_any_spelling() -> None:
    view = Resolver(everything_built(), Grants(floor=("run_shell",), agents={"ada": ada()})).view(Seat(agent="ada"))
    assert "BASH" in view
    assert "read_file" not in view
    assert 3 not in view
    assert [tool.name for tool in view] == ["run_shell"]


def test_lists_for_sub_agents_do_not_touch_main_agents() -> None:
    lists = SubAgentRules(excluded=("*",), denied=("*",), leaf=("*",))
    resolver = resolver_of([made("a")], policy=Policy(sub_agents=lists))
    assert resolver.view(Seat(agent="ada")).names == ("a",)
    assert resolver.view(Seat(agent="ada", depth=1)).names == ()
