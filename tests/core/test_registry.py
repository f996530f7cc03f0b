"""What a name in a list means: canonical names, aliases, groups, covers and patterns."""

from collections.abc import Iterable

import pytest

from tests.worlds import NoArguments, nothing
from toolcrib.core.errors import BadTool
from toolcrib.core.registry import Names, Registry, Reserved, UnknownName, near
from toolcrib.core.tool import Tool
from toolcrib.sources.native import names as native_names


def made(name: str, *aliases: str, source: str = "native", origin: str = "", domain: str = "own") -> Tool:
    return Tool(
        name=name, domain=domain, about="A tool.", body=nothing, arguments=NoArguments(), aliases=aliases,
        source=source, origin=origin,
    )  # fmt: skip


TOOLS = (
    made("run_shell", "bash", "exec"),
    made("read_file", domain="files"),
    made("write_file", domain="files"),
    made("browser_click"),
    made("browser_type"),
    made("send_agent_message", "send_message"),
    made("team_send", "send_message"),
    made("custom_browser_report", source="custom"),
    made("mcp_git_push", "mcp_git__push", source="mcp", origin="git"),
    made("mcp_jira_list", source="mcp", origin="Jira"),
    made("plugin_paint_draw", source="plugin", origin="paint"),
)
NAMES = Names(
    groups={"fs": ("read_file", "write_file"), "work": ("group:fs", "exec"), "goclaw": ("*native",)},
    covers={"browser": ("browser_click", "browser_type", "browser_wait_for"), "cron": ("create_cron",)},
    reserved={
        "create_cron": Reserved("create_cron", "Make a cron.", "crons", ("add_cron",)),
        "browser_wait_for": Reserved("browser_wait_for", "Wait.", "browser"),
    },
)
REGISTRY = Registry(TOOLS, NAMES)


def meant(*entries: str, registry: Registry = REGISTRY) -> set[str]:
    return set(registry.names_of(registry.mask(entries)))


@pytest.mark.meets("names:alias:before-lists", "names:case:insensitive")
@pytest.mark.parametrize("entry", ["run_shell", "bash", "exec", "BASH", "Run_Shell", " exec "])
def test_every_name_of_a_tool_means_the_tool(entry: str) -> None:
    assert meant(entry) == {"run_shell"}


@pytest.mark.meets("names:alias:ambiguous")
def test_an_alias_of_two_tools_means_neither_and_the_refusal_names_both() -> None:
    assert meant("send_message") == set()
    assert REGISTRY.get("send_message") is None
    with pytest.raises(UnknownName, match="send_agent_message or team_send"):
        REGISTRY.check("send_message")


@pytest.mark.meets("names:unknown:refused")
@pytest.mark.parametrize(
    ("entry", "nearest"),
    [("read_fil", "read_file"), ("group:fss", "group:fs"), ("group:mcp:gti", "group:mcp:git"), ("bsh", "bash")],
)
def test_an_unknown_name_grants_nothing_and_is_refused_with_the_nearest(entry: str, nearest: str) -> None:
    assert meant(entry) == set()
    with pytest.raises(UnknownName) as refused:
        REGISTRY.check(entry)
    assert nearest in refused.value.near
    assert nearest in str(refused.value)


@pytest.mark.meets("names:cover:several")
def test_a_name_that_covers_several_tools_is_good_in_a_list_and_cannot_be_called() -> None:
    assert meant("browser") == {"browser_click", "browser_type"}
    assert meant("cron") == set()  # known, and not built yet
    REGISTRY.check("cron")
    assert REGISTRY.get("browser") is None


@pytest.mark.meets("names:group:seed-table")
def test_groups_hold_their_members_and_each_other() -> None:
    assert meant("group:fs") == {"read_file", "write_file"}
    assert meant("GROUP:Work") == {"read_file", "write_file", "run_shell"}
    assert meant("group:goclaw") == {tool.name for tool in TOOLS if tool.source == "native"}


@pytest.mark.meets("names:group:seed-table")
@pytest.mark.parametrize(
    ("group", "members"),
    [
        ("fs", "read_file write_file list_directory edit_file grep glob"),
        ("runtime", "run_shell"),
        ("web", "web_search browse_url"),
        ("memory", "recall memory_get"),
        ("sessions", "sessions_list sessions_history sessions_send spawn_self session_status"),
        ("messaging", "send_channel_message create_forum_topic"),
        ("delegation", "handoff delegate_search evaluate_loop"),
        ("team", "team_tasks team_message"),
    ],
)
def test_the_groups_that_come_with_the_crib_hold_the_members_of_the_seed(group: str, members: str) -> None:
    every = members.split()
    registry = Registry(map(made, every), native_names(frozenset(every)))
    assert meant(f"group:{group}", registry=registry) >= set(every)


