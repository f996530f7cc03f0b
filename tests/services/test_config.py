"""toolcrib.yaml: what it may say, and how a mistake in it is told."""

import pytest

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.services.config.reading import key_rows, read_config
from toolcrib.services.config.values import AgentFlow, Config

WHOLE_FILE = """
agents:
  helper:
    description: Helps
    toolboxes: [research, own]
    tools: [exec, {http_request: {timeout: 5}}]
    allow: [group:fs]
    deny: [bash]
    also_allow: [think]
    by_provider: {openai: {allow: [grep]}, local: [glob]}
    allowed_toolkits: [desk]
    initial_toolkits: [desk]
    max_spawn_depth: 2
    tool_limit: 40
    tool_tokens: 9000
    workspace: /srv/helper
    deny_paths: [.git]
    context_files: predefined
    rate: 60
  short: [ops]
  bare:
toolboxes:
  own: [read_file]
  strict: {description: Only looks, tools: [grep], exact: true}
toolkits:
  desk: {description: The desk, tools: [web_search, sql: {url: x}]}
policy:
  profile: coding
  allow: [group:fs]
  deny: [gateway]
  also_allow: [think]
  hard_deny: [execute_sql]
  providers: {openai: {profile: minimal, allow: []}}
  groups: {g1: [grep], g2: {allow: [glob]}}
  sub_agents: {preset: goclaw, deny: [cron], leaf_deny: []}
  max_spawn_depth: 3
  tool_limit: 60
rules:
  - {tool: run_shell, where: {command: "git *"}, action: allow}
  - {tool: "*", action: ask, why: because}
confirm: [destructive]
limits: {rate: 100, tools: {grep: 5}, result: 9000, seconds: {grep: 2.5}, at_once: 3}
flow: {mode: deny, agents: {helper: off}, tools: [notify]}
audit: strict
workspace: /srv
deny_paths: [.ssh]
store: sqlite:///x.db
scrub: {env: [API_KEY]}
"""


def read(text: str, **env: str) -> Config:
    return read_config(text, env=env)


def problems(text: str, **env: str) -> list[Problem]:
    with pytest.raises(BadConfig) as refused:
        read_config(text, env=env)
    return list(refused.value.problems)


def only(text: str, **env: str) -> Problem:
    (problem,) = problems(text, **env)
    return problem


def test_everything_that_may_be_written_is_read():
    config = read(WHOLE_FILE)
    helper = config.agents["helper"]
    assert helper.toolboxes == ("research", "own")
    assert [(tool.name, tool.overrides) for tool in helper.tools] == [("exec", {}), ("http_request", {"timeout": 5})]
    assert helper.by_provider == {"openai": ("grep",), "local": ("glob",)}
    assert (helper.max_spawn_depth, helper.tool_limit, helper.tool_tokens, helper.rate) == (2, 40, 9000, 60)
    assert (helper.workspace, helper.deny_paths, helper.context_files) == ("/srv/helper", (".git",), "predefined")
    assert config.agents["short"].toolboxes == ("ops",)
    assert config.agents["bare"].toolboxes == ()
    assert config.toolboxes["own"].tools == ("read_file",)
    assert config.toolboxes["strict"].exact
    assert config.toolkits["desk"].tools[1].overrides == {"url": "x"}
    assert config.policy.providers["openai"].allow == ()
    assert config.policy.groups == {"g1": ("grep",), "g2": ("glob",)}
    assert config.policy.hard_deny == ("execute_sql",)
    assert (config.sub_agents.preset, config.sub_agents.deny, config.sub_agents.leaf_deny) == ("goclaw", ("cron",), ())
    assert [(rule.name, rule.tool, rule.action) for rule in config.rules] == [
        ("rules[0]", "run_shell", "allow"),
        ("rules[1]", "*", "ask"),
    ]
    assert config.rules[0].where == {"command": "git *"}
    assert config.confirm == ("destroy",)
    assert (config.limits.rate, config.limits.tools, config.limits.seconds) == (100, {"grep": 5}, {"grep": 2.5})
    assert (config.flow.mode, config.flow.agents, config.flow.tools) == (
        "deny",
        {"helper": AgentFlow(mode="off")},
        ("notify",),
    )
    assert (config.audit, config.store, config.scrub_env) == ("strict", "sqlite:///x.db", ("API_KEY",))
    assert not config.notes


