"""Names in a configuration mean something, or the configuration is refused; and what comes of a sound one."""

import pytest

from toolcrib.core.call import Where
from toolcrib.core.errors import Problem
from toolcrib.core.policy import SubAgentRules
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Effect, Family, Traits, read_tool
from toolcrib.services.config.grants import grants_of
from toolcrib.services.config.names import check_names
from toolcrib.services.config.reading import read_config
from toolcrib.sources import native

family = Family(name="sample", label="Sample", about="Tools of this test.", icon="box")
PLAIN = ("read_file", "write_file", "edit_file", "glob", "grep", "think")


async def anything(*, text: str = "") -> str:
    """Do something."""
    return text


@family.tool(Effect.READ, aliases=("list_files",))
async def list_directory(*, path: str = ".") -> str:
    """List a folder."""
    return path


@family.tool(Effect.READ, condition="toolkits")
async def load_tools(*, toolkit: str) -> str:
    """Load a toolkit."""
    return toolkit


@family.tool(Effect.WRITE, where=(Where.SUB_AGENT,))
async def hand_in(*, text: str) -> str:
    """Hand the work in."""
    return text


OWN = [*family.tools, *(read_tool("sample", anything, Traits(), name=name) for name in PLAIN)]
OURS = frozenset(tool.name for tool in OWN)
TOOLS = [*OWN, *(tool for tool in native.native_tools() if tool.name not in OURS)]
REGISTRY = Registry(TOOLS, native.names(frozenset(tool.name for tool in TOOLS)))
BASE = native.base_grants()


def check(text: str, boxes: tuple[str, ...] = ()) -> list[Problem]:
    return check_names(read_config(text, env={}), REGISTRY, BASE, boxes=boxes)


def only(text: str) -> Problem:
    (problem,) = check(text)
    return problem


@pytest.mark.meets("names:unknown:refused")
@pytest.mark.parametrize(
    ("text", "where", "mend"),
    [
        ("agents: {a: {toolboxes: [reserach]}}", "agents.a.toolboxes[0]", "Did you mean research?"),
        ("agents: {a: ['*']}", "agents.a.toolboxes[0]", "is called all"),
        ("agents: {a: [bash]}", "agents.a.toolboxes[0]", "put it under `tools`"),
        ("agents: {a: {tools: [list_directry]}}", "agents.a.tools[0]", "list_directory"),
        ("agents: {a: {allow: [think, web_serch]}}", "agents.a.allow[1]", "web_search"),
        ("agents: {a: {deny: [group:memry]}}", "agents.a.deny[0]", "group:memory"),
        ("agents: {a: {also_allow: [nope_nope]}}", "agents.a.also_allow[0]", ""),
        ("agents: {a: {by_provider: {openai: [web_serch]}}}", "agents.a.by_provider.openai.allow[0]", "web_search"),
        (
            "agents: {a: {allowed_toolkits: [dsk]}}\ntoolkits: {desk: {tools: []}}",
            "agents.a.allowed_toolkits[0]",
            "desk",
        ),
        ("toolboxes: {own: [web_serch]}", "toolboxes.own.tools[0]", "web_search"),
        ("toolkits: {desk: {tools: [web_serch]}}", "toolkits.desk.tools[0]", "web_search"),
        ("policy: {profile: codng}", "policy.profile", "Did you mean coding?"),
        ("policy: {providers: {p: {profile: ful}}}", "policy.providers.p.profile", "Did you mean full?"),
        ("policy: {hard_deny: [exec_sql]}", "policy.hard_deny[0]", "execute_sql"),
        ("policy: {groups: {g: [web_serch]}}", "policy.groups.g.allow[0]", "web_search"),
        ("policy: {sub_agents: {deny: [web_serch]}}", "policy.sub_agents.deny[0]", "web_search"),
        ("rules: [{tool: 'brwser_*', action: ask}]", "rules[0].tool", ""),
        ("rules: [{tool: think, where: {txt: x}, action: ask}]", "rules[0].where.txt", "Did you mean text?"),
        ("rules: [{tool: think, where: {y: x}, action: ask}]", "rules[0].where.y", "Its arguments: text."),
        ("limits: {tools: {web_serch: 1}}", "limits.tools.web_serch", "web_search"),
        ("limits: {seconds: {web_serch: 1}}", "limits.seconds.web_serch", "web_search"),
        ("flow: {tools: [notfy]}", "flow.tools[0]", "notify"),
        ("agents: {helper: []}\nflow: {agents: {helpr: off}}", "flow.agents.helpr", "Did you mean helper?"),
    ],
)
def test_an_unknown_name_is_found_with_its_place_and_the_nearest_one(text: str, where: str, mend: str):
    problem = only(text)
    assert problem.where == where
    assert problem.line >= 1
    assert mend in problem.mend


