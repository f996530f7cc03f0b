"""What a client has to be told, so that it reaches the tools of one agent."""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

KEY = "TOOLCRIB_KEY"
CLIENTS = {"claude": "Claude Code", "cursor": "Cursor", "vscode": "VS Code", "codex": "Codex"}


class Paste(Struct, frozen=True):
    """A text, the file that it goes into, and a command that does the same where the client has one."""

    file: str
    text: str
    command: str = ""


def config_for(
    client: str, agent: str, url: str = "", *, program: Sequence[str] = ("toolcrib",), options: Sequence[str] = ()
) -> Paste:
    """What to paste for claude, cursor, vscode or codex. With a URL the client reaches a server that runs.

    Otherwise it starts the `program`, with the `options` that it needs to find the same home.
    """
    reach = f"{url.rstrip('/')}/mcp/{agent.replace(' ', '%20')}" if url else ""
    words = [*program, "mcp", "--agent", agent, *options]
    return _MAKERS[client](words, reach)


def _claude(words: list[str], url: str) -> Paste:
    entry = _http(url, "${%s}") if url else {"command": words[0], "args": words[1:]}
    if url:
        command = f'claude mcp add --transport http toolcrib {shlex.quote(url)} --header "Authorization: Bearer ${KEY}"'
    else:
        command = f"claude mcp add toolcrib -- {shlex.join(words)}"
    return Paste(".mcp.json in your project", _json({"mcpServers": {"toolcrib": entry}}), command)


def _cursor(words: list[str], url: str) -> Paste:
    entry = _http(url, "${env:%s}") if url else {"command": words[0], "args": words[1:]}
    entry.pop("type", None)
    return Paste(".cursor/mcp.json", _json({"mcpServers": {"toolcrib": entry}}))


def _vscode(words: list[str], url: str) -> Paste:
    if not url:
        entry = {"type": "stdio", "command": words[0], "args": words[1:]}
        return Paste(".vscode/mcp.json", _json({"servers": {"toolcrib": entry}}))
    asked = {"type": "promptString", "id": "toolcrib-key", "description": "Key of Toolcrib", "password": True}
    entry = {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${input:toolcrib-key}"}}
    return Paste(".vscode/mcp.json", _json({"inputs": [asked], "servers": {"toolcrib": entry}}))


def _codex(words: list[str], url: str) -> Paste:
    if url:
        text = f'[mcp_servers.toolcrib]\nurl = {json.dumps(url)}\nbearer_token_env_var = "{KEY}"'
        return Paste("~/.codex/config.toml", text)
    text = f"[mcp_servers.toolcrib]\ncommand = {json.dumps(words[0])}\nargs = {json.dumps(words[1:])}"
    return Paste("~/.codex/config.toml", text, f"codex mcp add toolcrib -- {shlex.join(words)}")


def _http(url: str, variable: str) -> dict[str, Any]:
    return {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {variable % KEY}"}}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2)


_MAKERS = {"claude": _claude, "cursor": _cursor, "vscode": _vscode, "codex": _codex}
