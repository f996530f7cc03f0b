"""`toolcrib mcp`: what it refuses, what it notes, and what it says next."""

import json
import sys
from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run

PLAIN = str(Path(__file__).parents[2] / "mcp" / "plain_server.py")


def write(name: str, servers: object) -> str:
    Path(name).write_text(json.dumps({"mcpServers": servers}))
    return name


def test_a_file_that_is_no_text_and_one_that_is_no_json_are_refused_in_plain_words(run: Run):
    Path("bin.json").write_bytes(b"\xff\xfe")
    assert "bin.json is no text in UTF-8, so it is no mcp.json." in run("mcp", "import", "bin.json").err
    Path("bad.json").write_text('{"mcpServers": {"a": ')
    told = run("mcp", "import", "bad.json")
    assert told.code == 1
    assert "This is not JSON" in told.err
    assert "YAML" not in told.err


def test_what_is_switched_off_elsewhere_is_not_approved_unseen(run: Run):
    found = run("mcp", "import", write("m.json", {"a": {"command": "x", "disabled": True}, "b": {"command": "x"}}))
    assert "a: It is switched off there, so it waits for approval here." in found.err
    run("mcp", "remove", "a")
    run("mcp", "remove", "b")
    told = run("mcp", "import", "m.json", "--approve", "--json").json
    assert {one["name"]: one["state"] for one in told["servers"]} == {"a": "pending_approval", "b": "idle"}


def test_a_secret_that_stands_in_an_imported_file_is_noted(run: Run):
    env = {"GH_TOKEN": "plain-text", "API_KEY": "{{secret:K}}", "X_TOKEN": "${T}", "LEVEL": "1"}
    told = run("mcp", "import", write("m.json", {"a": {"command": "x", "env": env}}))
    assert "The value of GH_TOKEN looks like a secret" in told.err
    assert "plain-text" not in told.out + told.err
    assert "API_KEY looks" not in told.err
    assert "X_TOKEN looks" not in told.err


def test_an_address_of_another_kind_is_no_command(run: Run):
    told = run("mcp", "add", "x", "htp://example.org/mcp")
    assert told.code == 1
    assert "addresses begin with https:// or http://" in told.err
    told = run("mcp", "add", "two words", "x")
    assert "use up to 64 letters" in told.err
    assert "Give it a command" not in told.err


def test_a_path_that_hangs_on_the_folder_is_noted_and_a_folder_is_kept_whole(run: Run, place: Path):
    Path("server.py").touch()
    Path("bin").mkdir()
    Path("bin/start").touch()
    assert "'bin/start' is looked for in the folder" in run("mcp", "add", "a", "bin/start").err
    assert not run("mcp", "add", "b", "npx", "-y", "@some/package").err
    told = run("mcp", "add", "--cwd", "bin", "c", "./start")
    assert f"in  {place / 'workspace' / 'bin'}" in told.out
    assert not told.err


def test_a_grant_for_nobody_is_refused_and_one_of_an_unknown_tool_noted(run: Run):
    run("mcp", "add", "--approve", "s", sys.executable, PLAIN)
    assert run("mcp", "retry", "s").code == 0
    for ask in ("grant", "request"):
        told = run("mcp", ask, "s", "--agent", "helpr")
        assert told.code == 2
        assert "There is no agent 'helpr'. Did you mean helper?" in told.err
    told = run("mcp", "grant", "s", "--agent", "helper", "--allow", "mcp_s_echo")
    assert "s has no tool 'mcp_s_echo'" in told.err
    assert not run("mcp", "grant", "s", "--agent", "helper", "--deny", "die").err
    told = run("explain", "helper", "mcp_s_die")
    assert "the grant of server s to agent helper leaves it out" in told.out
    assert "toolcrib mcp grant s --agent helper" in told.out


def test_what_does_not_start_is_told_once(run: Run):
    run("mcp", "add", "--approve", "s", "/no/such/program")
    told = run("mcp", "retry", "s")
    assert told.code == 1
    assert not told.out
    assert told.err.count("could not be started") == 1
    assert run("mcp", "log", "s").out.count("could not be started") == 1
    assert "none is known yet" in run("mcp", "tools", "s").err
    assert "To use it: toolcrib mcp enable s" in run("mcp", "disable", "s").out


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode", "codex"])
def test_what_to_paste_for_a_server_says_where_its_key_comes_from(run: Run, client: str):
    told = run("mcp", "config", "--client", client, "--agent", "helper", "--url", "http://127.0.0.1:8765/")
    assert "with the scope mcp" in told.err
    assert "http://127.0.0.1:8765/people/keys" in told.err
    assert run("mcp", "config", "--client", client, "--agent", "helper", "--url", "127.0.0.1:1").code == 2
