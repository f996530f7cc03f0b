"""What the program says of itself, and what its start-up leaves alone."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.faces.cli.conftest import Ran, Run, program
from toolcrib import __version__
from toolcrib.faces.cli import COMMANDS, main
from toolcrib.faces.cli import program as root
from toolcrib.faces.cli.frame import Command, Group

HEAVY = ("asyncio", "sqlalchemy", "alembic", "pydantic", "yaml", "rich", "typer", "pypdf", "toolcrib.sources.native")


def _commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command | Group]]:
    with click.Context(group) as ctx:
        for name in group.list_commands(ctx):
            found = group.get_command(ctx, name)
            assert isinstance(found, Command | Group)
            yield (*path, name), found
            if isinstance(found, Group):
                yield from _commands(found, (*path, name))


ALL = dict(_commands(root))
SERVES = ("toolcrib up", "toolcrib demo --serve", "toolcrib mcp --agent")
"""Run until they are stopped; tests/faces/serving and tests/mcp start them."""
EXAMPLES = sorted({one for found in (root, *ALL.values()) for one in found.examples if not one.startswith(SERVES)})


def test_the_program_alone_prints_its_help(run: Run):
    told = run()
    assert told.code == 0
    assert all(name in told.out for _, name, _, _ in COMMANDS)


def test_the_version_is_one_line(run: Run):
    assert run("--version").out == f"toolcrib {__version__}\n"


@pytest.mark.meets("cli:help:examples")
@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_help_of_every_command_has_examples(path: tuple[str, ...], run: Run):
    told = run(*path, "--help")
    assert told.code == 0
    shown = told.out.partition("Examples:\n")[2].strip().splitlines()
    assert len(shown) >= 2
    assert all("toolcrib " in line for line in shown)
    assert "--home" in told.out
    assert "--config" in told.out


@pytest.mark.meets("cli:help:examples")
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_works_when_it_is_run(
    example: str, place: Path, known: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    for word, value in known.items():
        example = example.replace(word, value)
    if any(sign in example for sign in "|>"):
        told = _in_a_shell(example, place)
    else:
        _, *arguments = shlex.split(example)
        told = Ran(main(arguments), capsys.readouterr().out)
    assert told.code == 0, told
    assert told.out or ">" in example


def _in_a_shell(example: str, place: Path) -> Ran:
    shim = place / "bin" / "toolcrib"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m toolcrib "$@"\n')
    shim.chmod(0o755)
    env = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-ec", example], text=True, capture_output=True, env=env, check=False, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


def test_the_list_of_commands_says_what_the_commands_say():
    """The words stand in the table so that help need not import the commands."""
    assert [name for name, words in ((name, words) for _, name, _, words in COMMANDS) if not words.endswith(".")] == []
    assert {path[0] for path in ALL} == {name for _, name, _, _ in COMMANDS}


def test_help_imports_nothing_heavy(place: Path):
    code = (
        "import sys; from toolcrib.faces.cli import main; main(['--help']);"
        f"print([m for m in {HEAVY!r} if m in sys.modules], [m for m in sys.modules if m.startswith('toolcrib.faces.cli.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True, timeout=60)
    heavy, modules = done.stdout.splitlines()[-1].split("] [")
    assert heavy == "["
    assert not any(f"cli.{module}'" in modules for _, _, module, _ in COMMANDS)


def test_the_module_runs_as_a_program(place: Path):
    done = program("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: toolcrib ")


def test_where_and_how_may_be_said_before_or_after_the_command(run: Run, place: Path):
    home = str(place / "home")
    first = run("--home", home, "--json", "explain", "scout", "think").json
    assert first == run("explain", "scout", "think", "--json", "--home", home).json
    assert run("audit", "--home", home, "--json", "verify").json["ok"]
    assert run("audit", f"--home={home}", "--json").json == []


def test_colours_are_for_terminals_and_can_be_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch):
    assert "\x1b[" not in run("tools").out
    monkeypatch.setenv("TOOLCRIB_COLOR", "always")
    assert "\x1b[1m" in run("tools").out
    monkeypatch.setenv("TOOLCRIB_COLOR", "never")
    assert "\x1b[" not in run("tools").out
