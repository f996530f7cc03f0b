"""`toolcrib check`: what the guards think, without doing anything. One module for each kind of thing."""

import click

from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Command, Group

KINDS = ("url",)


class Checks(Group):
    """It imports the one that is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(KINDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | None:
        del ctx
        return heavy(f"toolcrib.faces.cli.check.{cmd_name}").command if cmd_name in KINDS else None


@click.group("check", cls=Checks, examples=("toolcrib check url https://example.com/", "toolcrib check url --help"))
def command() -> None:
    """Say what a guard thinks of something, before it is tried."""
