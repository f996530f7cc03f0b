"""A home folder with a few agents, a workspace to stand in, and the program, run in this process or as a real one."""

import asyncio
import io
import json
import os
import shutil
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from toolcrib.app import open_crib
from toolcrib.core.call import Caller
from toolcrib.faces.cli import main
from toolcrib.services.approvals.requests import ApprovalRequest, Reason
from toolcrib.services.todos import Todo
from toolcrib.services.undo.noted import NotedTodos
from toolcrib.services.undo.notes import NOTES, Notes

CONFIG = """\
agents:
  helper: {toolboxes: [all]}
  scout: {toolboxes: [scout]}
  asker: {tools: [request_tool_access]}
toolboxes:
  notes: {description: Notes and files, tools: [read_file, write_file]}
confirm: [destructive]
rules:
  - {tool: write_file, where: {path: "private*"}, action: ask, why: it is private}
"""
OTHER = """\
agents:
  helper: {toolboxes: [scout]}
  scout: {toolboxes: [scout]}
"""
MINDROOM = """\
agents:
  code:
    display_name: Code
    role: writes code
    tools: [file, shell]
    rooms: [lobby]
"""
VAULT = [
    {"team": "", "kind": "secret", "name": "DB_PASSWORD", "value": b64encode(b"a-long-database-password").decode()},
    {
        "team": "",
        "kind": "entry",
        "name": "bank",
        "about": "credential",
        "value": b64encode(b'{"value":{"password":"a-long-bank-password"},"secret":["password"]}').decode(),
    },
]
PLAIN = Path(__file__).parents[2] / "mcp" / "plain_server.py"
OWN = {"command": sys.executable, "args": [str(PLAIN)]}
IMPORTED = {"mcpServers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}}
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"
REASON = "to keep notes of the talks"


class Ran(Struct, frozen=True):
    """What one run of the program gave."""

    code: int
    out: str
    err: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


class _Input(io.TextIOWrapper):
    """Standard input that is no terminal."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BytesIO(text.encode()), encoding="utf-8")


def fill(place: Path) -> None:
    """The files of a home folder and of a workspace."""
    home, workspace = place / "home", place / "workspace"
    home.mkdir(mode=0o700, parents=True)
    workspace.mkdir()
    (home / "toolcrib.yaml").write_text(CONFIG)
    files = {
        "README.md": "Welcome.\n",
        "other.yaml": OTHER,
        "mindroom.yaml": MINDROOM,
        "reader.yaml": "toolboxes: [scout]\n",
        "note.json": '{"path": "note.md", "content": "Buy milk."}',
        "mcp.json": json.dumps(IMPORTED),
        "plain.json": json.dumps({"mcpServers": dict.fromkeys(("files", "github"), OWN)}),
        "vault.json": json.dumps({"rows": VAULT}),
        "server.log": f"started\napi_key={SECRET}\n",
    }
    for name, text in files.items():
        (workspace / name).write_text(text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that holds `home` and `workspace`; we stand in the workspace."""
    for name in [name for name in os.environ if name.startswith("TOOLCRIB_") or name in {"NO_COLOR", "FORCE_COLOR"}]:
        monkeypatch.delenv(name)
    fill(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("TOOLCRIB_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "workspace")
    return tmp_path


@pytest.fixture
def run(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in this process."""

    def ran(*arguments: str, stdin: str = "") -> Ran:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", _Input(stdin))
        code = main(arguments)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return ran


@pytest.fixture(scope="session")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home where a call was made, and a tool was asked for and granted: a copy of it is quick to have."""
    place = tmp_path_factory.mktemp("lived_in") / "place"
    fill(place)

    def real(*arguments: str) -> Any:
        env = {**os.environ, "TOOLCRIB_HOME": str(place / "home")}
        done = program(*arguments, "--json", env=env, cwd=place / "workspace")
        return json.loads(done.stdout)

    real("vault", "import", "vault.json")
    called = real("call", "read_file", '{"path": "README.md"}', "--agent", "helper")
    for tools in (["glob", "explain_tool"], ["list_toolboxes"]):
        wish = json.dumps({"tool_names": tools, "reason": REASON})
        real("call", "request_tool_access", wish, "--agent", "asker", "--session", "talk")
    real("agents", "create", "reader", "--toolbox", "scout")
    later, first = real("access", "list")
    real("access", "approve", later["id"], "--good")
    (grant,) = real("access", "show", later["id"])["grants"]
    real("mcp", "import", "plain.json", "--approve")
    for name in ("files", "github"):
        real("mcp", "retry", name)
    for who in (("--agent", "helper"), ("--user", "ann")):
        real("mcp", "grant", "github", *who)
    wish = real("mcp", "request", "files", "--user", "ann")
    waits = {"WISH": wish["id"], **asyncio.run(_waiting(place))}
    return place, {"CALL": called["id"], "REQUEST": first["id"], "GRANT": grant["id"], **waits}


async def _waiting(place: Path) -> dict[str, str]:
    """An approval that waits, a standing rule, and a change that can be undone: kept without a call on record."""
    async with await open_crib(home=str(place / "home"), workspace=str(place / "workspace"), env={}) as crib:
        kept = crib.store.approvals
        await kept.ask(approval("a1"))
        await kept.ask(approval("a2", mark="other"))
        done = await crib.approvals.answer("a2", "accept", by="kim", lifetime="always")
        before = NOTES.get()
        NOTES.set(Notes(crib.store.undo, "c77", "task_todos", Caller(agent="helper", session="talk")))
        await NotedTodos(crib.store.todos).put("helper", "talk", [Todo("one")])
        NOTES.set(before)
        return {"APPROVAL": "a1", "RULE": done.rule, "CHANGE": "c77"}


def approval(name: str, mark: str = "mark") -> ApprovalRequest:
    """A request to write private.md."""
    now = time.time()
    return ApprovalRequest(
        id=name,
        mark=mark,
        call="c1",
        agent="helper",
        session="talk",
        user="ann",
        tool="write_file",
        arguments='{"path":"private.md","content":"x"}',
        workspace="",
        binding={"program": "cat"},
        reasons=(Reason("rules[0]", "it is private", "m", span=(0, 7), leaves="3 bytes to example.com"),),
        undoable=False,
        patterns={"path": "private.md", "content": "x"},
        code=False,
        asked=now,
        expires=now + 3600,
    )


@pytest.fixture
def known(place: Path, lived_in: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """The ids of what happened in this home before: a CALL, a REQUEST, a GRANT, an APPROVAL, a RULE, a CHANGE."""
    shutil.rmtree(place / "home")
    shutil.copytree(lived_in[0] / "home", place / "home")
    return lived_in[1]


def program(*arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    """The real program, in a process of its own."""
    command = [sys.executable, "-m", "toolcrib", *arguments]
    return subprocess.run(command, text=True, capture_output=True, timeout=60, check=False, **more)