@pytest.mark.meets("names:case:insensitive", "names:group:seed-table", "names:cover:several")
def test_names_groups_aliases_and_covers_are_good_in_any_case():
    assert not check(
        "agents: {a: {toolboxes: [Research], tools: [LIST_FILES], allow: ['group:FS', Cron, '*'], allowed_toolkits: [DESK]}}\n"
        "toolkits: {desk: {tools: [Web_Search]}}\npolicy: {deny: [Bash, 'browser_*', group:email]}"
    )


@pytest.mark.meets("names:alias:ambiguous")
def test_an_alias_of_two_tools_has_to_be_qualified():
    problem = only("agents: {a: {deny: [send_message]}}")
    assert "send_agent_message or team_send" in problem.what


def test_problems_come_in_the_order_of_their_lines():
    found = check("agents:\n  a:\n    toolboxes: [nope]\n    deny: [also_nope]\ntoolboxes:\n  b:\n    - nope\n")
    assert [problem.line for problem in found] == [3, 4, 7]


def test_a_toolbox_kept_elsewhere_is_known():
    assert not check("agents: {a: [shelved]}", boxes=("Shelved",))


@pytest.mark.meets("toolbox:builtin:read-only")
def test_a_built_in_toolbox_cannot_be_written_over():
    assert "built-in" in only("toolboxes: {Research: [think]}").what


def test_two_names_that_differ_in_capitals_are_one():
    assert "one name" in only("toolboxes: {own: [think], Own: [think]}").what


@pytest.mark.meets("toolkit:config:checked")
@pytest.mark.parametrize(
    ("tools", "what"),
    [
        ("[delegate]", "cannot be in a toolkit"),
        ("[dynamic_tools]", "cannot be in a toolkit"),
        ("[load_tools]", "cannot be in a toolkit"),
        ("['*']", "cannot be in a toolkit"),
        ("[hand_in]", "sub-agents only"),
        ("[report_to_parent]", "sub-agents only"),
        ("[think, think]", "think twice"),
        ("[exec, run_shell]", "run_shell twice"),
        ("[group:web, web_search]", "web_search twice"),
    ],
)
def test_a_toolkit_that_cannot_work_is_refused(tools: str, what: str):
    found = check(f"toolkits:\n  desk:\n    tools: {tools}\n")
    assert what in found[0].what
    assert found[0].line == 3


@pytest.mark.meets("toolkit:config:checked")
def test_what_an_agent_loads_from_the_start_is_allowed_and_listed_once():
    kits = "\ntoolkits: {desk: {tools: []}, den: {tools: []}}"
    assert "not among allowed_toolkits" in only("agents: {a: {initial_toolkits: [desk]}}" + kits).what
    assert "listed twice" in only("agents: {a: {allowed_toolkits: [den, Den]}}" + kits).what


@pytest.mark.meets("toolkit:load:conflict")
def test_toolkits_loaded_together_agree_on_settings():
    kits = "\ntoolkits: {one: {tools: [web_search: {n: 1}]}, two: {tools: [web_search: {n: 2}]}, same: {tools: [web_search: {n: 1}]}}"
    both = "agents: {a: {allowed_toolkits: [one, two, same], initial_toolkits: [one, %s]}}"
    assert "two different settings" in only(both % "two" + kits).what
    assert not check(both % "same" + kits)
    assert (
        "two different settings"
        in only("agents: {a: {toolboxes: [all], allowed_toolkits: [one], initial_toolkits: [one]}}" + kits).what
    )


def test_an_agents_own_settings_stand_against_a_toolbox():
    text = "agents: {a: {toolboxes: [research], tools: [web_search: {n: 1}], allowed_toolkits: [k], initial_toolkits: [k]}}"
    assert not check(text + "\ntoolkits: {k: {tools: [web_search: {n: 1}]}}")


def test_a_configuration_is_laid_over_what_is_built_in():
    config = read_config(
        "agents: {a: {allowed_toolkits: [DESK], initial_toolkits: [Desk]}}\n"
        "toolboxes: {own: [think]}\ntoolkits: {desk: {tools: [think]}}\n"
        "policy: {deny: [exec], sub_agents: {preset: goclaw, leaf_deny: []}}",
        env={},
    )
    grants = grants_of(config, BASE, {"goclaw": SubAgentRules(excluded=(), denied=("recall",), leaf=("spawn",))})
    assert grants.agents["a"].allowed_toolkits == grants.agents["a"].initial_toolkits == ("desk",)
    assert set(grants.toolboxes) == {*BASE.toolboxes, "own"}
    assert grants.floor == BASE.floor
    assert grants.policy.deny == ("exec",)
    assert grants.policy.sub_agents.denied == ("recall",)
    assert grants.policy.sub_agents.leaf == ()
    assert grants.policy.sub_agents.excluded == BASE.policy.sub_agents.excluded
    assert grants.revision == BASE.revision + 1


def test_without_a_preset_the_built_in_lists_hold():
    grants = grants_of(read_config("agents: {a: }", env={}), BASE, {})
    assert grants.policy.sub_agents == BASE.policy.sub_agents
