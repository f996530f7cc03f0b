"""Reading other programs' mcp.json, and printing what to paste into clients."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.faces.cli.conftest import Run, place, run
from toolcrib.core.errors import BadConfig
from toolcrib.services.imports.foreign import read_foreign
from toolcrib.services.mcp.clients import config_for
from toolcrib.services.mcp.importing import read_mcp
from toolcrib.services.mcp.servers import Transport

__all__ = ["place", "run"]

CLAUDE = """
{
  // my servers
  "mcpServers": {
    "github": {"command": "npx", "args": ["-y", "gh-mcp"], "env": {"TOKEN": "${env:GITHUB_TOKEN}", "N": 3}, "disabled": false},
    "my docs": {"type": "streamable-http", "url": "https://docs.example/mcp", "headers": {"X": "${KEY}"}},
    "old": {"type": "sse", "url": "https://old.example/sse"},
    "broken": {"args": ["x"]}
  }
}
"""
VSCODE = """
{
  "inputs": [{"type": "promptString", "id": "token", "password": true}],
  "servers": {
    "files": {"type": "stdio", "command": "fs", "args": ["${workspaceFolder}"], "env": {"T": "${input:token}"}},
  }
}
"""


def read(text: str) -> Any:
    return read_mcp(read_foreign(text, "mcp.json"), "mcp.json")


@pytest.mark.meets("mcp:import:dialects")
def test_the_form_of_claude_and_cursor_is_read():
    found = read(CLAUDE)
    github, docs, old = found.servers
    assert (github.name, github.command, github.args) == ("github", "npx", ("-y", "gh-mcp"))
    assert github.env == {"TOKEN": "${GITHUB_TOKEN}", "N": "3"}
    assert (docs.name, docs.transport, docs.headers) == ("my-docs", Transport.HTTP, {"X": "${KEY}"})
    assert (old.transport, old.url) == (Transport.SSE, "https://old.example/sse")
    notes = " ".join(map(str, found.notes))
    assert "'my docs' became 'my-docs'" in notes
    assert "neither a command nor a url" in notes


@pytest.mark.meets("mcp:import:dialects")
def test_the_form_of_vs_code_is_read_and_inputs_become_secrets():
    found = read(VSCODE)
    (files,) = found.servers
    assert (files.command, files.env) == ("fs", {"T": "{{secret:token}}"})
    notes = " ".join(map(str, found.notes))
    assert "toolcrib vault set token" in notes
    assert "${workspaceFolder} is not known here" in notes


def test_a_file_without_servers_is_refused():
    with pytest.raises(BadConfig, match="neither `mcpServers` nor `servers`"):
        read("{}")


@pytest.mark.meets("mcp:import:dialects")
def test_imported_servers_wait_for_a_person(run: Run, place: Path):
    (place / "workspace" / "mine.json").write_text(VSCODE)
    told = run("mcp", "import", "mine.json", "--json").json
    assert [(one["name"], one["state"]) for one in told["servers"]] == [("files", "pending_approval")]
    again = run("mcp", "import", "mine.json", "--json").json
    assert "files: There is an MCP server 'files' already." in again["notes"]
    assert run("mcp", "approve", "files", "--json").json["approved_by"]
    assert run("mcp", "remove", "files").out.startswith("files is removed")


@pytest.mark.meets("mcp:config:clients")
@pytest.mark.parametrize("client", ["claude", "cursor", "vscode", "codex"])
@pytest.mark.parametrize("url", ["", "http://127.0.0.1:8765"])
def test_what_to_paste_names_the_agent_in_the_clients_own_form(client: str, url: str):
    made = config_for(client, "helper", url)
    said = tomllib.loads(made.text) if client == "codex" else json.loads(made.text)
    key = {"vscode": "servers", "codex": "mcp_servers"}.get(client, "mcpServers")
    entry = said[key]["toolcrib"]
    if url:
        assert entry["url"] == "http://127.0.0.1:8765/mcp/helper"
        assert "TOOLCRIB_KEY" in made.text or "toolcrib-key" in made.text
    else:
        assert [entry["command"], *entry["args"]] == ["toolcrib", "mcp", "--agent", "helper"]


@pytest.mark.meets("mcp:config:clients")
def test_what_is_printed_starts_this_program_with_this_home_from_any_folder(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_SCRIPT", "/opt/crib/toolcrib")
    told = run("mcp", "config", "--client", "claude", "--agent", "helper")
    home = place / "home"
    assert f"claude mcp add toolcrib -- /opt/crib/toolcrib mcp --agent helper --home {home}" in told.out


def test_what_to_paste_for_an_agent_that_is_not_there_is_refused(run: Run):
    told = run("mcp", "config", "--client", "claude", "--agent", "helpr")
    assert told.code == 2
    assert "There is no agent 'helpr'. Did you mean helper?" in told.err


def test_a_server_of_the_configuration_that_cannot_be_is_refused_with_its_line(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents: {}\nmcpServers:\n  x: {args: [a]}\n")
    told = run("config", "check")
    assert told.code == 1
    assert "toolcrib.yaml:3: mcpServers.x:" in told.out
    assert "neither a command nor a url" in told.out + told.err
