"""config: what is wrong with a configuration, and what holds."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.faces.cli.conftest import Run
from toolcrib.services.config.reading import read_config
from toolcrib.services.config.values import Config

FULL = """\
agents:
  helper: {toolboxes: [all], allow: [], deny: [think], by_provider: {openai: {allow: [grep]}}, max_spawn_depth: 2}
  plain: {tools: [grep, {read_file: {deep: 1}}]}
  kits: {allowed_toolkits: [k], initial_toolkits: [k], description: It has kits}
toolboxes:
  notes: {description: Notes, tools: [read_file], exact: true}
  nothing: {tools: []}
toolkits:
  k: {description: d, tools: [glob, {grep: {a: 1}}]}
policy:
  profile: coding
  hard_deny: [delete_toolbox]
  groups: {ops: {allow: []}}
  providers: {openai: {profile: minimal}}
  sub_agents: {preset: goclaw, deny: []}
  tool_limit: 20
confirm: [destructive, write]
rules:
  - {tool: write_file, where: {path: "secret*"}, action: ask, why: it is secret}
limits: {rate: 100, tools: {grep: 5}, seconds: {grep: 2.5}, at_once: 3}
flow: {mode: deny, agents: {helper: "off"}}
network:
  allow: []
  agents: {helper: ["*.example.com"]}
  tools: {web_fetch: [api.example.com]}
  allow_private: ["127.0.0.1:8080"]
  buckets: {news: {calls: 3}, slow: {calls: 1, seconds: 5.5}}
search: {providers: [{kind: searxng, url: "http://127.0.0.1:8888"}], agents: {helper: searxng}}
audit: strict
deny_paths: [hidden]
scrub: {env: [A_KEY]}
"""


@pytest.mark.meets("cli:config:check")
def test_check_reports_every_problem_with_its_line(run: Run, place: Path):
    bad = place / "workspace" / "bad.yaml"
    bad.write_text("agents:\n  a: {toolboxes: [scuot]}\n  b: {deny: [raed_file]}\n")
    told = run("config", "check", "bad.yaml", "--json")
    assert told.code == 1
    assert not told.json["ok"]
    assert [(one["line"], one["where"]) for one in told.json["problems"]] == [
        (2, "agents.a.toolboxes[0]"),
        (3, "agents.b.deny[0]"),
    ]
    lines = run("config", "check", "bad.yaml").out.splitlines()
    assert lines[0] == "bad.yaml:2: agents.a.toolboxes[0]: There is no toolbox 'scuot'. Did you mean scout?"
    assert lines[-1] == "2 problems"


@pytest.mark.meets("config:yaml:line-numbers")
def test_check_reports_broken_yaml_with_its_line(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents:\n  a: {toolboxes: [\n")
    told = run("config", "check", "--json")
    assert told.code == 1
    assert told.json["problems"][0]["line"] >= 2


def test_check_of_a_sound_configuration_passes(run: Run):
    assert run("config", "check").out.endswith("no problems\n")
    assert run("config", "check", "--json").json["ok"]
    assert run("config", "check", "nosuch.yaml").code == 1


def test_check_shows_what_is_known_and_not_used(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents:\n  a: {model: big}\n")
    told = run("config", "check", "--json")
    assert told.code == 0
    assert [one["line"] for one in told.json["notes"]] == [2]


@pytest.mark.meets("cli:config:env")
def test_env_lists_every_setting_with_its_variable(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCRIB_STORE", "postgresql://me:hidden@localhost/crib")
    told = {one["name"]: one for one in run("config", "env", "--json").json}
    assert {"TOOLCRIB_HOME", "TOOLCRIB_CONFIG", "TOOLCRIB_STORE", "TOOLCRIB_AUDIT"} <= told.keys()
    assert told["TOOLCRIB_HOME"]["value"] == str(place / "home")
    assert told["TOOLCRIB_STORE"]["value"] == "(set)"
    assert "hidden" not in run("config", "env").out


@pytest.mark.meets("config:home:found")
def test_the_configuration_is_found_in_the_home_folder_or_named(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    assert run("explain", "asker", "--json").code == 0
    assert run("explain", "asker", "--config", "other.yaml").code == 2
    monkeypatch.delenv("TOOLCRIB_HOME")
    assert run("explain", "asker", "--home", str(place / "home"), "--json").code == 0
    monkeypatch.setenv("TOOLCRIB_CONFIG", "other.yaml")
    assert run("explain", "helper", "write_file", "--json").json["issued"] is False


@pytest.mark.meets("config:agent:short")
def test_one_line_is_enough_to_define_an_agent(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents: {me: {toolboxes: [scout]}}\n")
    assert run("explain", "me", "read_file", "--json").json["issued"]


def test_what_show_prints_can_be_read_again(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text(FULL)
    shown = run("config", "show").out
    assert _bare(read_config(shown, env={})) == _bare(read_config(FULL, env={}))
    told = run("config", "show", "--json").json["config"]
    assert _bare(read_config(json.dumps(told), env={})) == _bare(read_config(FULL, env={}))


def test_show_hides_the_store_and_secrets_of_the_environment(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("A_KEY", "melon-lamp-quartz")
    text = "store: postgresql://me:hidden@localhost/crib\nworkspace: /tmp/${A_KEY}\nscrub: {env: [A_KEY]}\n"
    (place / "home" / "toolcrib.yaml").write_text(text)
    shown = run("config", "show").out
    assert "hidden" not in shown
    assert "melon-lamp-quartz" not in shown
    assert "melon-lamp-quartz" not in run("config", "show", "--json").out


def test_show_of_nothing_says_that_the_defaults_hold(run: Run, place: Path):
    assert "the defaults hold" in run("config", "show", "--home", str(place / "nowhere")).out


def _bare(config: Config) -> Config:
    return replace(config, lines={}, notes=(), source="")
