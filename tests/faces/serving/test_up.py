"""`toolcrib up` as a process: it starts, says where it is, answers, streams, and ends cleanly; or says what is wrong."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from tests.faces.conftest import PASSWORD, SECONDS, Running, started

V1 = "/api/v1"


def fails(home: Path, *more: str, **env: str) -> str:
    """Start a server that cannot run; what it says."""
    process = started(home, *more, **env)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 1, (out, err)
    assert "Traceback" not in out + err
    said: str = json.loads(out)["error"]["message"] + " " + json.loads(out)["error"]["hint"]
    return said


@contextmanager
def admin_of(server: Running) -> Generator[httpx2.Client]:
    with httpx2.Client(base_url=server.address, timeout=SECONDS) as client:
        token = server.link.rpartition("/")[2]
        told = client.post(f"{V1}/setup", json={"token": token, "name": "Ada", "password": PASSWORD})
        assert told.status_code == 201, told.text
        client.headers["X-CSRF-Token"] = told.json()["csrf"]
        yield client


@pytest.mark.meets("up:fresh:one-link", "auth:admin:first-run", "up:stop:clean")
def test_the_link_makes_the_admin_and_a_restart_goes_on(up: Callable[..., Running], home: Path) -> None:
    server = up()
    assert server.first
    assert server.link.startswith("http://127.0.0.1:")
    with admin_of(server) as client:
        assert client.get("/readyz").json() == {"status": "ready"}
        assert client.post(f"{V1}/agents", json={"name": "robin"}).status_code == 201
        visit = dict(client.cookies)
    code, seconds = server.end()
    assert (code, seconds < 8) == (0, True)
    again = up()
    assert not again.first
    with httpx2.Client(base_url=again.address, cookies=visit) as client:
        assert client.get(f"{V1}/agents/robin").json()["created_by"] == "Ada"
    assert again.end(signal.SIGINT)[0] in {0, 130}


@pytest.mark.meets("up:stop:clean", "api:events:resume")
def test_streams_resume_by_number_and_end_when_the_server_does(up: Callable[..., Running]) -> None:
    server = up()
    with admin_of(server) as client, client.stream("GET", f"{V1}/events?kinds=call") as stream:
        lines = stream.iter_lines()
        assert read(lines)[1] == {"gap": False}
        for thought in ("one", "two", "three"):
            body = {"agent": "helper", "tool": "think", "arguments": {"thought": thought}}
            assert client.post(f"{V1}/calls", json=body).json()["status"] == "done"
        seen = [read(lines) for _ in range(3)]
        assert [data["tool"] for _, data in seen] == ["think"] * 3
        with client.stream("GET", f"{V1}/events", headers={"Last-Event-ID": seen[0][0]}) as other:
            again = other.iter_lines()
            assert read(again)[1] == {"gap": False}
            assert [read(again)[0] for _ in range(2)] == [seen[1][0], seen[2][0]]
        code, seconds = server.end()
        assert (code, seconds < 8) == (0, True)
        assert any(line == "event: bye" for line in lines)


def read(lines: Iterator[str]) -> tuple[str, dict[str, Any]]:
    """The number and the data of the next event."""
    number = ""
    for line in lines:
        if line.startswith("id: "):
            number = line[4:]
        if line.startswith("data: "):
            return number, json.loads(line[6:])
    raise AssertionError("the stream ended")


@pytest.mark.meets("up:loopback:default")
def test_without_sign_in_it_listens_on_this_machine_only(home: Path, up: Callable[..., Running]) -> None:
    said = fails(home, "--host", "0.0.0.0", TOOLCRIB_AUTH="off")
    assert "Sign-in is off" in said
    assert "--host 127.0.0.1" in said
    server = up(TOOLCRIB_AUTH="off")
    assert httpx2.get(f"{server.address}{V1}/session").json()["via"] == "off"


def test_a_command_beside_the_server_says_where_the_servers_own_states_are(
    home: Path, up: Callable[..., Running]
) -> None:
    def listed() -> str:
        command = [sys.executable, "-m", "toolcrib", "mcp", "list", "--home", str(home)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout

    server = up()
    assert f"{server.address}/mcp-servers" in listed()
    server.end()
    assert "/mcp-servers" not in listed()


@pytest.mark.meets("up:trouble:sentence")
def test_a_used_port_a_used_home_and_a_bad_port_are_sentences(home: Path, up: Callable[..., Running]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = fails(home, "--port", port)
        assert f"Port {port} on 127.0.0.1 is in use" in said
        assert "--port" in said
    assert "is no number" in fails(home, "--port", "x")
    assert "no address" in fails(home, "--host", "no.such.host.invalid")
    server = up()
    assert server.address in fails(home, "--port", "0")


@pytest.mark.meets("up:trouble:sentence")
def test_an_unusable_home_a_newer_store_and_a_lost_key_are_sentences(
    tmp_path: Path, home: Path, up: Callable[..., Running]
) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    assert "--home" in fails(file)
    server = up()
    with admin_of(server) as client:
        assert client.put(f"{V1}/secrets/A", json={"value": "v4lue-of-a-secret"}).status_code == 200
    server.end()
    (home / "vault" / "key").rename(tmp_path / "key")
    said = fails(home, "--port", "0")
    assert "key" in said.lower()
    (tmp_path / "key").rename(home / "vault" / "key")
    engine = sa.create_engine(f"sqlite:///{home / 'toolcrib.db'}")
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE tc_version SET version_num = '9999'"))
    engine.dispose()
    assert "9999" in fails(home, "--port", "0")


@pytest.mark.meets("api:health:metrics")
def test_health_and_figures(up: Callable[..., Running]) -> None:
    server = up()
    with admin_of(server) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        client.post(f"{V1}/calls", json={"agent": "helper", "tool": "think", "arguments": {"thought": "x"}})
        client.post(f"{V1}/calls", json={"agent": "helper", "tool": "secret-argument-as-a-name"})
        figures = client.get("/metrics").text
    assert 'toolcrib_calls_total{code="",status="done",tool="think"} 1.0' in figures
    assert 'tool="(unknown)"' in figures
    assert "secret-argument-as-a-name" not in figures
    assert httpx2.get(f"{server.address}/metrics").status_code == 401


@pytest.mark.meets("up:warm:fast")
def test_a_warm_start_is_quick_and_an_idle_server_is_small(up: Callable[..., Running]) -> None:
    up().end()
    server = up()
    assert httpx2.get(f"{server.address}/readyz").status_code == 200
    stat = Path(f"/proc/{server.process.pid}/stat")
    if not stat.exists():
        pytest.skip("this system does not say what a process uses")

    def used() -> float:
        fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    assert used() <= 2.5  # of processor time: what the clock says depends on what else runs here
    before = used()
    with pytest.raises(subprocess.TimeoutExpired):
        server.process.wait(3)
    assert used() - before <= 3 * 0.02 + 0.05
    status = stat.with_name("status").read_text(encoding="utf-8")
    assert int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) <= 160 * 1024
