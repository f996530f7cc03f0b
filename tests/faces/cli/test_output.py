"""Columns on a terminal: nothing runs over its edge."""

import sys

import pytest

from toolcrib.faces.cli.output import write_table

ROWS = [
    ("c1", "read_file", '{"path":"a-rather-long-name-of-a-file.txt","offset":12}'),
    ("c2", "think", "short words only"),
]


def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: columns > 0)
    monkeypatch.setenv("COLUMNS", str(columns))
    write_table(("id", "tool", "arguments"), ROWS)
    return capsys.readouterr().out.splitlines()


def test_a_word_that_is_longer_than_the_room_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    lines = printed(capsys, monkeypatch, 50)
    assert max(map(len, lines)) <= 50
    assert lines[1].startswith("c1  read_file  {")
    assert lines[2].startswith(" " * len("c1  read_file  "))


def test_a_last_column_without_room_stands_on_lines_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    lines = printed(capsys, monkeypatch, 33)
    assert lines[1] == "c1  read_file"
    assert lines[2].startswith('    {"path"')
    assert max(map(len, lines)) <= 33
    assert "c2  think      short words only" in lines


def test_elsewhere_a_row_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    assert len(printed(capsys, monkeypatch, 0)) == 3
