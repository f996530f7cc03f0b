"""The program's own settings: where they come from, and what is said about mistakes."""

from pathlib import Path

import pytest

from toolcrib.core.errors import BadConfig
from toolcrib.services.settings import SETTINGS, read_settings


def test_the_command_line_goes_before_the_environment_before_the_file_before_the_default():
    env = {"TOOLCRIB_AUDIT": "strict", "TOOLCRIB_WORKSPACE": "/env", "TOOLCRIB_HOME": "/home/env"}
    settings = read_settings(
        env, {"home": "/home/line", "audit": None}, configured={"workspace": "/file", "store": "sqlite:///f"}
    )
    assert (settings.home, settings.workspace, settings.store) == ("/home/line", "/env", "sqlite:///f")
    assert (settings.audit, settings.color, settings.config) == ("strict", "auto", "")
    assert {key: source for key, source in settings.sources.items() if source != "default"} == {
        "home": "command line",
        "store": "toolcrib.yaml",
        "workspace": "TOOLCRIB_WORKSPACE",
        "audit": "TOOLCRIB_AUDIT",
    }
    assert set(settings.sources) == {setting.key for setting in SETTINGS}


@pytest.mark.meets("config:env:settings")
def test_every_setting_has_its_variable():
    for setting in SETTINGS:
        value = setting.choices[-1] if setting.choices else "/some/where"
        assert getattr(read_settings({setting.variable: value}), setting.key) == value


@pytest.mark.meets("config:env:settings")
def test_a_secret_may_come_from_a_file(tmp_path: Path):
    secret = tmp_path / "store"
    secret.write_text("postgresql://u:hidden@h/db\n")
    settings = read_settings({"TOOLCRIB_STORE_FILE": str(secret)}, read_file=lambda path: Path(path).read_text())
    assert settings.store == "postgresql://u:hidden@h/db"
    row = next(row for row in settings.rows() if row.name == "TOOLCRIB_STORE")
    assert (row.value, row.source) == ("(set)", "TOOLCRIB_STORE_FILE")


def test_a_secret_file_that_cannot_be_used_is_refused(tmp_path: Path):
    (tmp_path / "empty").write_text("")
    for env, what in (
        ({"TOOLCRIB_STORE_FILE": str(tmp_path / "none")}, "cannot be read: No such file"),
        ({"TOOLCRIB_STORE_FILE": str(tmp_path / "empty")}, "is empty"),
        ({"TOOLCRIB_STORE_FILE": "x", "TOOLCRIB_STORE": "y"}, "is set too"),
    ):
        with pytest.raises(BadConfig, match=what):
            read_settings(env, read_file=lambda path: Path(path).read_text())


def test_no_secret_is_shown():
    rows = read_settings({"TOOLCRIB_STORE": "postgresql://u:hidden@h/db"}).rows()
    assert [row.name for row in rows] == [setting.variable for setting in SETTINGS]
    assert not any("hidden" in row.value for row in rows)
    assert all(row.value and row.words and row.source for row in rows)


def test_a_value_that_is_not_allowed_is_refused_with_the_nearest_one():
    with pytest.raises(BadConfig) as refused:
        read_settings({"TOOLCRIB_AUDIT": "srtict", "TOOLCRIB_LOG": "loud"})
    first, second = refused.value.problems
    assert (first.where, first.mend) == ("TOOLCRIB_AUDIT", "Did you mean strict?")
    assert second.where == "TOOLCRIB_LOG"


def test_a_variable_that_means_nothing_is_said():
    env = {"TOOLCRIB_WORKSPCE": "x", "TOOLCRIB_HOME_FILE": "x", "TOOLCRIB_VENV": "x", "PATH": "x"}
    notes = read_settings(env).notes
    assert [note.where for note in notes] == ["TOOLCRIB_HOME_FILE", "TOOLCRIB_WORKSPCE"]
    assert notes[1].mend == "Did you mean TOOLCRIB_WORKSPACE?"
