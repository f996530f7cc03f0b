"""doctor, import, scrub, completion and bench."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faces.cli.conftest import SECRET, Run, program


@pytest.mark.meets("cli:doctor")
def test_doctor_says_of_each_part_whether_it_works(run: Run):
    told = run("doctor", "--json")
    checks = {one["name"]: one for one in told.json["checks"]}
    assert told.code == 0
    assert told.json["ok"]
    assert {
        "python",
        "packages",
        "home",
        "configuration",
        "store",
        "workspace",
        "rg",
        "sandbox",
        "re2",
        "openat2",
    } <= checks.keys()
    assert checks["configuration"]["state"] == "ok"
    assert all(one["mend"] for one in checks.values() if one["state"] == "fail")
    assert run("doctor").out.splitlines()[0].startswith("ok    python")


@pytest.mark.meets("cli:doctor")
def test_doctor_fails_where_the_set_up_is_broken_and_says_what_to_do(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").write_text("agents: {a: {toolboxes: [nosuch]}}\n")
    told = run("doctor", "--json")
    (failed,) = [one for one in told.json["checks"] if one["state"] == "fail"]
    assert told.code == 1
    assert failed["name"] == "configuration"
    assert failed["mend"]


@pytest.mark.meets("cli:doctor")
def test_doctor_sees_a_store_that_is_damaged_and_a_workspace_that_is_gone(run: Run, place: Path):
    (place / "home" / "toolcrib.db").write_bytes(b"This is not a database, whatever its name says." * 99)
    (place / "home" / "toolcrib.yaml").write_text(f"workspace: {place}/gone\n")
    states = {one["name"]: one["state"] for one in run("doctor", "--json").json["checks"]}
    assert states["store"] == "fail"
    assert states["workspace"] == "fail"


def test_doctor_counts_the_agents_of_the_store_where_there_is_no_file(run: Run, place: Path):
    (place / "home" / "toolcrib.yaml").unlink()

    def said() -> tuple[str, str]:
        checks = {one["name"]: one for one in run("doctor", "--json").json["checks"]}
        return checks["configuration"]["state"], checks["configuration"]["what"]

    assert said()[0] == "warn"
    run("agents", "create", "clerk", "--toolbox", "scout")
    assert said()[0] == "ok"
    assert said()[1].startswith("1 agent in the store")


def test_doctor_knows_a_home_that_others_can_read(run: Run, place: Path):
    (place / "home").chmod(0o755)
    checks = {one["name"]: one for one in run("doctor", "--json").json["checks"]}
    assert checks["home"]["state"] == "warn"
    assert "chmod 700" in checks["home"]["mend"]


def test_doctor_knows_a_store_in_use(run: Run, known: dict[str, str]):
    checks = {one["name"]: one for one in run("doctor", "--json").json["checks"]}
    assert checks["store"]["what"].startswith("schema ")
    assert "3 entries" in checks["store"]["what"]


@pytest.mark.meets("import:unknown:said")
def test_import_prints_the_configuration_and_says_what_it_left_out(run: Run):
    told = run("import", "mindroom.yaml")
    assert told.code == 0
    assert "read_file" in told.out
    assert "rooms" in told.err


def test_import_writes_only_where_nothing_is_or_by_force(run: Run, place: Path):
    target = place / "workspace" / "made.yaml"
    assert run("import", "mindroom.yaml", "--output", "made.yaml").code == 0
    made = target.read_text()
    assert run("config", "check", "made.yaml").code == 0
    target.write_text("mine")
    assert run("import", "mindroom.yaml", "--output", "made.yaml").code == 2
    assert target.read_text() == "mine"
    assert run("import", "mindroom.yaml", "--output", "made.yaml", "--force").code == 0
    assert target.read_text() == made


def test_import_reads_standard_input_and_gives_json(run: Run, place: Path):
    text = (place / "workspace" / "mindroom.yaml").read_text()
    told = run("import", "-", "--kind", "mindroom", "--json", stdin=text).json
    assert told["kind"] == "mindroom"
    assert "agents:" in told["text"]
    assert told["notes"]


def test_import_of_a_file_that_is_nobodys_asks_whose_it_is(run: Run):
    told = run("import", "README.md")
    assert told.code == 1
    assert "Traceback" not in told.err


def test_scrub_takes_secrets_out_of_a_stream_and_leaves_the_rest(place: Path):
    text = f"line\r\nkey={SECRET}.\n" + "plain ünïcode text, nothing in it\n" * 20_000
    done = program("scrub", input=text)
    assert done.returncode == 0
    assert SECRET not in done.stdout
    assert "REDACTED" in done.stdout
    assert done.stdout.endswith("plain ünïcode text, nothing in it\n" * 20_000)


def test_scrub_passes_bytes_that_are_no_text(place: Path):
    data = bytes(range(256)) * 10
    done = subprocess.run([sys.executable, "-m", "toolcrib", "scrub"], input=data, capture_output=True, check=True)
    assert done.stdout == data


def test_scrub_knows_the_secrets_of_the_configuration(place: Path):
    (place / "home" / "toolcrib.yaml").write_text("scrub: {env: [MY_WORD]}\n")
    done = program("scrub", input="it is melon-lamp-quartz.\n", env={**os.environ, "MY_WORD": "melon-lamp-quartz"})
    assert "melon-lamp-quartz" not in done.stdout


def test_scrub_of_json_lines_says_what_it_found(run: Run):
    lines = [json.dumps({"text": f"key {SECRET}"}), "broken", json.dumps({"text": "nothing"})]
    told = run("scrub", "--jsonl", stdin="\n".join(lines))
    found, broken, nothing = map(json.loads, told.out.splitlines())
    assert told.code == 1
    assert SECRET not in found["text"]
    assert [(one["start"], one["end"]) for one in found["found"]] == [(4, 4 + len(SECRET))]
    assert broken["error"]["code"] == "invalid_line"
    assert nothing == {"text": "nothing", "found": []}


@pytest.mark.meets("cli:completion")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_printed_and_installed(shell: str, run: Run, place: Path):
    script = run("completion", shell).out
    assert "_TOOLCRIB_COMPLETE" in script
    assert run("completion", shell, "--install").code == 0
    (written,) = [path for path in (place / "person").rglob("*toolcrib*") if path.is_file()]
    assert written.read_text().strip() == script.strip()


@pytest.mark.meets("cli:completion")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("toolcrib ex", "explain"),
        ("toolcrib explain ", "scout"),
        ("toolcrib explain scout read_f", "read_file"),
        ("toolcrib audit ", "verify"),
        ("toolcrib audit --agent ", "helper"),
        ("toolcrib toolboxes no", "notes"),
        ("toolcrib call --ag", "--agent"),
    ],
)
def test_the_tab_key_offers_commands_options_agents_tools_and_toolboxes(words: str, offered: str, place: Path):
    count = len(words.split(" ")) - 1
    env = {**os.environ, "_TOOLCRIB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    assert f"plain,{offered}" in program(env=env).stdout.splitlines()


@pytest.mark.meets("cli:bench")
def test_bench_prints_a_json_line_for_each_figure(run: Run):
    told = run("bench", "resolve")
    lines = [json.loads(line) for line in told.out.splitlines()]
    assert lines
    assert all(one.keys() == {"bench", "figure", "value", "unit", "floor", "ratio"} for one in lines)


def test_an_unknown_bench_names_the_nearest_or_all(run: Run):
    assert "Did you mean resolve?" in run("bench", "reslove").err
    assert "There are: " in run("bench", "zzz").err
