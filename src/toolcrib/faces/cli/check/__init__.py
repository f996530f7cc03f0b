"""`toolcrib check`: what the guards say of a command, an address, a path or a text. One file for each sub-command."""

import click

from toolcrib.faces.cli.check.path import path
from toolcrib.faces.cli.check.shell import shell
from toolcrib.faces.cli.frame import Group

EXAMPLES = ("toolcrib check shell 'git push --force'", "toolcrib check path --jsonl < paths.jsonl")


@click.group("check", cls=Group, examples=EXAMPLES)
def command() -> None:
    """Ask the guards for a verdict, line by line. Nothing is run, read or written.

    Exit codes: 0, nothing is refused; 1, a line is denied; 2, a line could not be read.
    """


for _sub in (shell, path):
    command.add_command(_sub)
