"""`toolcrib demo`: it shows what it says, by itself, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2

from toolcrib.faces.cli.server.demo import KEY, WORD


def program(place: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "toolcrib", "demo", *more]


def test_the_demo_shows_every_kind_of_answer_and_ends_well(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    told = subprocess.run(
        program(tmp_path), capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60, check=False
    )
    assert (told.returncode, told.stderr) == (0, "")
    for words in ("accept", "They still need water.", "denied", "not_issued", "[REDACTED:", "undone", "none changed"):
        assert words in told.stdout
    assert KEY not in told.stdout
    assert WORD not in told.stdout
    assert list(tmp_path.iterdir()) == []


def test_the_demo_tells_programs_the_record_and_keeps_its_home_when_asked(tmp_path: Path) -> None:
    told = subprocess.run(
        program(tmp_path, "--json", "--keep", str(tmp_path / "kept")),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    (record,) = [line["record"] for line in lines if "record" in line]
    assert [entry["status"] for entry in record].count("refused") == 4
    assert (tmp_path / "kept" / "home" / "toolcrib.db").exists()
    assert "toolcrib up --home" in lines[-1]["says"]


def test_the_demo_can_leave_a_server_to_look_around(tmp_path: Path) -> None:
    with subprocess.Popen(program(tmp_path, "--serve", "--json"), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = next(line for line in process.stdout if '"next"' in line)
        address = json.loads(said)["says"].split()[2].partition("/start/")[0]
        assert httpx2.get(f"{address}/readyz").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
