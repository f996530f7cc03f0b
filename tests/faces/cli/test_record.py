"""audit and access: the record, and the requests that people answer."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.faces.cli.conftest import REASON, Run


def test_the_record_can_be_narrowed(run: Run, known: dict[str, str]):
    run("call", "write_file", "{}", "--agent", "scout")
    assert [one["agent"] for one in run("audit", "--status", "refused", "--json").json] == ["scout"]
    assert {one["tool"] for one in run("audit", "--tool", "read_file", "--json").json} == {"read_file"}
    assert run("audit", "--since", "1h", "--agent", "helper", "--json").json
    assert run("audit", "--since", "2100-01-01", "--json").json == []
    assert "There are more" in run("audit", "--limit", "1").out


def test_a_moment_that_is_none_is_refused(run: Run):
    assert run("audit", "--since", "yesterday").code == 2


def test_one_call_is_shown_whole(run: Run, known: dict[str, str]):
    told = run("audit", "show", known["CALL"], "--json").json
    assert (told["id"], told["tool"]) == (known["CALL"], "read_file")
    assert "README.md" in run("audit", "show", known["CALL"]).out
    assert run("audit", "show", "nosuch").code == 1


@pytest.mark.meets("cli:audit:verify")
def test_verify_passes_on_a_record_that_nobody_touched(run: Run, known: dict[str, str]):
    told = run("audit", "verify", "--json")
    assert told.code == 0
    assert told.json["ok"]
    assert told.json["checked"] == 3
    assert told.json["head"]["hash"] in run("audit", "verify").out


@pytest.mark.meets("cli:audit:verify")
def test_verify_names_the_first_entry_that_was_changed(run: Run, place: Path, known: dict[str, str]):
    with sqlite3.connect(place / "home" / "toolcrib.db") as store:
        store.execute("UPDATE tc_audit SET agent = 'helpes' WHERE seq = 2")
    store.close()
    told = run("audit", "verify", "--json")
    assert told.code == 1
    assert (told.json["ok"], told.json["broken_seq"]) == (False, 2)
    assert "entry 2 is not what was written" in run("audit", "verify").out
    assert run("doctor", "--json").code == 1


@pytest.mark.meets("cli:audit:verify")
def test_verify_fails_after_one_byte_of_the_store_is_changed(run: Run, place: Path, known: dict[str, str]):
    store = place / "home" / "toolcrib.db"
    data = store.read_bytes()
    at = data.index(b'{"path": "README.md"}')
    store.write_bytes(data[:at] + b"[" + data[at + 1 :])
    assert run("audit", "verify").code == 1


@pytest.mark.meets("cli:audit:export")
def test_export_writes_json_lines_the_oldest_first(run: Run, known: dict[str, str]):
    lines = [json.loads(line) for line in run("audit", "export").out.splitlines()]
    assert [one["seq"] for one in lines] == [1, 2, 3]
    assert lines[0]["previous"] == "0" * 64
    assert lines[1]["previous"] == lines[0]["hash"]
    assert [json.loads(line)["seq"] for line in run("audit", "export", "--agent", "helper").out.splitlines()] == [1]


def test_requests_are_listed_with_their_reasons(run: Run, known: dict[str, str]):
    told = run("access", "--state", "pending", "--json").json
    assert [one["id"] for one in told] == [known["REQUEST"]]
    assert told[0]["tools"] == ["glob", "explain_tool"]
    assert REASON in run("access").out


def test_a_part_of_a_request_is_granted_for_a_time(run: Run, known: dict[str, str]):
    told = run("access", "approve", known["REQUEST"], "--tools", "glob", "--for", "2h", "--json").json
    assert told["granted"] == ["glob"]
    assert run("explain", "asker", "glob", "--json").json["issued"]
    (grant,) = run("access", "show", known["REQUEST"], "--json").json["grants"]
    assert grant["lifetime"] == "until"
    assert run("access", "deny", known["REQUEST"]).code == 1


def test_a_grant_for_once_lets_one_call_through(run: Run, known: dict[str, str]):
    run("access", "approve", known["REQUEST"], "--tools", "glob", "--once")
    call = ("call", "glob", '{"pattern": "*.md"}', "--agent", "asker", "--session", "talk")
    assert run(*call).code == 0
    assert run(*call).code == 3


def test_a_denied_request_grants_nothing(run: Run, known: dict[str, str]):
    assert run("access", "deny", known["REQUEST"], "--json").json["state"] == "denied"
    assert not run("explain", "asker", "glob", "--session", "talk", "--json").json["issued"]


def test_a_revoked_grant_holds_no_longer(run: Run, known: dict[str, str]):
    assert run("explain", "asker", "list_toolboxes", "--json").json["reason"] == "a temporary grant"
    assert run("access", "revoke", known["GRANT"]).code == 0
    assert run("explain", "asker", "list_toolboxes", "--json").json["reason"] != "a temporary grant"


def test_two_lifetimes_at_once_are_refused(run: Run, known: dict[str, str]):
    assert run("access", "approve", known["REQUEST"], "--good", "--for", "2h").code == 2
    assert run("access", "approve", known["REQUEST"], "--for", "soon").code == 2
    assert run("access", "approve", "nosuch").code == 1
