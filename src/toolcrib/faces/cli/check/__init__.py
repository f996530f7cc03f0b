"""`toolcrib check`: what the guards say of a command, an address, a path or a text. One module for each kind of thing."""

import click

from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Command, Group

KINDS = ("shell", "url", "path", "secrets")
EXAMPLES = ("toolcrib check shell 'git push --force'", "toolcrib check url https://example.com/")


class Checks(Group):
    """It imports the one that is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(KINDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:
        del ctx
        return heavy(f"toolcrib.faces.cli.check.{cmd_name}").command if cmd_name in KINDS else None


@click.group("check", cls=Checks, examples=EXAMPLES)
def command() -> None:
    """Ask the guards for a verdict, line by line. Nothing is run, read or written.

    Exit codes: 0, nothing is refused; 1, a line is denied; 2, a line could not be read.
    """
