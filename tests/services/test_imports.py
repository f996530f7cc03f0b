"""Files of MindRoom, GoClaw and Hivekeep become configurations that load, and nothing is dropped in silence."""

from pathlib import Path

import pytest

from toolcrib.core.call import Caller
from toolcrib.core.errors import BadConfig
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver, View, seat_of
from toolcrib.services.config.names import check_names
from toolcrib.services.config.reading import read_config
from toolcrib.services.config.values import Config
from toolcrib.services.imports.importing import Imported, detect, import_config
from toolcrib.sources import native

DATA = Path(__file__).parent.parent / "data" / "imports"
BASE = native.base_grants()
OWN = native.native_tools()
REGISTRY = Registry(OWN, native.names(frozenset(tool.name for tool in OWN)))


def sample(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def taken(text: str, kind: str | None = None) -> tuple[Imported, Config]:
    made = import_config(text, REGISTRY, BASE, kind=kind)
    config = read_config(made.text, env={})
    assert not check_names(config, REGISTRY, BASE)
    return made, config


def said(made: Imported) -> str:
    return "\n".join(map(str, made.notes))


def view(config: Config, agent: str) -> View:
    return Resolver(REGISTRY, native.grants(config)).view(seat_of(Caller(agent=agent)))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mindroom.yaml", "mindroom"),
        ("goclaw.json5", "goclaw"),
        ("hivekeep.json", "hivekeep"),
        ("mcp.json", "mcp"),
        ("vscode-mcp.json", "mcp"),
    ],
)
def test_whose_file_it_is_shows_in_its_content(name: str, kind: str):
    assert detect(sample(name)) == kind


def test_a_file_of_nobody_is_not_recognised():
    for text in ("", "[", "a: 1", "[1, 2]", "agents: {a: {toolboxes: [research]}}\ntoolboxes: {own: [think]}", "\x00"):
        assert detect(text) is None
    with pytest.raises(BadConfig, match="recognises"):
        import_config("a: 1", REGISTRY, BASE)


def test_servers_are_pointed_to_their_own_command():
    for name in ("mcp.json", "vscode-mcp.json"):
        with pytest.raises(BadConfig, match="toolcrib mcp import"):
            import_config(sample(name), REGISTRY, BASE)


def test_a_broken_file_is_refused_with_its_line():
    with pytest.raises(BadConfig) as refused:
        import_config('{"tools": {\n"allow": [}\n', REGISTRY, BASE)
    assert refused.value.problems[0].line == 2


@pytest.mark.meets("import:mindroom")
def test_mindrooms_toolkits_and_agents_are_taken_over():
    _, config = taken(sample("mindroom.yaml"))
    assert set(config.toolkits) == {"devops", "research", "data", "steering"}
    assert [tool.name for tool in config.toolkits["research"].tools] == ["web_search", "browse_url"]
    assistant = config.agents["assistant"]
    assert assistant.allowed_toolkits == ("devops", "research", "data", "steering")
    assert assistant.initial_toolkits == ("research",)
    names = [tool.name for tool in assistant.tools]
    assert {"read_file", "edit_file", "run_shell"} < set(names)
    assert "cron" in names, "defaults.tools are every agent's"
    assert "cron" not in [tool.name for tool in config.agents["researcher"].tools], "unless it opts out"


@pytest.mark.meets("import:mindroom")
def test_an_agent_of_mindroom_gets_no_tool_that_it_did_not_list():
    _, config = taken("agents: {a: {role: Reads, tools: [duckduckgo]}}", "mindroom")
    held = set(view(config, "a").names)
    assert not held & {"read_file", "write_file", "run_shell"}


@pytest.mark.meets("import:goclaw")
def test_goclaws_policy_is_taken_over_by_alias_and_group():
    _, config = taken(sample("goclaw.json5"))
    policy = config.policy
    assert (policy.profile, policy.allow, policy.max_spawn_depth) == ("full", ("group:goclaw",), 2)
    assert policy.deny == ("browse_url", "http_request", "gateway")
    assert policy.providers["ollama"].profile == "minimal"
    assert policy.groups == {"-100123": ("web_search", "group:memory")}
    assert config.sub_agents.preset == "goclaw"
    assert (config.limits.rate, config.rules[0].tool, config.rules[0].action) == (150, "run_shell", "ask")
    writer = config.agents["writer"]
    assert (writer.deny, writer.context_files) == (("run_shell", "process"), "open")
    assert writer.by_provider == {"openai": ("group:web",)}


