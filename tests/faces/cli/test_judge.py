"""lint, simulate and suggest: judging grants before and after."""

from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run


@pytest.mark.meets("cli:lint")
def test_lint_reports_what_looks_wrong(run: Run):
    unused, broad = run("lint", "--json").json
    assert (unused["id"], unused["where"]) == ("L4", "toolboxes.notes")
    assert (broad["id"], broad["where"]) == ("L6", "agents.helper.toolboxes")
    assert "No agent uses this toolbox." in run("lint").out


@pytest.mark.meets("cli:lint")
def test_strict_lint_exits_with_1_when_there_are_findings(run: Run, place: Path):
    assert run("lint", "--strict").code == 1
    (place / "home" / "toolcrib.yaml").write_text("agents: {scout: {toolboxes: [scout]}}\n")
    assert run("lint", "--strict").code == 0


def test_lint_takes_its_limits_from_the_command_line(run: Run):
    assert "L8" in [one["id"] for one in run("lint", "--max-tools", "2", "--json").json]


@pytest.mark.meets("cli:simulate")
def test_simulate_of_another_configuration_names_gains_losses_and_refused_calls(run: Run):
    note = '{"path": "n.md", "content": "x"}'
    assert run("call", "write_file", note, "--agent", "helper").code == 0
    changes = {one["agent"]: one for one in run("simulate", "--with", "other.yaml", "--json").json}
    assert "write_file" in changes["helper"]["loses"]
    assert changes["helper"]["refused"] == {"write_file": 1}
    assert changes["asker"]["gone"]
    assert "scout" not in changes


@pytest.mark.meets("cli:simulate")
def test_simulate_of_an_agent_with_other_toolboxes(run: Run):
    (change,) = run("simulate", "--agent", "scout", "--toolboxes", "scout,notes", "--json").json
    assert "write_file" in change["gains"]
    assert "gains" in run("simulate", "--agent", "scout", "--toolboxes", "scout,notes").out


@pytest.mark.meets("cli:simulate")
def test_simulate_of_a_toolbox_that_changes_or_goes(run: Run, place: Path):
    config = place / "home" / "toolcrib.yaml"
    config.write_text(config.read_text() + "policy: {profile: full}\n")
    config.write_text(config.read_text().replace("{tools: [request_tool_access]}", "{toolboxes: [scout, notes, two]}"))
    config.write_text(config.read_text().replace("confirm:", "  two: {tools: [create_toolbox], exact: true}\nconfirm:"))
    (change,) = run("simulate", "--toolbox", "two", "--remove", "create_toolbox", "--add", "glob,think", "--json").json
    assert change["agent"] == "asker"
    assert change["loses"] == ["create_toolbox"]
    (gone,) = run("simulate", "--toolbox", "two", "--delete", "--json").json
    assert gone["loses"] == ["create_toolbox"]


def test_simulate_changes_nothing(run: Run, place: Path):
    before = (place / "home" / "toolcrib.yaml").read_text()
    run("simulate", "--agent", "scout", "--toolboxes", "all")
    assert (place / "home" / "toolcrib.yaml").read_text() == before
    assert not run("explain", "scout", "write_file", "--json").json["issued"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Say one change"),
        (("--toolbox", "notes"), "Say what changes"),
        (("--agent", "scout"), "Say which toolboxes"),
        (("--agent", "scout", "--toolboxes", "nots"), "Did you mean notes?"),
        (("--toolbox", "nots", "--remove", "grep"), "Did you mean notes?"),
        (("--toolbox", "nots", "--add", "grep"), "Did you mean notes?"),
        (("--toolbox", "notes", "--add", "raed_file"), "Did you mean read_file"),
        (("--toolbox", "notes", "--remove", "grep"), "does not list grep"),
        (("--toolbox", "scout", "--add", "grep"), "built in"),
    ],
)
def test_a_change_that_means_nothing_is_refused(arguments: tuple[str, ...], said: str, run: Run):
    told = run("simulate", *arguments)
    assert told.code == 2
    assert said in told.err


@pytest.mark.meets("cli:suggest")
def test_suggest_prints_the_smallest_toolbox_that_would_have_served(run: Run):
    run("call", "list_toolboxes", "--agent", "helper")
    run("call", "read_file", '{"path": "README.md"}', "--agent", "helper")
    run("call", "read_file", '{"path": "nosuch"}', "--agent", "helper")
    told = run("suggest", "helper", "--json").json
    assert told["calls"] == 2
    assert told["tools"] == ["list_toolboxes"]
    assert "tools: [list_toolboxes]" in run("suggest", "helper").out


def test_suggest_without_calls_says_that_there_is_nothing_to_go_by(run: Run):
    assert "There are no recorded calls of scout" in run("suggest", "scout").out
