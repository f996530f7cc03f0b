"""What happens when something is wrong: a sentence that helps, an exit code, and never a trace."""

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run, program
from toolcrib.faces.cli import faults
from toolcrib.faces.cli.output import plain

pytestmark = pytest.mark.meets("cli:error:sentence")


def test_an_unknown_command_names_the_nearest(run: Run):
    told = run("expalin", "scout")
    assert told.code == 2
    assert told.out == ""
    assert told.err == "toolcrib: There is no command 'expalin'. Did you mean explain? See `toolcrib --help`.\n"


def test_a_missing_argument_says_where_to_read_on(run: Run):
    told = run("explain")
    assert (told.code, told.err) == (2, "toolcrib: Missing argument 'AGENT'. See `toolcrib explain --help`.\n")


def test_an_unknown_agent_names_the_nearest(run: Run):
    told = run("explain", "scuot")
    assert (told.code, told.err) == (2, "toolcrib: There is no agent 'scuot'. Did you mean scout?\n")


def test_with_json_errors_are_json_too_with_the_same_exit_code(run: Run):
    wrong, unknown = run("explain", "--json"), run("explain", "scuot", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "usage")
    assert (unknown.code, unknown.json["error"]["code"]) == (2, "unknown_agent")
    assert unknown.json["error"]["hint"] == "Did you mean scout?"


def test_a_broken_configuration_stops_every_command_and_lists_every_problem(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents:\n  a: {toolboxes: [nosuch]}\n  b: {tools: [raed_file]}\n")
    told = run("tools")
    assert told.code == 1
    assert "line 2" in told.err
    assert "line 3" in told.err
    assert [p["line"] for p in run("tools", "--json").json["error"]["problems"]] == [2, 3]


def test_a_file_that_is_not_there_is_named(run: Run):
    told = run("import", "nosuch.yaml")
    assert (told.code, told.err) == (1, "toolcrib: nosuch.yaml: No such file or directory.\n")


def test_a_store_that_is_no_store_is_a_sentence(run: Run, place: Path):
    (place / "home" / "toolcrib.db").write_bytes(b"This is not a database, and it is long enough to be read." * 99)
    told = run("audit", "verify", "--json")
    assert told.code == 1
    assert told.json["error"]["code"] == "store_unavailable"


def test_a_bug_is_one_sentence_without_what_it_held(run: Run, capsys: pytest.CaptureFixture[str]):
    try:
        raise KeyError("a secret")
    except KeyError as error:
        faults.broke(["tools"], type(error), error, error.__traceback__)
    told = capsys.readouterr().err
    assert told.startswith("toolcrib: This is a bug in Toolcrib, not your mistake: KeyError in test_errors.py, line ")
    assert told.endswith("The same command with --debug shows the whole trace.\n")
    assert "secret" not in told


def test_a_reader_that_goes_away_is_no_error(place: Path, known: dict[str, str]):
    done = subprocess.run(
        ["sh", "-c", '"$0" -m toolcrib audit export | head -c 1', sys.executable],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("{", "")


def test_ctrl_c_ends_the_program_cleanly(place: Path):
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "toolcrib", "scrub", "--jsonl"]
    heeds = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell lets what runs in its background ignore it
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, preexec_fn=heeds) as running:  # noqa: PLW1509
        assert running.stdin
        assert running.stdout
        assert running.stderr
        running.stdin.write(b'{"text": "one line"}\n')
        running.stdin.flush()
        assert running.stdout.readline()  # it has begun, and waits for the next line
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
        assert running.stderr.read().strip() == b""


def test_an_unknown_variable_is_said_and_hinders_nothing(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCRIB_HOEM", "x")
    told = run("toolboxes", "scout", "--json")
    assert told.code == 0
    assert "Did you mean TOOLCRIB_HOME?" in told.err
    assert told.json["name"] == "scout"


def test_debug_shows_the_trace_of_an_error(place: Path):
    done = program("explain", "nobody", "--debug")
    assert "Traceback" in done.stderr
    assert "Traceback" not in program("explain", "nobody").stderr


def test_what_could_steer_a_terminal_is_written_out():
    assert plain("a\x1b[2Jb\u202ec\r\n\tü") == "a\\x1b[2Jb\\u202ec\\r\n\tü"


def test_a_home_that_is_no_folder_is_said_and_not_taken_for_an_empty_one(run: Run, place: Path):
    told = run("audit", "--home", str(place / "home" / "toolcrib.yaml"))
    assert told.code == 1
    assert "folder" in told.err
    assert "--home" in told.err
