"""Suites that others wrote, where they are installed: the conformance suite, and the servers of npm."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from tests.mcp.conftest import PLAIN
from tests.mcp.gateways import ERAS, Person, everything, over_http, up
from toolcrib.services.config.values import Config
from toolcrib.services.mcp.servers import Server, Transport

CONFORMANCE = os.environ.get("MCP_CONF_DIR", "")
NPM = os.environ.get("MCP_NPM_DIR", CONFORMANCE)
SUITE = Path(CONFORMANCE, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
SERVERS = Path(NPM, "node_modules/.bin")
INSPECTOR = Path(NPM, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
SCORES = {"2025-11-25": 30, "2026-07-28": 37}


async def failed(url: str, revision: str, out: Path) -> list[str]:
    """The scored scenarios of a revision that do not pass, as the suite itself says."""
    node = Path(CONFORMANCE, "node_modules/node/bin/node")
    line = [
        str(node),
        str(SUITE),
        "server",
        "--url",
        url,
        "--requirements",
        revision,
        "--timeout",
        "20000",
        "-o",
        str(out),
    ]
    suite = await asyncio.create_subprocess_exec(
        *line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said = (await asyncio.wait_for(suite.communicate(), 300))[0].decode()
    scored = re.findall(r"^(.) ([a-z0-9-]+): \d+ passed", said, re.MULTILINE)
    assert len(scored) >= SCORES[revision], said[-2000:]
    return [] if suite.returncode == 0 else [name for sign, name in scored if sign != "✓"]


@pytest.mark.meets("gateway:conformance:green")
@pytest.mark.skipif(not CONFORMANCE or not SUITE.exists(), reason="MCP_CONF_DIR names no folder with the suite")
@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("revision", SCORES)
async def test_every_scored_scenario_is_green(revision: str, transport: str, tmp_path: Path):
    with over_http("new") as (url, _):
        server = everything("ev", "new")
        if transport == "http":
            server = Server(name="ev", transport=Transport.HTTP, url=url)
        async with up(server) as gateway:
            assert await failed(f"{gateway.base}/a/ev", revision, tmp_path) == []


def npm_servers(folder: Path) -> dict[str, list[str]]:
    return {
        "ev": [str(SERVERS / "mcp-server-everything"), "stdio"],
        "fs": [str(SERVERS / "mcp-server-filesystem"), str(folder)],
        "mem": [str(SERVERS / "mcp-server-memory")],
    }


def calls(folder: Path) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        ("ev", "echo", {"message": 'héllo "w" 日本'}),
        ("ev", "get-sum", {"a": 2, "b": 40}),
        ("ev", "get-tiny-image", {}),
        ("ev", "get-structured-content", {"location": "New York"}),
        ("fs", "list_directory", {"path": str(folder)}),
        ("fs", "read_text_file", {"path": f"{folder}/a.txt"}),
        ("fs", "read_text_file", {"path": "/etc/passwd"}),
        ("mem", "create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["x"]}]}),
        ("mem", "read_graph", {}),
    ]


def plain(result: Any) -> Any:
    told = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {key: told.get(key) for key in ("content", "structuredContent", "isError")}


@pytest.mark.meets("gateway:npm:unchanged")
@pytest.mark.skipif(not NPM or not (SERVERS / "mcp-server-memory").exists(), reason="MCP_NPM_DIR has no such servers")
@pytest.mark.parametrize("era", ERAS)
async def test_the_servers_of_npm_go_through_unchanged(era: str, tmp_path: Path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    env = {"MEMORY_FILE_PATH": str(tmp_path / "direct.json"), "PATH": os.environ["PATH"]}
    schemas: dict[str, Any] = {}
    answers: list[Any] = []
    for name, (command, *args) in npm_servers(folder).items():
        direct = StdioServerParameters(command=command, args=args, env=env)
        asking = Person().client(direct, "old")
        if name == "fs":
            asking.list_roots_callback = None  # a server that is told of roots serves only these
        async with asking as client:
            for one in (await client.list_tools()).tools:
                schemas[f"mcp_{name}_{one.name}"] = one.input_schema
            answers += [plain(await client.call_tool(tool, given)) for to, tool, given in calls(folder) if to == name]
    env = {"MEMORY_FILE_PATH": str(tmp_path / "through.json")}
    servers = [
        Server(name=name, command=command, args=tuple(args), env=env)
        for name, (command, *args) in npm_servers(folder).items()
    ]
    async with up(*servers) as gateway, Person().client(f"{gateway.base}/a", era) as client:
        tools = {one.name: one.input_schema for one in (await client.list_tools()).tools}
        assert tools == schemas
        assert [
            plain(await client.call_tool(f"mcp_{to}_{tool}", given)) for to, tool, given in calls(folder)
        ] == answers


async def inspected(url: str, era: str, *words: str) -> tuple[int, Any]:
    """What the Inspector's command line says of a server."""
    node = Path(CONFORMANCE, "node_modules/node/bin/node")
    line = [str(node), str(SERVERS / "mcp-inspector"), "--cli", url, "--transport", "http", "--protocol-era", era]
    asked = await asyncio.create_subprocess_exec(
        *line, "--format", "json", "-q", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(asked.communicate(), 60)
    return asked.returncode or 0, json.loads(out or err)


@pytest.mark.skipif(not NPM or not INSPECTOR.exists(), reason="MCP_NPM_DIR has no Inspector of version 2")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_inspector_lists_calls_is_asked_and_is_refused(era: str):
    config = Config(confirm=("destroy",))
    agents = {"a": {"tools": ["group:mcp:s"], "deny": ["mcp_s_die"]}}
    plain_one = Server(name="s", transport=Transport.STDIO, command=sys.executable, args=(str(PLAIN), "good"))
    async with up(plain_one, agents=agents, config=config) as gateway:
        url = f"{gateway.base}/a"
        call = ("--method", "tools/call", "--tool-name")
        _, listed = await inspected(url, era, "--method", "tools/list")
        names = {one["name"] for one in listed["result"]["tools"]}
        assert "mcp_s_echo" in names
        assert "mcp_s_die" not in names
        code, said = await inspected(url, era, *call, "mcp_s_echo", "--tool-arg", "text=hello")
        assert (code, said["result"]["content"]) == (0, [{"type": "text", "text": "hello"}])
        code, asked = await inspected(url, era, *call, "mcp_s_delete_repo")
        fault = asked["result"]["_meta"]["toolcrib/error"]
        assert (code > 0, fault["code"]) == (True, "approval_required")
        await gateway.crib.approvals.answer(fault["request"], "accept", by="ada")
        code, done = await inspected(url, era, *call, "mcp_s_delete_repo")
        assert (code, done["result"]["content"][0]["text"]) == (0, "delete_repo")
        code, refused = await inspected(url, era, *call, "mcp_s_die")
        assert code > 0
        assert "error" in refused
