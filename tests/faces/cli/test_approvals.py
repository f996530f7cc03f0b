"""approvals and undo: a person answers calls that wait, and puts back what calls changed."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run

PRIVATE = ("call", "write_file", '{"path": "private.md", "content": "x"}', "--agent", "helper", "--session", "talk")


@pytest.mark.meets("approval:doors:built", "approval:durable:restart")
def test_a_refused_call_runs_after_a_person_accepted_it(run: Run, place: Path):
    told = run(*PRIVATE, "--json")
    assert (told.code, told.json["error"]["code"]) == (3, "approval_required")
    waits = told.json["error"]["request"]
    (listed,) = run("approvals", "--json").json
    assert (listed["id"], listed["state"], listed["agent"]) == (waits, "pending", "helper")
    assert waits in run("approvals").out
    done = run("approvals", "answer", waits, "accept", "--json").json
    assert (done["state"], done["choice"]) == ("answered", "accept")
    assert run(*PRIVATE).code == 0
    assert (place / "workspace" / "private.md").read_text() == "x"
    assert run(*PRIVATE).code == 3
    assert run("approvals", "list", "--state", "used", "--json").json[0]["id"] == waits


@pytest.mark.meets("undo:outside:marked")
def test_a_request_shows_what_would_run_why_it_asks_and_that_it_cannot_be_undone(run: Run, known: dict[str, str]):
    told = run("approvals", "show", known["APPROVAL"]).out
    for words in ('"path": "private.md"', "it is private [rules[0]] (characters 0 to 7)", "3 bytes to example.com"):
        assert words in told
    assert "CANNOT BE UNDONE" in told
    assert "program cat" in told


def test_an_edit_runs_with_the_persons_arguments(run: Run, place: Path):
    waits = run(*PRIVATE, "--json").json["error"]["request"]
    other = '{"path": "private2.md", "content": "y"}'
    assert run("approvals", "answer", waits, "edit", "--arguments", other).code == 0
    assert run(*PRIVATE).code == 0
    assert (place / "workspace" / "private2.md").read_text() == "y"
    assert not (place / "workspace" / "private.md").exists()


def test_a_denied_call_is_told_why_once(run: Run):
    waits = run(*PRIVATE, "--json").json["error"]["request"]
    run("approvals", "answer", waits, "deny", "--text", "not on a Friday")
    told = run(*PRIVATE, "--json").json["error"]
    assert (told["code"], "not on a Friday" in told["message"]) == ("approval_denied", True)


@pytest.mark.meets("approval:always:pattern")
def test_always_is_a_rule_that_is_listed_edited_and_deleted(run: Run):
    waits = run(*PRIVATE, "--json").json["error"]["request"]
    done = run("approvals", "answer", waits, "accept", "--always", "--where", "path=private*.md", "--json").json
    other = PRIVATE[2].replace("private.md", "private3.md")
    assert run("call", "write_file", other, "--agent", "helper").code == 0
    assert "path=private*.md" in run("approvals", "rules").out
    assert run("approvals", "rules", "edit", done["rule"], "--where", "path=private.md").code == 0
    assert run("call", "write_file", other, "--agent", "helper").code == 3
    assert run("approvals", "rules", "delete", done["rule"]).code == 0
    assert run("approvals", "rules", "--json").json == []


@pytest.mark.meets("approval:unknown:error")
def test_wrong_answers_are_told_and_change_nothing(run: Run, known: dict[str, str]):
    waits = known["APPROVAL"]
    assert run("approvals", "answer", "nosuch", "accept").code == 1
    assert run("approvals", "answer", waits, "maybe").code == 2
    assert run("approvals", "answer", waits, "edit", "--arguments", "{broken").code == 2
    assert run("approvals", "answer", waits, "accept", "--always", "--for", "2h").code == 2
    assert run("approvals", "answer", waits, "accept", "--always", "--where", "path").code == 2
    told = run("approvals", "answer", waits, "edit", "--arguments", '{"pth": "a"}', "--json")
    assert (told.code, told.json["error"]["code"]) == (1, "invalid_args")
    assert run("approvals", "show", waits, "--json").json["state"] == "pending"
    run("approvals", "answer", waits, "deny")
    told = run("approvals", "answer", waits, "accept", "--json")
    assert (told.code, told.json["error"]["code"]) == (1, "approval_answered_already")


def test_a_process_that_waits_goes_on_when_another_one_answers(run: Run, place: Path):
    config = place / "home" / "toolcrib.yaml"
    config.write_text(config.read_text() + "approvals: wait\n")
    command = [sys.executable, "-m", "toolcrib", *PRIVATE, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as waiting:
        try:
            found = []
            while not found:
                assert waiting.poll() is None
                found = run("approvals", "--json").json
            assert run("approvals", "answer", found[0]["id"], "accept").code == 0
            out, _ = waiting.communicate(timeout=30)
        finally:
            waiting.kill()
    assert json.loads(out)["status"] == "done"
    assert (place / "workspace" / "private.md").read_text() == "x"


@pytest.mark.meets("undo:files:restores")
def test_undo_puts_a_file_back_and_says_what_it_did(run: Run, place: Path):
    told = run("call", "write_file", '{"path": "README.md", "content": "new"}', "--agent", "helper", "--json").json
    call = told["id"]
    assert run("audit", "show", call, "--json").json["undo"] == f"It can be undone: toolcrib undo {call}"
    done = run("undo", call)
    assert "Put back README.md: 9 bytes." in done.out
    assert (place / "workspace" / "README.md").read_text() == "Welcome.\n"
    again = shlex.split(done.out.rpartition("toolcrib ")[2])
    assert run("audit", "show", call, "--json").json["undo"].startswith("It was undone by u")
    refused = run("undo", call, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "already_undone")
    assert run(*again).code == 0
    assert (place / "workspace" / "README.md").read_text() == "new"


def test_undo_leaves_later_work_alone_unless_forced(run: Run, place: Path):
    call = run("call", "write_file", "@note.json", "--agent", "helper", "--json").json["id"]
    (place / "workspace" / "note.md").write_text("mine")
    told = run("undo", call)
    assert told.code == 1
    assert f"note.md was changed since the call {call}" in told.err
    assert run("undo", call, "--force").code == 0
    assert not (place / "workspace" / "note.md").exists()


@pytest.mark.meets("undo:outside:marked")
def test_it_is_said_before_a_call_whether_it_can_be_undone(run: Run, known: dict[str, str]):
    assert run("explain", "helper", "write_file", "--json").json["undo"] == "its calls can be undone"
    assert "only reads" in run("explain", "helper", "read_file").out
    assert run("explain", "asker", "request_tool_access", "--json").json["undo"] == "its calls cannot be undone"
    told = run("undo", known["CALL"], "--json")
    assert (told.code, told.json["error"]["code"]) == (1, "not_undoable")
