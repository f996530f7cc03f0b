"""`toolcrib mcp`: the gateway as a client starts it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from tests.mcp.gateways import ERAS, ROOT, Person

CONFIG = """
mcpServers:
  ev:
    command: {python}
    args: [-m, tests.mcp_everything, stdio]
    cwd: {root}
confirm: [write]
agents:
  helper:
    tools: ["group:mcp:ev", write_file, read_file]
  other: {{}}
"""
CALLED = '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "toolcrib.yaml").write_text(CONFIG.format(python=sys.executable, root=ROOT))
    return tmp_path


def line(home: Path, *more: str) -> list[str]:
    return ["-m", "toolcrib", "mcp", "--home", str(home), "--workspace", str(home), *more]


def started(home: Path, *more: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=line(home, *more), cwd=str(ROOT))


def run(home: Path, *more: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *line(home, *more)],
        input=text,
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )


@pytest.mark.meets("gateway:agent:http-and-stdio")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_lists_calls_and_is_asked(home: Path, era: str):
    person = Person(content={"decision": "allow once"})
    async with person.client(started(home, "--agent", "helper"), era) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"write_file", "read_file"} <= names
        told = await client.call_tool("write_file", {"path": "a.txt", "content": "hello"})
        assert not told.is_error
        assert (home / "a.txt").read_text() == "hello"
        assert "helper wants to call write_file" in person.asked[0].message
        person.action = "decline"
        told = await client.call_tool("write_file", {"path": "b.txt", "content": "hello"})
        assert told.meta["toolcrib/error"]["code"] == "approval_denied"
        assert not (home / "b.txt").exists()


@pytest.mark.parametrize("era", ERAS)
async def test_one_server_alone(home: Path, era: str):
    person = Person(content={"decision": "allow once"})
    async with person.client(started(home, "--agent", "helper", "--server", "ev"), era) as client:
        for _ in range(10):  # its tools are known once it was connected for the first time
            tools = {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}
            if "sum_up" in tools:
                break
        assert not (await client.call_tool("sum_up", {"a": 1, "b": 2})).is_error
        assert len((await client.list_prompts()).prompts) == 5


def test_what_was_asked_before_the_input_ended_is_answered_and_nothing_else_is_said(home: Path):
    text = CALLED % (1, "ping", "{}") + "no json\n\n" + CALLED % (2, "ping", "{}")
    ended = run(home, "--agent", "helper", text=text)
    assert ended.returncode == 0
    told = [json.loads(one) for one in ended.stdout.splitlines()]
    assert sorted(str(one["id"]) for one in told) == ["1", "2", "None"]
    assert [one["error"]["code"] for one in told if "error" in one] == [-32700]


def test_an_agent_that_is_not_there_is_told_on_standard_error(home: Path):
    ended = run(home, "--agent", "helpr")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Did you mean helper" in ended.stderr


@pytest.mark.parametrize("source", ["/dev/null", "closed", "file"])
def test_without_a_client_it_ends(home: Path, tmp_path: Path, source: str):
    (tmp_path / "asked").write_text(CALLED % (1, "ping", "{}"))
    command = [sys.executable, *line(home, "--agent", "other")]
    given = {"/dev/null": "</dev/null", "closed": "<&-", "file": f"<{tmp_path}/asked"}[source]
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {given}', "sh", *command],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert ('"result"' in done.stdout) == (source == "file")


def test_a_server_that_is_not_there_is_told_on_standard_error(home: Path):
    done = run(home, "--agent", "helper", "--server", "nosuch")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no MCP server 'nosuch'" in done.stderr


async def test_a_yes_from_another_process_lets_the_same_call_run(home: Path):
    client: Any = Person().client(started(home, "--agent", "helper"), "old")
    client.elicitation_callback = None
    async with client:
        call = ("write_file", {"path": "a.txt", "content": "hello"})
        said = (await client.call_tool(*call)).meta["toolcrib/error"]
        assert said["code"] == "approval_required"
        answer = ["approvals", "answer", said["request"], "accept", "--home", str(home)]
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "toolcrib", *answer, stdout=subprocess.DEVNULL
        )
        assert await other.wait() == 0
        assert not (await client.call_tool(*call)).is_error
    assert (home / "a.txt").read_text() == "hello"
