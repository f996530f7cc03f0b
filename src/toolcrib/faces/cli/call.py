"""`toolcrib call`: one call as an agent, through the whole pipeline."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.core.call import Outcome, Status
from toolcrib.core.guard import Approval, Call, Verdict
from toolcrib.core.schema import BYTES_OF_ARGUMENTS
from toolcrib.faces.cli.faults import FAILED, REFUSED
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import agents, tools, with_crib
from toolcrib.faces.cli.output import plain, write_json
from toolcrib.faces.cli.person import me
from toolcrib.services.record.audit import Scrub
from toolcrib.services.vault.asking import nobody
from toolcrib.services.vault.ports import SecretAsked


@declare(
    "call",
    'toolcrib call read_file \'{"path": "README.md"}\' --agent helper',
    "toolcrib call list_directory --agent scout --json",
    'echo \'{"path": "README.md"}\' | toolcrib call read_file - --agent helper',
    "toolcrib call write_file @note.json --agent helper --yes",
)
@click.argument("tool", shell_complete=tools)
@click.argument("arguments", metavar="[JSON]", default="{}")
@click.option("--agent", metavar="NAME", required=True, shell_complete=agents, help="The agent that calls.")
@click.option("--session", metavar="NAME", default="", help="The session it calls in.")
@click.option("--user", metavar="NAME", default="", help="The user it calls for.")
@click.option("--workspace", metavar="DIR", help="The folder of its files, instead of the configured or current one.")
@click.option("--key", metavar="TEXT", default="", help="With the same key a tool never runs twice.")
@click.option("--yes", is_flag=True, help="Agree to whatever a person would be asked.")
@pass_asked
def command(
    asked: Asked,
    tool: str,
    arguments: str,
    *,
    agent: str,
    session: str,
    user: str,
    workspace: str | None,
    key: str,
    yes: bool,
) -> int:
    """Run one call of TOOL as an agent, through every guard, and record it.

    The arguments are a JSON object, `-` to read it from standard input, or `@FILE`. Where a rule wants a person's
    agreement, you are asked on a terminal. Exit code: 0 done, 1 failed, 2 wrong use, 3 refused.
    """
    raw = _read(arguments)
    person = Person(yes=yes)
    where = str(Path(workspace).expanduser().absolute()) if workspace else ""

    async def work(crib: Crib) -> Outcome:
        person.scrub = crib.scrub
        who = {"session": session, "user": user, "workspace": where}
        return await crib.call(tool, raw, agent=agent, key=key, **who)

    outcome = with_crib(asked, work, makes_store=True, approve=person.ask, ask_secret=person.enter)
    if asked.json:
        write_json(outcome.as_json())
    else:
        _print(outcome)
    return {Status.DONE: 0, Status.REFUSED: REFUSED}.get(outcome.status, FAILED)


class Person:
    """Whoever sits at the terminal, if anybody does."""

    def __init__(self, *, yes: bool) -> None:
        self.scrub: Scrub = str
        self._yes = yes

    def ask(self, call: Call, asked: Sequence[Verdict]) -> Approval | None:
        """Agree, refuse, or None: there is nobody to ask."""
        if self._yes:
            return Approval(allowed=True, by=me(), why="--yes")
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return None
        shown = msgspec.json.format(msgspec.json.encode(call.arguments), indent=2).decode()
        for line in (
            click.style(f"{call.caller.agent} wants to call {call.tool.name}", bold=True),
            *(f"  because: {plain(self.scrub(verdict.why))}" for verdict in asked),
            *(f"  would leave: {plain(self.scrub(verdict.leaves))}" for verdict in asked if verdict.leaves),
            *(f"  {plain(self.scrub(f'{name}: {value}'))}" for one in asked for name, value in one.binding.items()),
            *(() if call.tool.traits.undoable else ("  it cannot be undone",)),
            plain(self.scrub(shown)),
        ):
            click.echo(line, err=True)
        return Approval(allowed=_agreed(), by=me())

    def enter(self, asked: SecretAsked) -> str | None:
        """A secret that an agent asks for. It is not shown, and goes to the vault."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise nobody(asked.key)
        click.echo(click.style(f"{asked.caller.agent} asks for {plain(asked.label)}", bold=True), err=True)
        if asked.description:
            click.echo(f"  {plain(self.scrub(asked.description))}", err=True)
        return click.prompt(f"  It is stored as {plain(asked.key)}: ", prompt_suffix="", hide_input=True, err=True)


def _agreed() -> bool:
    # Ctrl-C has to end the question at once; the event loop would only note it until the line is finished.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        click.echo("Allow it? [y/N] ", nl=False, err=True)
        return sys.stdin.readline().strip().lower() in {"y", "yes"}
    finally:
        signal.signal(signal.SIGINT, before)


def _read(said: str) -> bytes:
    """The arguments as they came. One byte beyond the limit is enough for the pipeline to refuse them."""
    if said == "-":
        return sys.stdin.buffer.read(BYTES_OF_ARGUMENTS + 1)
    if said.startswith("@"):
        try:
            with Path(said[1:]).expanduser().open("rb") as file:
                return file.read(BYTES_OF_ARGUMENTS + 1)
        except OSError as error:
            raise click.UsageError(f"The arguments in {said[1:]} could not be read: {error.strerror}.") from None
    return said.encode(errors="surrogateescape")


def _print(outcome: Outcome) -> None:
    show = plain if sys.stdout.isatty() else str
    if outcome.error is not None:
        error = outcome.error
        click.echo(f"toolcrib: {plain(error.message)} {plain(error.hint)}".rstrip() + f" [{error.code}]", err=True)
        return
    text = show(outcome.text if outcome.person is None else outcome.person)
    click.echo(text, nl=not text.endswith("\n"))
    for part in outcome.attachments:
        size = f"{len(part.data):,} bytes" if part.data else part.uri
        click.echo(f"attached: {plain(part.name)} ({part.media_type}, {plain(size)})", err=True)