@pytest.mark.meets("import:goclaw")
def test_an_agents_own_profile_holds_although_goclaw_ignores_it():
    made, config = taken(sample("goclaw.json5"))
    assert config.agents["coder"].allow == ("group:fs", "exec"), "the browser is not in coding"
    assert "group:messaging" in (config.agents["writer"].allow or ())
    assert said(made).count("GoClaw ignores it") == 2


@pytest.mark.meets("import:goclaw")
def test_an_empty_list_of_goclaw_is_no_restriction():
    made, config = taken(sample("goclaw.json5"))
    assert config.agents["guest"].allow is None
    assert "groq" not in config.policy.providers
    assert "agents.guest.tools.allow: The empty list was left out" in said(made)


def test_a_list_of_which_nothing_is_known_lets_nothing_pass():
    _, config = taken("tools: {allow: [publish_skill]}")
    assert config.policy.allow == ()


def test_a_deny_of_goclaw_reaches_every_tool_that_it_could_mean():
    _, config = taken("tools: {deny: [edit, 'group:fs']}\nagents: {list: {a: {}}}")
    assert not {"edit_file", "multi_edit", "write_file"} & set(view(config, "a").names)


@pytest.mark.parametrize("agents", ["[{id: a, tools: {deny: [exec]}}]", "{list: [{id: a, tools: {deny: [exec]}}]}"])
def test_agents_of_goclaw_may_be_a_list(agents: str):
    _, config = taken(f"agents: {agents}\ntools: {{profile: full}}")
    assert config.agents["a"].deny == ("run_shell", "process")


@pytest.mark.meets("import:hivekeep")
def test_hivekeeps_own_toolboxes_and_its_agents_are_taken_over():
    _, config = taken(sample("hivekeep.json"))
    assert set(config.toolboxes) == {"Desk-Work", "code-2", "scribe"}
    assert config.toolboxes["Desk-Work"].tools == ("read_file", "memorize")
    assert config.toolboxes["Desk-Work"].description == "Notes ${HOME} and files"
    assert config.toolboxes["scribe"].tools == ("write_file", "recall"), "kept as JSON text in the database"
    assert config.agents["queenie"].toolboxes == ("research", "Desk-Work")
    assert [tool.name for tool in config.agents["Ada-Lovelace"].tools] == ["create_agent"]


@pytest.mark.meets("import:hivekeep")
@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "mine", "description": null, "toolNames": ["recall"]}]',
        '[{"name": "mine", "tools": ["recall"]}]',
        "toolboxes: [{name: mine, tools: [recall]}]",
    ],
)
def test_a_bare_list_of_toolboxes_is_enough(text: str):
    made, config = taken(text)
    assert made.kind == "hivekeep"
    assert config.toolboxes["mine"].tools == ("recall",)


@pytest.mark.meets("import:unknown:said")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "mindroom.yaml",
            "docker aws_lambda github arxiv pandas sql notion todoist diary nowhere model router extra_env|settings",
        ),
        ("goclaw.json5", "publish_skill mcp_servers allowlist scrub_credentials alsoAllow"),
        ("hivekeep.json", "mcp_github_create_issue plugin_weather_now custom_report b9 mcp_x_y research"),
    ],
)
def test_whatever_is_left_out_is_named(name: str, words: str):
    made, _ = taken(sample(name))
    for word in words.split():
        assert any(choice in said(made) for choice in word.split("|")), word
    assert all(str(note.what).split(".")[0] in " ".join(made.text.split()) for note in made.notes[:3])


def test_nothing_of_a_foreign_file_becomes_a_variable_of_ours():
    made, config = taken('toolkits: {k: {description: "${SECRET} and $${X}", tools: [shell]}}')
    assert config.toolkits["k"].description == "${SECRET} and $${X}"
    assert "SECRET" in made.text
