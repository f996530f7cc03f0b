"""A house on a home of its own, its server's application, and clients that speak to it without a network."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from msgspec import Struct

from toolcrib.app.house import House, open_house
from toolcrib.faces.serving.composition import Composition
from toolcrib.services.people.principal import Role

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
SECONDS = 30
PASSWORD = "correct horse battery"
Clients = Callable[..., httpx2.AsyncClient]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a configuration."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "toolcrib.yaml").write_text(CONFIG, encoding="utf-8")
    return folder


@pytest.fixture
async def house(home: Path, workspace: Path) -> AsyncIterator[House]:
    """An open house."""
    async with await open_house(home=str(home), workspace=str(workspace), env={}) as opened:
        yield opened


@pytest.fixture
async def clients(house: House) -> AsyncIterator[Clients]:
    """Makes clients, each with cookies of its own."""
    composition = Composition(house)
    made: list[httpx2.AsyncClient] = []

    def make(**options: object) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(app=composition.app)
        client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", **options)  # type: ignore[arg-type]
        made.append(client)
        return client

    async with composition.running():
        yield make
    for client in made:
        await client.aclose()


@pytest.fixture
async def admin(house: House, clients: Clients) -> httpx2.AsyncClient:
    """The first admin, signed in, with the token on every request."""
    client = clients()
    token = house.people.signin.first_run()
    told = await client.post("/api/v1/setup", json={"token": token, "name": "Ada", "password": PASSWORD})
    assert told.status_code == 201, told.text
    client.headers["X-CSRF-Token"] = told.json()["csrf"]
    return client


@pytest.fixture
async def keyed(house: House, clients: Clients, admin: httpx2.AsyncClient) -> Callable[..., object]:
    """Makes clients that carry a key."""

    async def make(role: Role = Role.OPERATOR, **more: object) -> httpx2.AsyncClient:
        made = await admin.post("/api/v1/keys", json={"name": "test", "role": role.value, **more})
        assert made.status_code == 201, made.text
        return clients(headers={"Authorization": f"Bearer {made.json()['secret']}"})

    return make


class Running(Struct):
    """A server that was started."""

    process: subprocess.Popen[str]
    link: str
    first: bool

    @property
    def address(self) -> str:
        return self.link.partition("/start/")[0]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, float]:
        """Tell it to end; its code, and how long that took."""
        began = time.monotonic()
        self.process.send_signal(number)
        return self.process.wait(SECONDS), time.monotonic() - began


def started(home: Path, *more: str, **env: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "toolcrib", "up", "--home", str(home), "--json", *more]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home.parent, env={**os.environ, **env}
    )


@pytest.fixture
def up(home: Path) -> Iterator[Callable[..., Running]]:
    """Starts servers, and ends them."""
    made: list[subprocess.Popen[str]] = []

    def start(*more: str, **env: str) -> Running:
        process = started(home, "--port", "0", *more, **env)
        made.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        told = json.loads(line)
        return Running(process, told["link"], told["first_run"])

    yield start
    for process in made:
        process.kill()
        process.communicate()
