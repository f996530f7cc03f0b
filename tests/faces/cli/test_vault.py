"""vault: what goes in is never on the command line, and what is wrong is said without a value."""

import sqlite3
import stat
from pathlib import Path

import pytest

from tests.faces.cli.conftest import Run, program

VALUE = "a-long-mail-password"


def test_a_secret_is_set_from_standard_input_and_listed_without_its_value(run: Run, place: Path):
    made = run("vault", "set", "MAIL", "--description", "for mail", "--host", "smtp.example.org", stdin=f"{VALUE}\n")
    assert (made.code, made.out) == (0, "Stored MAIL, version 1.\n")
    told = run("vault", "--json")
    assert VALUE not in told.out
    (one,) = told.json["secrets"]
    assert (one["key"], one["description"], one["allowed_hosts"]) == ("MAIL", "for mail", ["smtp.example.org"])
    assert run("vault", "get", "MAIL").out == VALUE
    assert run("vault", "get", "MAIL", "--json").json["value"] == VALUE
    again = run("vault", "set", "MAIL", "--json", stdin="another-password").json
    assert (again["version"], again["allowed_hosts"], again.get("value")) == (2, ["smtp.example.org"], None)
    key = place / "home" / "vault" / "key"
    assert (stat.S_IMODE(key.stat().st_mode), len(key.read_bytes())) == (0o600, 32)


def test_an_agent_is_given_it_or_not_and_the_record_never_shows_it(run: Run, place: Path):
    run("vault", "set", "MAIL", stdin=VALUE)
    assert run("call", "get_secret", '{"key": "MAIL"}', "--agent", "helper").out == f"{VALUE}\n"
    (place / "workspace" / "note.txt").write_text(f"the password is {VALUE}")
    read = run("call", "read_file", '{"path": "note.txt"}', "--agent", "helper")
    assert VALUE not in read.out
    assert "[REDACTED:secret-MAIL" in read.out
    refused = run("call", "create_secret", f'{{"key": "a|b", "value": "{VALUE}2"}}', "--agent", "helper")
    assert refused.code == 1
    assert VALUE not in run("audit", "--json").out
    assert VALUE not in (place / "home" / "toolcrib.db").read_bytes().decode("latin-1")


def test_a_team_has_a_vault_of_its_own_and_values_that_are_no_secret(run: Run):
    run("vault", "set", "HOST", "--plain", "--team", "red", stdin="db.example.org")
    (one,) = run("vault", "list", "--team", "red", "--json").json["secrets"]
    assert (one["value"], one["is_secret"]) == ("db.example.org", False)
    assert run("vault", "list", "--json").json["secrets"] == []


@pytest.mark.meets("vault:key:lost")
def test_a_lost_key_is_said_everywhere_and_nothing_is_made_anew(run: Run, place: Path):
    run("vault", "set", "MAIL", stdin=VALUE)
    key = place / "home" / "vault" / "key"
    kept = key.read_bytes()
    key.unlink()
    for command in (
        ("get", "MAIL"),
        ("list",),
        ("rotate",),
        ("init",),
        ("verify",),
        ("set", "NEW"),
        ("delete", "MAIL"),
    ):
        told = run("vault", *command, "--json", stdin="another-value")
        assert (told.code, told.json["error"]["code"]) == (1, "vault_key_lost"), command
        assert "Put the key back" in told.json["error"]["hint"]
    doctor = run("doctor", "--json")
    assert doctor.code == 1
    assert [one["state"] for one in doctor.json["checks"] if one["name"] == "vault"] == ["fail"]
    assert not key.exists()
    assert run("call", "think", '{"thought": "x"}', "--agent", "helper").code == 0  # everything else goes on
    key.touch(mode=0o600)
    key.write_bytes(kept)
    assert run("vault", "get", "MAIL").out == VALUE
    key.chmod(0o644)
    assert run("vault", "get", "MAIL", "--json").json["error"]["code"] == "vault_key_unsafe"


