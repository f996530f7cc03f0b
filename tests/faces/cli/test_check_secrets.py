"""check secrets: verdicts on texts, which never print the secret itself."""

import json
from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run
from tests.safety.test_scrub import TOKEN

pytestmark = pytest.mark.meets("cli:check:secrets")
KEY = "-----BEGIN RSA PRIVATE KEY-----\n{0}\n{0}\n-----END RSA PRIVATE KEY-----\n".format("MIIEpAIBAAKCAQEAx1y2z3" * 3)


def test_each_line_gets_a_verdict_and_one_secret_makes_the_exit_code(run: Run):
    ran = run("check", "secrets", "--json", stdin=f"plain words\nkey {TOKEN}\nmore\n")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 1
    assert [row["verdict"] for row in rows] == ["allow", "deny", "allow"]
    assert rows[1]["rule"] == "github"
    assert rows[1]["found"] == [{"kind": "github", "start": 4, "end": 4 + len(TOKEN)}]
    assert TOKEN not in ran.out


def test_clean_lines_are_all_allowed(run: Run):
    ran = run("check", "secrets", stdin="one\ntwo\n")
    assert ran.code == 0
    assert ran.out.count("allow") == 2


def test_nothing_gives_nothing(run: Run):
    ran = run("check", "secrets", stdin="")
    assert (ran.code, ran.out) == (0, "")


def test_every_line_of_a_key_is_denied_and_its_frame_is_not(run: Run):
    ran = run("check", "secrets", stdin=f"before\n{KEY}after")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["allow", "allow", "deny", "deny", "allow", "allow"]


def test_json_lines_are_answered_one_by_one_and_a_broken_one_is_denied(run: Run):
    ran = run("check", "secrets", "--jsonl", stdin='{"text": "password=hunter2-and"}\nbroken\n{"text": "no"}\n')
    assert [json.loads(line)["verdict"] for line in ran.out.splitlines()] == ["deny", "deny", "allow"]
    assert ran.code == 2


def test_arguments_are_texts(run: Run):
    assert run("check", "secrets", "just words").code == 0
    assert run("check", "secrets", f"token={TOKEN}").code == 1


def test_values_of_the_configuration_count(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    (place / "home" / "toolcrib.yaml").write_text("scrub: {env: [MY_WORD]}\n", encoding="utf-8")
    monkeypatch.setenv("MY_WORD", "melon-lamp-quartz")
    assert run("check", "secrets", "a melon-lamp-quartz b").code == 1