@pytest.mark.meets("config:agent:short")
def test_a_name_and_its_toolboxes_are_enough_for_an_agent():
    assert read("agents: {name: {toolboxes: [research]}}").agents["name"].toolboxes == ("research",)


def test_an_empty_file_is_a_configuration_that_says_nothing():
    for text in ("", "\n", "# nothing\n", "---\n", "{}"):
        assert read(text) == Config()


@pytest.mark.meets("resolve:allow:empty-nothing")
def test_an_absent_list_is_no_rule_and_an_empty_one_lets_nothing_pass():
    config = read("agents: {a: {allow: []}, b: {allow: }, c: {}}\npolicy: {allow: ~}\n")
    assert config.agents["a"].allow == ()
    assert config.agents["b"].allow is None
    assert config.agents["c"].allow is None
    assert config.policy.allow is None


@pytest.mark.meets("resolve:allow:empty-ignored")
def test_an_empty_allow_list_is_no_rule_if_that_is_asked_for():
    text = "policy: {empty_allow: ignore, allow: [], providers: {p: {allow: []}}, groups: {g: []}}\n"
    config = read(text + "agents: {a: {allow: [], by_provider: {p: []}}}\n")
    assert config.policy.allow is None
    assert config.policy.providers["p"].allow is None
    assert not config.policy.groups
    assert config.agents["a"].allow is None
    assert not config.agents["a"].by_provider


@pytest.mark.meets("config:yaml:line-numbers", "config:yaml:all-or-nothing")
def test_every_mistake_is_listed_with_its_line():
    found = problems(
        "agents:\n"
        "  a:\n"
        "    toolbox: [research]\n"
        "    rate: many\n"
        "  'b/c': []\n"
        "rulez: []\n"
        "audit: srtict\n"
        "limits:\n"
        "  at_once: 0\n"
        "agents: {}\n"
    )
    assert [(p.line, p.where) for p in found] == [
        (3, "agents.a.toolbox"),
        (4, "agents.a.rate"),
        (5, 'agents."b/c"'),
        (6, "rulez"),
        (7, "audit"),
        (9, "limits.at_once"),
        (10, ""),
    ]
    assert found[0].mend.startswith("Did you mean toolboxes")
    assert found[3].mend == "Did you mean rules?"
    assert found[4].mend == "Did you mean strict?"


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("agents: [a]", 1, "must be a mapping by agent"),
        ("- a", 1, "must be a mapping"),
        ("agents: {a: {toolboxes: research}}", 1, "must be a list of names, and it is text"),
        ("agents:\n  a:\n    deny:\n      - [x]\n", 4, "must be a name, and it is a list"),
        ("agents: {a: {deny: ['']}}", 1, "an empty text"),
        ("agents: {a: {tools: [{x: 1, y: 2}]}}", 1, "it has 2 keys"),
        ("agents: {a: {tools: [{x: 1}]}}", 1, "settings of x must be a mapping"),
        ("agents: {a: {rate: true}}", 1, "must be a whole number, and it is true or false"),
        ("agents: {a: {rate: -1}}", 1, "must be from 0"),
        ("toolboxes: {a: {exact: yes}}", 1, "must be true or false, and it is text"),
        ("toolboxes: {a: }", 1, "it is nothing"),
        ("store: 5", 1, "must be text, and it is a number"),
        ("limits: {seconds: {grep: 0}}", 1, "more than 0"),
        ("limits: {seconds: {grep: soon}}", 1, "number of seconds"),
        ("confirm: [everything]", 1, "destructive or write"),
        ("rules: [{tool: x}]", 1, "has no 'action'"),
        ("rules: [{action: ask, tool: }]", 1, "needs its 'tool'"),
        ("a: 1\na: 1", 2, "written twice"),
        ("agents:\n\ta: 1", 2, "not YAML"),
        ("agents: {a: [", 1, "not YAML"),
        ("agents: !!python/object:os.system {}", 1, "tag"),
        ("? [a]\n: 1", 1, "A key is a word"),
        ("agents: *nobody", 1, "&nobody"),
        ("agents: &a {b: *a}", 1, "&a"),
        ("<<: [1]\n", 1, "`<<` takes a mapping"),
        ("agents: {}\n---\nagents: {}", 2, "second document"),
        ("agents: \x07", 1, "character"),
        ("agents:\n  x: \ud800", 2, "no text"),
        ("[" * 5000, 1, "nested deeper"),
    ],
)
def test_a_mistake_is_refused_with_its_line(text: str, line: int, what: str):
    found = problems(text)
    assert any(what in p.what and p.line == line for p in found), found


