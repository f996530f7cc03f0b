"""call: the whole pipeline from the command line."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faces.cli.conftest import SECRET, Run

PRIVATE = '{"path": "private.md", "content": "x"}'


@pytest.mark.meets("cli:call")
def test_a_call_runs_through_the_pipeline_and_the_record_shows_it(run: Run):
    told = run("call", "read_file", '{"path": "README.md"}', "--agent", "helper", "--json").json
    assert (told["status"], told["text"]) == ("done", "Welcome.\n")
    (entry,) = run("audit", "--json").json
    assert (entry["id"], entry["agent"], entry["tool"], entry["status"]) == (told["id"], "helper", "read_file", "done")
    assert json.loads(entry["arguments"]) == {"path": "README.md"}


def test_people_get_the_text_alone(run: Run):
    assert run("call", "read_file", '{"path": "README.md"}', "--agent", "helper").out == "Welcome.\n"


def test_arguments_come_from_standard_input_and_from_files(run: Run, place: Path):
    told = run("call", "read_file", "-", "--agent", "helper", stdin='{"path": "README.md"}')
    assert told.out == "Welcome.\n"
    assert run("call", "write_file", "@note.json", "--agent", "helper").code == 0
    assert (place / "workspace" / "note.md").read_text() == "Buy milk."


def test_an_agent_works_in_its_own_folder_wherever_the_program_was_started(run: Run, place: Path):
    (place / "home" / "desk").mkdir()
    (place / "home" / "desk" / "own.txt").write_text("mine\n", encoding="utf-8")
    text = (place / "home" / "toolcrib.yaml").read_text(encoding="utf-8")
    text = text.replace("helper: {toolboxes: [all]}", "helper: {toolboxes: [all], workspace: desk}")
    (place / "home" / "toolcrib.yaml").write_text(text, encoding="utf-8")
    assert run("call", "read_file", '{"path": "own.txt"}', "--agent", "helper").out == "mine\n"
    assert run("call", "read_file", '{"path": "README.md"}', "--agent", "helper").err.endswith("[not_found]\n")
    elsewhere = run(
        "call", "read_file", '{"path": "README.md"}', "--agent", "helper", "--workspace", str(place / "workspace")
    )
    assert elsewhere.out == "Welcome.\n"


def test_the_exit_code_says_whether_it_failed_or_was_refused(run: Run):
    missing = run("call", "read_file", '{"path": "nosuch"}', "--agent", "helper")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err.endswith("[not_found]\n")
    assert run("call", "write_file", PRIVATE, "--agent", "scout").err.endswith("[not_issued]\n")
    assert run("call", "write_file", PRIVATE, "--agent", "scout").code == 3
    assert run("call", "raed_file", "--agent", "helper").code == 3
    assert run("call", "read_file", "{broken", "--agent", "helper").code == 3
    assert run("call", "read_file").code == 2


def test_refused_calls_are_json_too(run: Run):
    told = run("call", "read_file", '{"pth": 1}', "--agent", "helper", "--json")
    assert told.code == 3
    assert told.json["error"]["code"] == "invalid_args"


def test_where_nobody_can_be_asked_a_call_that_needs_a_person_is_refused(run: Run, place: Path):
    told = run("call", "write_file", PRIVATE, "--agent", "helper", "--json")
    assert (told.code, told.json["error"]["code"]) == (3, "approval_required")
    assert not (place / "workspace" / "private.md").exists()


def test_yes_agrees_to_what_a_person_would_be_asked(run: Run, place: Path):
    assert run("call", "write_file", PRIVATE, "--agent", "helper", "--yes").code == 0
    assert (place / "workspace" / "private.md").read_text() == "x"


@pytest.mark.parametrize(("answer", "code", "there"), [(b"y\n", 0, True), (b"n\n", 3, False), (b"\n", 3, False)])
def test_on_a_terminal_the_person_is_asked(place: Path, answer: bytes, code: int, there: bool):
    arguments = json.dumps({"path": "private.md", "content": f"key {SECRET}\x1b[2J"})
    shown, status = _on_a_terminal(arguments, answer)
    assert "helper wants to call write_file" in shown
    assert "because: it is private" in shown
    assert SECRET not in shown
    assert "\x1b[2J" not in shown
    assert status == code
    assert (place / "workspace" / "private.md").exists() is there


def test_ctrl_c_at_the_question_ends_it_and_is_recorded(place: Path, run: Run):
    _, status = _on_a_terminal(PRIVATE, b"\x03")
    assert status == 130
    (entry,) = run("audit", "--json").json
    assert (entry["tool"], entry["status"]) == ("write_file", "cancelled")


def _on_a_terminal(arguments: str, answer: bytes) -> tuple[str, int]:
    """What a person saw before answering, and the exit code."""
    command = [sys.executable, "-m", "toolcrib", "call", "write_file", arguments, "--agent", "helper"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(sys.executable, command)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, answer)
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the other end is closed: the program has ended
        pass
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(status)


def test_a_key_runs_a_call_once(run: Run, place: Path):
    made = run("call", "write_file", "@note.json", "--agent", "helper", "--key", "k", "--json").json
    (place / "workspace" / "note.md").unlink()
    again = run("call", "write_file", "@note.json", "--agent", "helper", "--key", "k", "--json").json
    assert again["replayed"]
    assert again["text"] == made["text"]
    assert not (place / "workspace" / "note.md").exists()


def test_the_workspace_can_be_named(run: Run, place: Path):
    other = place / "elsewhere"
    other.mkdir()
    (other / "here.txt").write_text("found\n")
    told = run("call", "read_file", '{"path": "here.txt"}', "--agent", "helper", "--workspace", str(other))
    assert told.out == "found\n"


def test_secrets_are_scrubbed_from_what_is_printed_and_recorded(run: Run):
    told = run("call", "read_file", '{"path": "server.log"}', "--agent", "helper")
    assert "REDACTED" in told.out
    assert SECRET not in told.out
    run("call", "write_file", json.dumps({"path": "k", "content": f"key {SECRET}"}), "--agent", "helper")
    assert SECRET not in run("audit", "--json").out


def test_huge_arguments_from_a_file_are_refused_without_reading_them_all(run: Run, place: Path):
    with (place / "workspace" / "huge.json").open("wb") as file:
        file.truncate(1 << 31)  # two gigabytes that take no room
    told = run("call", "read_file", "@huge.json", "--agent", "helper", "--json")
    assert (told.code, told.json["error"]["code"]) == (3, "invalid_args")


def test_a_call_makes_the_home_folder_for_its_owner_only(place: Path):
    env = {
        **os.environ,
        "TOOLCRIB_HOME": str(place / "new" / "home"),
        "TOOLCRIB_CONFIG": str(place / "home" / "toolcrib.yaml"),
    }
    command = [sys.executable, "-m", "toolcrib", "call", "think", '{"thought": "hm"}', "--agent", "scout"]
    done = subprocess.run(command, env=env, check=False, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (place / "new" / "home").stat().st_mode & 0o077 == 0