@pytest.mark.meets("toolbox:mcp:by-name", "toolbox:plugin:by-name-or-group", "names:group:per-registry")
def test_tools_of_a_server_or_a_plugin_have_a_group_in_the_registry_that_holds_them() -> None:
    assert meant("group:mcp") == {"mcp_git_push", "mcp_jira_list"}
    assert meant("group:mcp:git") == {"mcp_git_push"}
    assert meant("group:mcp:jira") == {"mcp_jira_list"}
    assert meant("group:plugin:paint") == {"plugin_paint_draw"}
    assert meant("mcp_git__push") == {"mcp_git_push"}
    other = Registry(TOOLS[:3])
    assert meant("group:mcp", registry=other) == set()
    with pytest.raises(UnknownName):
        other.check("group:mcp:git")


@pytest.mark.meets("names:pattern:explicit")
def test_a_pattern_reaches_mcp_and_plugin_tools_only_if_it_begins_so() -> None:
    assert meant("browser_*") == {"browser_click", "browser_type"}
    assert meant("*browser*") == {"browser_click", "browser_type", "custom_browser_report"}
    assert meant("?cp_*") == set()
    assert meant("*_p*") == set()
    assert meant("mcp_*") == {"mcp_git_push", "mcp_jira_list"}
    assert meant("Plugin_*") == {"plugin_paint_draw"}
    with pytest.raises(UnknownName, match="fits no tool"):
        REGISTRY.check("nothing_*")


@pytest.mark.meets("toolbox:wildcard:not-mcp", "toolbox:wildcard:not-plugin", "toolbox:wildcard:native-and-custom")
def test_a_star_is_every_native_and_custom_tool() -> None:
    assert meant("*") == {tool.name for tool in TOOLS if tool.source in {"native", "custom"}}
    assert meant("*everything") == {tool.name for tool in TOOLS}


@pytest.mark.meets("registry:duplicate:refused")
def test_two_tools_of_one_name_in_any_letters_are_refused() -> None:
    with pytest.raises(BadTool, match=r"(?i)two tools are called read_file"):
        Registry((*TOOLS, made("Read_File")))


def test_the_refusal_of_a_second_tool_names_both_origins() -> None:
    with pytest.raises(BadTool, match=r"native.*git|git.*native"):
        Registry((made("pull"), made("pull", source="mcp", origin="git")))


@pytest.mark.meets("registry:snapshot:immutable")
def test_a_new_snapshot_leaves_the_old_one_as_it_was() -> None:
    new = Registry((*TOOLS, made("late")), NAMES, generation=REGISTRY.generation + 1)
    assert "late" in meant("*", registry=new)
    assert REGISTRY.get("late") is None
    assert new.generation > REGISTRY.generation


@pytest.mark.meets("registry:catalogue:known-not-built")
def test_a_tool_that_is_not_built_may_be_listed_and_grants_nothing() -> None:
    REGISTRY.check("create_cron")
    REGISTRY.check("add_cron")
    assert meant("create_cron", "add_cron") == set()
    told = REGISTRY.reserved("add_cron")
    assert told is not None
    assert told.name == "create_cron"


def test_the_nearest_names_are_those_that_look_alike() -> None:
    choices: Iterable[str] = ("read_file", "write_file", "run_shell")
    assert near("READ_FIEL", choices)[0] == "read_file"
    assert near("zzz", choices) == []


@pytest.mark.parametrize("away", ["group:mcp:away", "mcp_away_tool", "nothing_*", "plugin_gone"])
def test_a_group_with_a_member_that_is_away_still_holds_the_others(away: str) -> None:
    registry = Registry(TOOLS, Names(groups={"danger": ("run_shell", away)}, covers={"many": (away, "exec")}))
    assert meant("group:danger", registry=registry) == {"run_shell"}
    assert meant("many", registry=registry) == {"run_shell"}


def test_a_group_that_contains_itself_is_refused_and_does_not_hang() -> None:
    registry = Registry(TOOLS, Names(groups={"a": ("group:b",), "b": ("group:a",)}))
    with pytest.raises(UnknownName, match="contains itself"):
        registry.check("group:a")
    assert meant("group:a", registry=registry) == set()
