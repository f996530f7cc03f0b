"""Fifteen ways out of the walls, tried by a program inside, for each kind of walls and as root and as nobody."""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.machine.containment import CHECKS
from tests.machine.programs import ENV, PYTHON, Place, needs, users, workspace_of
from toolcrib.services.commands import Limits

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not Path(PYTHON).exists(), reason="programs are held on Linux, and these are in Python"
)
SCRIPT = Path(__file__).with_name("containment.py").read_text(encoding="utf-8")
LIMITS = Limits(seconds=60, memory=256 << 20, processes=64, file=1 << 20)


@pytest.fixture(params=users())
def user(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=["bubblewrap", "landlock"])
async def place(request: pytest.FixtureRequest, user: Any) -> Any:
    await needs(request.param, user)
    with tempfile.TemporaryDirectory(prefix="toolcrib-test-") as folder:
        Path(folder).chmod(0o711)
        with workspace_of(user, Path(folder)) as top:
            yield Place(request.param, user, top)


class Outside(NamedTuple):
    """What there is to be reached out here."""

    aims: dict[str, Any]
    near: "subprocess.Popen[Any]"
    udp: socket.socket
    folder: Path


@pytest.fixture
def outside(user: Any) -> Iterator[Outside]:
    """A neighbour of the same user with a secret in its environment, listeners, and an open folder with a file."""
    value, marker = f"value-{uuid.uuid4().hex}", f"marker-{uuid.uuid4().hex}"
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-outside-"))
    folder.chmod(0o777)
    (folder / "secret").write_text(value)
    who: dict[str, Any] = {} if user.user < 0 else {"user": user.user, "group": user.group, "extra_groups": []}
    near = subprocess.Popen(["/bin/sleep", "300"], env={"SECRET": value}, **who)
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        udp.bind(("127.0.0.1", 0))
        abstract.bind(f"\0{marker}")
        abstract.listen()
        aims = {
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": marker,
            "secret": str(folder / "secret"),
            "outside": str(folder),
            "value": value,
            "pid": near.pid,
            "marker": marker,
        }
        yield Outside(aims, near, udp, folder)
    near.kill()
    near.wait()
    shutil.rmtree(folder)


def left(marker: str) -> list[str]:
    """Processes with a mark on their command line."""
    found: list[str] = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in line.read_bytes():
                found.append(line.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.meets("sandbox:checks:fifteen", "sandbox:orphans:killed")
@pytest.mark.parametrize("check", CHECKS)
async def test_the_walls_hold(check: str, place: Place, outside: Outside):
    came = await place.run(
        PYTHON, "-c", SCRIPT, check, said_to=json.dumps(outside.aims).encode(), limits=LIMITS, env=ENV
    )
    assert "open:" not in came.said
    assert came.said.strip().endswith("held") or came.ended.why in {"memory", "signal"}, came
    outside.udp.setblocking(False)
    with pytest.raises(BlockingIOError):
        outside.udp.recv(10)
    assert outside.near.poll() is None
    assert sorted(path.name for path in outside.folder.iterdir()) == ["secret"]
    assert all(path.stat().st_size <= LIMITS.file for path in place.top.iterdir())
    assert left(outside.aims["marker"]) == []


@pytest.mark.parametrize("check", ["tcp", "udp", "host files", "environment", "pids", "signals", "processes", "memory"])
async def test_the_checks_find_what_is_open(check: str, outside: Outside, user: Any, tmp_path: Path):
    """Without walls and with wide limits each of them gets out: they are not green by themselves."""
    with tempfile.TemporaryDirectory(prefix="toolcrib-test-") as folder:
        Path(folder).chmod(0o711)
        with workspace_of(user, Path(folder)) as top:
            wide = Limits(seconds=60, memory=8 << 30, processes=2_000, file=1 << 30)
            aims = json.dumps(outside.aims).encode()
            came = await Place("host", user, top).run(PYTHON, "-c", SCRIPT, check, said_to=aims, limits=wide, env=ENV)
    if check == "udp":
        outside.udp.setblocking(False)
        assert outside.udp.recv(10) == b"out"
    else:
        assert "open:" in came.said
