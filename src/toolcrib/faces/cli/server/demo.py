"""`toolcrib demo`: a scripted agent at work, on a home of its own that is thrown away. No key, no network."""

import asyncio
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.core.call import Outcome
from toolcrib.core.errors import CribError
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.output import count, one_line, plain, write_line, write_table
from toolcrib.services.record.audit import Query

if TYPE_CHECKING:
    from toolcrib.app.house import House

CONFIG = """\
agents:
  gardener:
    description: A scripted agent that keeps a small project in order
    tools: [read_file, edit_file, run_shell]
    allowed_toolkits: [looking]
toolkits:
  looking: {description: Find files by name and by content, tools: [glob, grep]}
rules:
  - {tool: edit_file, action: ask, why: a person looks at every edit}
confirm: [destructive]
"""
KEY = "AKIA" + "IOSFODNN7" + "DEMOKEY"  # of the form of a cloud key; it opens nothing
WORD = "t0matoes-in-9-rows"
FILES = {
    "plan.md": "# Plan\n\n- water the tomatoes\n- mend the fence\n",
    "deploy.env": f"REGION=eu-west-1\nAWS_ACCESS_KEY_ID={KEY}\nDATABASE_URL=postgresql://garden:{WORD}@db.example/garden\n",
}
AGENT, SESSION, PERSON = "gardener", "demo", "you (played by the script)"
SECONDS = 20.0
Arguments = Mapping[str, Any]


@declare("demo", "toolcrib demo", "toolcrib demo --serve")
@click.option("--serve", is_flag=True, help="Keep a server up on the demo's home afterwards, to look around.")
@click.option(
    "--port", metavar="N", default="0", show_default=True, help="The port of that server; 0 takes a free one."
)
@click.option("--keep", metavar="DIR", help="Make the demo's home in this folder, and keep it.")
@pass_asked
def command(asked: Asked, *, serve: bool, port: str, keep: str | None) -> None:
    """Watch a scripted agent work behind the counter: asked, allowed, denied, refused, scrubbed, undone, recorded.

    It needs no model, no key and no network, and works in a folder of its own.
    """
    with ExitStack() as stack:
        above = Path(keep) if keep else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="toolcrib-demo-")))
        home, workspace = above / "home", above / "workspace"
        for folder in (home, workspace):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (home / "toolcrib.yaml").write_text(CONFIG, encoding="utf-8")
        for name, text in FILES.items():
            (workspace / name).write_text(text, encoding="utf-8")
        asyncio.run(_run(_Stage(as_json=asked.json), home, workspace, port if serve else None, kept=bool(keep)))


class _Stage:
    """Prints what happens as it happens."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._number = 0

    def scene(self, title: str) -> None:
        self._number += 1
        if self.as_json:
            write_line({"scene": title})
        else:
            click.echo(click.style(f"\n{self._number}. {title}", bold=True))

    def says(self, who: str, text: str, colour: str = "") -> None:
        if self.as_json:
            write_line({"who": who, "says": text})
            return
        for line in plain(text).rstrip().splitlines() or [""]:
            click.echo(f"   {click.style(f'{who:<9}', fg=colour or None)} {line}")
            who = ""

    def called(self, tool: str, arguments: Arguments) -> None:
        told = ", ".join(f"{name}={one_line(str(value), 60)!r}" for name, value in arguments.items())
        self.says("agent", f"{tool}({told})", "cyan")

    def ended(self, outcome: Outcome, most: int = 400) -> None:
        if outcome.error is None:
            self.says("result", outcome.text[:most], "green")
        else:
            self.says(outcome.status.value, f"{outcome.error.code}: {outcome.error.message}", "red")
            if outcome.error.hint:
                self.says("", outcome.error.hint)


class _Play:
    """The agent's side: calls with whatever a person answers."""

    def __init__(self, house: "House", stage: _Stage) -> None:
        self._house = house
        self._stage = stage

    async def call(self, tool: str, arguments: Arguments, *, depth: int = 0) -> Outcome:
        self._stage.called(tool, arguments)
        outcome = await self._house.crib.call(tool, dict(arguments), agent=AGENT, session=SESSION, depth=depth)
        self._stage.ended(outcome)
        return outcome

    async def asks(self, tool: str, arguments: Arguments, choice: str, text: str = "") -> Outcome:
        """A call that waits for a person, and the person's answer."""
        house, stage = self._house, self._stage
        stage.called(tool, arguments)
        standing = await house.calls.begin(AGENT, tool, dict(arguments), session=SESSION)
        await standing.settled(SECONDS)
        request = await house.crib.approvals.get(standing.approval)
        stage.says("waits", f"{'; '.join(one.why for one in request.reasons)} (request {request.id})", "yellow")
        await house.crib.approvals.answer(request.id, choice, by=PERSON, text=text)
        stage.says("person", f"{choice}{f': {text}' if text else ''}", "magenta")
        outcome = await standing.settled(SECONDS, through=True)
        if outcome is None:
            raise CribError("The call did not go on after it was answered. Run `toolcrib doctor`.")
        stage.ended(outcome)
        return outcome


