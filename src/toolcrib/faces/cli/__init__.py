"""The command line: one program, whose commands are imported when they are asked for.

It stands on click alone. typer brings the same parser and costs twice its start-up; the half that we would use of it,
options from annotations, is not worth 30 ms of every `toolcrib --help`. rich is not used: tables are plain columns.
"""

import sys
from collections.abc import Sequence
from functools import partial

import click

from toolcrib import __version__
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import near
from toolcrib.faces.cli import faults
from toolcrib.faces.cli.frame import Command, Group

# Section, command, module, and what the list of commands says of it: the modules stay unread until they are wanted.
COMMANDS: tuple[tuple[str, str, str, str], ...] = (
    ("Serve", "up", "server.up", "Start the server, and print the link to open."),
    ("Serve", "demo", "server.demo", "Watch a scripted agent work; no key, no network."),
    ("Look", "tools", "tools", "List the tools, or print their schemas."),
    ("Look", "search", "search", "Find tools by words."),
    ("Look", "toolboxes", "toolboxes", "List the toolboxes and what they grant."),
    ("Look", "explain", "explain", "Say why an agent holds a tool, or does not."),
    ("Look", "agents", "agents", "List agents, and make, change or delete them."),
    ("Judge", "lint", "lint", "Find what looks wrong in the grants."),
    ("Judge", "simulate", "simulate", "Show what a change would do before it is made."),
    ("Judge", "suggest", "suggest", "Print the smallest toolbox that would have served an agent."),
    ("Judge", "check", "check", "Ask the guards for a verdict, line by line."),
    ("Run", "call", "call", "Run one call as an agent, through every guard."),
    ("Run", "approvals", "approvals", "Answer calls that want a person's word."),
    ("Run", "undo", "undo", "Put back what a call changed."),
    ("Run", "access", "access", "Answer agents that ask for tools."),
    ("Run", "scrub", "scrub", "Take secrets out of what is piped through."),
    ("Run", "vault", "vault", "Keep secrets that tools use and agents need not see."),
    ("Run", "mcp", "mcp", "Add and approve MCP servers, or serve an agent's tools to a client."),
    ("Record", "audit", "audit", "Read, check and export the record of every call."),
    ("Set up", "config", "config", "Check and show the configuration and the settings."),
    ("Set up", "import", "importing", "Turn another system's file into toolcrib.yaml."),
    ("Set up", "doctor", "doctor", "Say what is wrong with the set-up, and what to do."),
    ("Set up", "bench", "bench", "Measure, and print figures as JSON lines."),
    ("Set up", "completion", "completion", "Print or install completion for your shell."),
)


class Program(Group):
    """The root: it knows its commands by name, and imports the one that is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for _, name, _, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> Command | Group | None:
        del ctx
        module = next((module for _, name, module, _ in COMMANDS if name == cmd_name), None)
        return heavy(f"toolcrib.faces.cli.{module}").command if module else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names and not args[0].startswith("-"):
            close = near(args[0], names)
            ctx.fail(
                f"There is no command {args[0]!r}."
                + (f" Did you mean {' or '.join(close)}?" if close else " `toolcrib --help` lists them.")
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for section in dict.fromkeys(section for section, *_ in COMMANDS):
            with formatter.section(section):
                formatter.write_dl([(name, words) for own, name, _, words in COMMANDS if own == section])


@click.version_option(__version__, prog_name="toolcrib", message="%(prog)s %(version)s")
def _root() -> None:
    """The tool crib for AI agents: who may use which tool, every call guarded, all of it on record."""


program = Program(
    "toolcrib",
    callback=_root,
    params=list(getattr(_root, "__click_params__", ())),
    help=_root.__doc__,
    examples=("toolcrib explain helper", 'toolcrib call list_directory \'{"path": "."}\' --agent helper'),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and give its exit code: 0 done, 1 failed, 2 wrong use, 3 refused, 130 stopped."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None and "--debug" not in given:
        sys.excepthook = partial(faults.broke, given)
    try:
        code = program.main(given, prog_name="toolcrib", standalone_mode=False)
        sys.stdout.flush()
    except click.Abort:
        return 130
    except BrokenPipeError:
        faults.hush()
        return 1
    except faults.EXPECTED as error:
        return faults.tell(error, given)
    return code if isinstance(code, int) else 0
