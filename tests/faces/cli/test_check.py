"""`toolcrib check`: verdicts about commands and paths, line by line."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.faces.cli.conftest import Ran, Run

RULES = "shell:\n  rules:\n    - {decision: deny, program: frobnicate, match: [frobnicate a]}\n"


def rows(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.out.splitlines()]


def asked(*lines: object) -> str:
    return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)


@pytest.mark.meets("cli:check:shell")
def test_each_line_gets_a_verdict_and_a_denied_one_makes_the_exit_code_1(run: Run):
    ran = run("check", "shell", "--jsonl", stdin=asked({"cmd": "ls"}, {"cmd": "git push"}, {"cmd": "rm -rf /"}))
    assert [row["verdict"] for row in rows(ran)] == ["allow", "ask", "deny"]
    assert rows(ran)[2]["rule"] == "system-tree"
    assert rows(ran)[2]["span"] == [0, 8]
    assert all(row["why"] for row in rows(ran))
    assert ran.code == 1
    assert run("check", "shell", "--jsonl", stdin=asked({"cmd": "git push"})).code == 0


@pytest.mark.meets("cli:check:shell")
@pytest.mark.parametrize("line", ["nonsense", '{"cmd": 3}', "{}", '{"cmd": "ls"', "[]", '{"cmd": "\\ud800"}'])
def test_a_line_that_cannot_be_read_is_ask_and_the_others_are_still_answered(run: Run, line: str):
    ran = run("check", "shell", "--jsonl", stdin=asked({"cmd": "ls"}, line, {"cmd": "ls"}))
    assert [(row["verdict"], row["rule"]) for row in rows(ran)][1] == ("ask", "input")
    assert [row["verdict"] for row in rows(ran)] == ["allow", "ask", "allow"]
    assert ran.code == 2


def test_commands_stand_as_arguments_or_as_plain_lines(run: Run):
    ran = run("check", "shell", "ls -la", "frobnicate")
    assert ran.out.splitlines()[0].startswith("allow table: ")
    assert ran.out.splitlines()[1].startswith("ask   unknown:frobnicate: ")
    assert [row["verdict"] for row in rows(run("check", "shell", "--json", stdin="ls\n\nreboot\n"))] == [
        "allow",
        "deny",
    ]


def test_a_command_of_a_megabyte_and_thousands_of_lines_are_answered(run: Run):
    ran = run("check", "shell", "--jsonl", stdin=asked({"cmd": "a " * 500_000}, *[{"cmd": "ls | wc -l"}] * 2_000))
    assert [rows(ran)[0]["verdict"], len(rows(ran))] == ["ask", 2_001]


@pytest.mark.meets("cli:check:shell", "shell:rules:own")
def test_the_rules_of_the_configuration_count(run: Run, place: Path):
    assert run("check", "shell", "frobnicate a").code == 0
    (place / "home" / "toolcrib.yaml").write_text(RULES)
    ran = run("check", "shell", "frobnicate a", "--json")
    assert (rows(ran)[0]["rule"], ran.code) == ("rules:frobnicate", 1)


@pytest.mark.meets("shell:rules:own")
def test_a_rule_with_a_wrong_example_is_reported_with_its_line_wherever_the_configuration_is_read(
    run: Run, place: Path
):
    (place / "home" / "toolcrib.yaml").write_text(
        RULES + "      # no rule\n    - {decision: ask, program: x, match: [y]}\n"
    )
    for command in (("check", "shell", "ls"), ("config", "check"), ("tools",)):
        ran = run(*command)
        assert ran.code == 1
        assert "toolcrib.yaml:5: shell.rules[1].match[0]" in ran.out + ran.err or "line 5" in ran.out + ran.err


def test_shell_rules_are_shown_so_that_they_can_be_read_again(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text(RULES)
    shown = run("config", "show").out
    (place / "home" / "toolcrib.yaml").write_text(shown)
    assert run("config", "show").out == shown
    assert "frobnicate" in shown


@pytest.mark.meets("cli:check:path")
def test_a_path_is_judged_as_the_file_tools_would(run: Run, place: Path):
    inside, beside = place / "workspace", place / "beside"
    beside.mkdir()
    (beside / "key").write_text("x")
    (inside / "link").symlink_to(beside / "key")
    (inside / "folder").symlink_to(beside)
    (inside / "round").symlink_to(inside / "README.md")
    os.link(beside / "key", inside / "hard")
    os.mkfifo(inside / "pipe")
    (inside / "src").mkdir()
    (inside / "src/a.py").write_text("x")
    wanted = {
        ("README.md", "read"): "allow",
        ("src", "list"): "allow",
        ("src/a.py", "edit"): "allow",
        ("src/a.py", "delete"): "allow",
        ("new/folder/b.py", "write"): "allow",
        ("not-there", "read"): "allow",
        ("src/../README.md", "read"): "allow",
        ("round", "read"): "allow",
        ("../beside/key", "read"): "deny",
        (str(beside / "key"), "read"): "deny",
        ("link", "read"): "deny",
        ("link", "write"): "deny",
        ("folder/key", "read"): "deny",
        ("folder/new", "write"): "deny",
        ("folder", "list"): "deny",
        ("hard", "read"): "deny",
        ("hard", "delete"): "deny",
        ("pipe", "read"): "deny",
        (".toolcrib/x", "write"): "deny",
        ("a\0b", "read"): "deny",
        ("README.md", "frobnicate"): "deny",
    }
    before = sorted(str(path) for path in place.rglob("*"))
    ran = run(
        "check", "path", "--jsonl", stdin=asked(*({"path": p, "op": op, "root": str(inside)} for p, op in wanted))
    )
    assert {key: row["verdict"] for key, row in zip(wanted, rows(ran), strict=True)} == wanted
    assert all(row["why"] for row in rows(ran))
    assert sorted(str(path) for path in place.rglob("*")) == before, "a look changes nothing"


@pytest.mark.meets("cli:check:path")
def test_paths_stand_as_arguments_with_exit_codes(run: Run):
    assert run("check", "path", "README.md").code == 0
    ran = run("check", "path", "../x", "README.md", "--op", "write")
    assert ran.code == 1
    assert ran.out.splitlines()[0].startswith("deny  path_outside_workspace: ../x is outside")
    assert run("check", "path", "--jsonl", stdin="{}\n").code == 2
    assert run("check", "path", "x", "--root", "/not/there").code == 1


def test_barred_paths_count(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents: {helper: {deny_paths: [keys]}}\ndeny_paths: [secret]\n")
    assert run("check", "path", "secret/a", "--op", "write").code == 1
    assert run("check", "path", "keys/a", "--op", "write").code == 0
    assert run("check", "path", "keys/a", "--op", "write", "--agent", "helper").code == 1