async def _run(stage: _Stage, home: Path, workspace: Path, port: str | None, *, kept: bool) -> None:
    opened = heavy("toolcrib.app.house").open_house
    async with await opened(home=str(home), workspace=str(workspace), port=port, env={}) as house:
        await _play(house, stage, workspace)
        if port is not None:
            await _serve(house, stage)
        elif kept:
            stage.says("next", f"Look around: toolcrib up --home '{home}' --workspace '{workspace}'")
        else:
            stage.says("next", "Look around in a server: toolcrib demo --serve. Begin with your own: toolcrib up")


async def _play(house: "House", stage: _Stage, workspace: Path) -> None:
    play = _Play(house, stage)
    edit = {"path": "plan.md", "oldText": "mend the fence", "newText": "mend the fence by Friday"}
    stage.scene("The agent reads a file in its workspace")
    await play.call("read_file", {"path": "plan.md"})
    stage.scene("An edit asks first; a person allows it, and it runs")
    edited = await play.asks("edit_file", edit, "accept")
    stage.scene("Another edit is denied, with a reason that the agent can act on")
    away = {"path": "plan.md", "oldText": "- water the tomatoes\n", "newText": ""}
    await play.asks("edit_file", away, "deny", "They still need water.")
    stage.scene("A dangerous command is refused before anybody is asked")
    await play.call("run_shell", {"command": "rm -rf / --no-preserve-root"})
    stage.scene("A tool that it does not hold; it loads the toolkit, which counts from the next request on")
    await play.call("glob", {"pattern": "*.md"})
    await play.call("load_tools", {"toolkit": "looking"})
    await play.call("glob", {"pattern": "*.md"})
    stage.scene("A file with credentials is read; the values never reach the agent")
    read = await play.call("read_file", {"path": "deploy.env"})
    if KEY in read.text or WORD in read.text:
        raise CribError("A secret came through. Please report this.")
    stage.scene("A sub-agent holds less than its parent, and is refused the rest")
    await play.call("prompt_secret", _SUB, depth=1)
    stage.scene("The person takes the edit back")
    await house.crib.undo(edited.id, by=PERSON)
    stage.says("undone", one_line((workspace / "plan.md").read_text(encoding="utf-8")), "green")
    await _record(house, stage)


_SUB = {"key": "MAIL_PASSWORD", "label": "The password of your mail account"}


async def _record(house: "House", stage: _Stage) -> None:
    stage.scene("All of it is on record, refusals too, in a chain that shows tampering")
    audit = house.crib.store.audit
    entries = (await audit.entries(Query(oldest_first=True, limit=1000))).entries
    rows = [(str(one.seq), one.tool, one.status, one.code, one.approval or ", ".join(one.verdicts)) for one in entries]
    if stage.as_json:
        write_line({"record": [one.as_json() for one in entries]})
    else:
        write_table(("", "tool", "status", "code", "decided by"), rows, indent="   ")
    verdict = await audit.verify()
    if not verdict.ok:
        raise CribError(f"The record is broken: {verdict.why}.")
    stage.says("verified", f"{count(verdict.checked, 'entry', 'entries')}, none changed, removed or moved", "green")


async def _serve(house: "House", stage: _Stage) -> None:
    running = heavy("toolcrib.faces.serving.running")
    host, port = running.checked_address(house.settings.host, house.settings.port, auth=house.auth)
    taken = running.listening(host, port)
    address = running.address_of(house, taken)
    house.reached(address)
    where, _ = await running.link(house, address)

    def ready(_: str) -> None:
        stage.says("next", f"Look around: {where} (Ctrl-C ends it)")

    await running.serve(house, taken, ready=ready)