def test_the_key_may_come_from_the_environment_or_a_file_it_names(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_VAULT_KEY", "11" * 32)
    run("vault", "set", "MAIL", stdin=VALUE)
    assert not (place / "home" / "vault").exists()
    monkeypatch.delenv("TOOLCRIB_VAULT_KEY")
    assert run("vault", "get", "MAIL", "--json").json["error"]["code"] == "vault_key_lost"
    (place / "key.txt").write_text("11" * 32 + "\n")
    monkeypatch.setenv("TOOLCRIB_VAULT_KEY_FILE", str(place / "key.txt"))
    assert run("vault", "get", "MAIL").out == VALUE
    shown = run("config", "env").out
    assert "11" * 32 not in shown
    monkeypatch.delenv("TOOLCRIB_VAULT_KEY_FILE")
    monkeypatch.setenv("TOOLCRIB_VAULT_PASSPHRASE", "correct horse battery")
    assert run("vault", "get", "MAIL", "--json").json["error"]["code"] == "vault_key_wrong"


def test_an_export_needs_its_passphrase_and_comes_back_in_another_home(run: Run, place: Path):
    run("vault", "set", "MAIL", "--tool", "http_request", stdin=VALUE)
    made = run("vault", "export", "../out.vault", "--json", stdin="a-long-passphrase\n")
    assert made.json == {"rows": 1, "file": "../out.vault", "sealed": True}
    file = place / "out.vault"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert VALUE.encode() not in file.read_bytes()
    assert run("vault", "export", "../out.vault", stdin="a-long-passphrase").code == 1  # a file that is there stays
    assert run("vault", "export", "../weak.vault", "--json", stdin="short").json["error"]["code"] == "weak_passphrase"
    other = ("--home", str(place / "other"))
    wrong = run("vault", "import", "../out.vault", "--json", *other, stdin="another-passphrase")
    assert wrong.json["error"]["code"] == "vault_changed"
    back = run("vault", "import", "../out.vault", "--json", *other, stdin="a-long-passphrase")
    assert back.json == {"imported": 1, "kept": 0}
    assert run("vault", "get", "MAIL", *other).out == VALUE
    assert run("vault", "list", "--json", *other).json["secrets"][0]["allowed_tools"] == ["http_request"]
    assert run("vault", "import", "../out.vault", "--json", *other, stdin="a-long-passphrase").json["kept"] == 1
    run("vault", "export", "../open.json", "--plain")
    assert stat.S_IMODE((place / "open.json").stat().st_mode) == 0o600


def test_a_changed_row_is_found_and_a_person_may_go_on(run: Run, place: Path):
    for name in ("A", "B"):
        run("vault", "set", name, stdin=f"password-of-{name}")
    run("vault", "rotate")
    assert run("vault", "verify").out == "2 rows looked at.\n"
    with sqlite3.connect(place / "home" / "toolcrib.db") as database:
        database.execute("DELETE FROM tc_vault WHERE name = 'B'")
    database.close()
    told = run("vault", "verify", "--json")
    assert (told.code, told.json["whole"]) == (1, False)
    assert run("vault", "get", "A", "--json").json["error"]["code"] == "vault_changed"
    assert run("vault", "verify", "--accept").code == 0
    assert run("vault", "get", "A").out == "password-of-A"


def test_bad_values_are_refused_without_being_shown(run: Run):
    for stdin, code in (("", "secret_empty"), ("V4lue-" * 20_000, "secret_too_long")):
        told = run("vault", "set", "A", "--json", stdin=stdin)
        assert (told.code, told.json["error"]["code"]) == (1, code)
        assert "V4lue" not in told.out + told.err
    assert run("vault", "set", "A", VALUE, stdin="x").code == 2  # a value is never an argument
    assert run("vault", "get", "NONE", "--json").json["error"]["code"] == "secret_not_found"


def test_what_is_piped_in_and_is_no_text_is_refused(place: Path):
    done = program("vault", "set", "A", "--json", input="\udcff\udcfe", errors="surrogateescape")
    assert done.returncode == 1
    assert "secret_not_text" in done.stdout


def test_attachments_go_into_an_entry_and_along_with_it(run: Run, known: dict[str, str]):
    assert known
    run("vault", "attach", "bank", "README.md")
    told = run("call", "get_vault_attachment", '{"key": "bank", "name": "README.md"}', "--agent", "helper", "--json")
    assert told.json["structured"]["size"] == len("Welcome.\n")
    assert run("vault", "--json").json["entries"][0]["attachments"] == ["README.md"]
    assert run("vault", "delete", "bank", "--entry", "--json").json == {"deleted": True}
    assert run("vault", "delete", "bank", "--entry").out == "The vault holds nothing named bank.\n"
    assert run("vault", "--json").json["entries"] == []