def test_an_alias_bomb_is_refused():
    rows = [f"k{i}: &k{i} [{', '.join([f'*k{i - 1}'] * 10)}]" for i in range(1, 9)]
    assert "aliases written out" in problems("\n".join(["k0: &k0 [x, x, x, x, x, x, x, x, x, x]", *rows]))[-1].what


def test_a_huge_file_is_refused():
    assert "is the most" in only("# " + "x" * (5 * 1024 * 1024)).what


def test_anchors_and_merged_mappings_may_save_words():
    config = read(
        "agents:\n"
        "  a: &base {toolboxes: [ops], deny: &bad [execute_sql]}\n"
        "  b: {<<: *base, toolboxes: [research]}\n"
        "  c: {deny: *bad}\n"
    )
    assert config.agents["b"].toolboxes == ("research",)
    assert config.agents["b"].deny == ("execute_sql",)
    assert config.agents["c"].deny == ("execute_sql",)


def test_words_that_old_yaml_takes_for_true_or_dates_stay_words():
    config = read("agents: {on: [off], no: [2026-11-18], y: [1:30]}\nflow: {mode: off}")
    assert config.agents["on"].toolboxes == ("off",)
    assert config.agents["no"].toolboxes == ("2026-11-18",)
    assert config.flow.mode == "off"


def test_variables_come_from_the_environment():
    text = "store: postgresql://u:${PASSWORD}@${HOST:-db}/x\nlimits: {rate: '${RATE:-7}'}\nworkspace: $${HOME}/${EMPTY:-x}\n"
    config = read(text, PASSWORD="12", EMPTY="")
    assert config.store == "postgresql://u:12@db/x"
    assert config.limits.rate == 7
    assert config.workspace == "${HOME}/x"
    assert read("store: ${X}", X="5").store == "5"


def test_a_variable_that_is_not_set_is_refused():
    problem = only("store: ok\nworkspace: ${NOWHERE}\n")
    assert (problem.line, problem.where) == (2, "workspace")
    assert "NOWHERE" in problem.what
    assert "$${" in only("workspace: ${not a name}").mend


def test_a_variable_cannot_bring_structure_in():
    assert only("agents: ${X}", X="{a: [all]}").what.endswith("it is text.")
    assert read("workspace: ${X}", X="${PATH}").workspace == "${PATH}"


def test_a_key_for_later_is_said_and_does_nothing():
    config = read(
        "triggers:\n  github: {env: {TOKEN: '${NOT_SET}'}}\nagents:\n  a: {model: sonnet, context_files: [SOUL.md]}\n"
    )
    assert [(note.line, note.where) for note in config.notes] == [
        (1, "triggers"),
        (4, "agents.a.model"),
        (4, "agents.a.context_files"),
    ]
    assert all("not used" in note.what for note in config.notes)
    assert config.agents["a"].context_files == ""


def test_the_toolkits_and_agents_of_mindroom_may_stay_as_they_are():
    config = read(
        "agents: {a: {display_name: A, role: Helps, tools: [think], allowed_toolkits: [k], rooms: [lobby]}}\ntoolkits: {k: {tools: [grep]}}"
    )
    assert config.agents["a"].description == "Helps"
    assert config.agents["a"].allowed_toolkits == ("k",)


def test_the_reference_has_a_line_for_every_key():
    rows = {place: (kind, default, words) for place, kind, default, words in key_rows()}
    assert rows["agents.<agent>.toolboxes"][1] == "[]"
    assert rows["rules[].action"][0] == "`ask` or `deny` or `allow`"
    assert "policy.groups.<group>.allow" in rows
    assert all(kind and words for kind, _, words in rows.values())


def test_a_toolbox_without_tools_is_refused_with_its_line():
    with pytest.raises(BadConfig) as refused:
        read_config("toolboxes:\n  desk: {description: Empty}\n  shelf: {}\n  bin: []\n", env={})
    assert [(problem.line, problem.where) for problem in refused.value.problems] == [
        (2, "toolboxes.desk"),
        (3, "toolboxes.shelf"),
    ]
