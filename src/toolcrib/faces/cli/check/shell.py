"""`toolcrib check shell`: the verdict about a shell command."""

from pathlib import Path

import click
from msgspec import Struct

from toolcrib.core.errors import BadConfig
from toolcrib.faces.cli.check.lines import Row, answer, asked_rows, plain_rows
from toolcrib.faces.cli.frame import Asked, Command, pass_asked
from toolcrib.faces.cli.opening import find
from toolcrib.safety.shell import ShellRule, judge, problems


class Line(Struct):
    """What a program asks about on one line."""

    cmd: str
    cwd: str = ""


def unread(why: str) -> Row:
    """What is not understood is asked about."""
    return {"verdict": "ask", "rule": "input", "why": why}


def verdict(command: str, cwd: str, rules: tuple[ShellRule, ...], workspace: str) -> Row:
    """The verdict in the words of the line protocol."""
    told = judge(command, rules=rules, cwd=cwd, workspace=workspace).as_json()
    return {key: value for key, value in told.items() if value != ""}


@click.command(
    "shell",
    cls=Command,
    examples=(
        "toolcrib check shell 'rm -rf build'",
        'echo \'{"cmd": "git push --force"}\' | toolcrib check shell --jsonl',
        "echo 'ls -la; pwd' | toolcrib check shell --json",
    ),
)
@click.argument("commands", nargs=-1, metavar="[COMMAND]...")
@click.option("--jsonl", is_flag=True, help='Read {"cmd", "cwd"?} lines; write {"verdict", "rule", "why", …} lines.')
@click.option("--workspace", metavar="DIR", help="Where the workspace lies, for absolute paths into it.")
@pass_asked
def command(asked: Asked, commands: tuple[str, ...], jsonl: bool, workspace: str | None) -> int:
    """Say allow, ask or deny about each COMMAND, or about each line of standard input. Nothing is run.

    The rules under `shell` in toolcrib.yaml count. Exit code 1 if a command is denied (one that is asked about is not
    refused), 2 if a line could not be read; such a line gets the verdict ask.
    """
    settings, config = find(asked)
    if wrong := problems(config):
        raise BadConfig(wrong, config.source)
    if workspace is None and settings.sources.get("workspace") not in {None, "default"}:
        workspace = settings.workspace
    folder = str(Path(workspace).absolute()) if workspace else ""
    rules = config.shell_rules
    if jsonl:
        rows = asked_rows(Line, lambda line: verdict(line.cmd, line.cwd, rules, folder), unread)
    else:
        rows = plain_rows(commands, lambda text: verdict(text, "", rules, folder), unread)
    return answer(rows, as_json=jsonl or asked.json)
