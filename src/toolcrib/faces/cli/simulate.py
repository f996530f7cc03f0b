"""`toolcrib simulate`: what a change would do before it is made."""

from collections.abc import Sequence

import click
import msgspec
from msgspec.structs import replace

from toolcrib.app import Crib, open_crib
from toolcrib.core.policy import Grants, Toolbox
from toolcrib.core.registry import UnknownName, near
from toolcrib.core.resolver import Resolver
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.history import past_calls
from toolcrib.faces.cli.opening import agents, find, has_store, toolboxes, with_crib
from toolcrib.faces.cli.output import plain, write_json, write_table
from toolcrib.services.advice.simulate import Change, grants_with, simulate
from toolcrib.services.toolboxes import canonical


@declare(
    "simulate",
    "toolcrib simulate --with other.yaml",
    "toolcrib simulate --toolbox notes --add grep --remove write_file",
    "toolcrib simulate --toolbox notes --delete",
    "toolcrib simulate --agent helper --toolboxes scout,notes --json",
)
@click.option("--with", "other", metavar="FILE", help="This configuration instead of the present one.")
@click.option("--toolbox", metavar="NAME", shell_complete=toolboxes, help="A toolbox that changes.")
@click.option("--add", multiple=True, metavar="TOOL", help="Put this into it; may be given again.")
@click.option("--remove", multiple=True, metavar="TOOL", help="Take this out of it; may be given again.")
@click.option("--delete", is_flag=True, help="Delete it.")
@click.option("--agent", metavar="NAME", shell_complete=agents, help="An agent whose toolboxes change.")
@click.option("--toolboxes", "boxes", metavar="A,B", help="The toolboxes that it would have instead.")
@pass_asked
def command(
    asked: Asked,
    *,
    other: str | None,
    toolbox: str | None,
    add: tuple[str, ...],
    remove: tuple[str, ...],
    delete: bool,
    agent: str | None,
    boxes: str | None,
) -> None:
    """Show which agents would gain and lose which tools, and which recorded calls would now be refused.

    Nothing is changed.
    """
    if sum(value is not None for value in (other, toolbox, agent)) != 1:
        raise click.UsageError("Say one change: --with FILE, --toolbox NAME or --agent NAME.")
    if toolbox is not None and not (add or remove or delete):
        raise click.UsageError("Say what changes in the toolbox: --add TOOL, --remove TOOL or --delete.")
    if agent is not None and boxes is None:
        raise click.UsageError("Say which toolboxes it would have: --toolboxes A,B.")

    async def work(crib: Crib) -> list[Change]:
        await crib.refresh()
        now = crib.resolver
        if other is not None:
            after = await _configured(asked, other)
        elif toolbox is not None:
            after = Resolver(now.registry, _with_box(now, toolbox, _split(add), None if delete else _split(remove)))
        else:
            after = Resolver(now.registry, _with_agent(now, agent or "", _split((boxes or "",))))
        return simulate(now, after, await past_calls(crib))

    changes = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(changes))
    else:
        _print(changes)


async def _configured(asked: Asked, path: str) -> Resolver:
    settings, _ = find(asked)
    async with await open_crib(home=asked.home, config=path, needs_store=has_store(settings)) as crib:
        return crib.resolver


def _with_box(now: Resolver, name: str, add: Sequence[str], remove: Sequence[str] | None) -> Grants:
    """The grants with one toolbox changed; `remove` is None when it is deleted."""
    box = now.toolbox(name)
    kept = {n: b for n, b in now.grants.toolboxes.items() if b is not box}
    if box is None:  # a new one changes nothing before an agent has it
        raise click.UsageError(f"There is no toolbox {name!r}.{_meant(name, now.grants.toolboxes)}")
    if box.builtin:
        raise click.UsageError(f"The toolbox {box.name} is built in and cannot be changed. Name one of your own.")
    if remove is None:
        return grants_with(now.grants, toolboxes=kept)
    tools = _changed(now, box, add, remove)
    return grants_with(now.grants, toolboxes={**kept, box.name: replace(box, tools=tools)})


def _changed(now: Resolver, box: Toolbox, add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...]:
    registry = now.registry
    for name in add:
        try:
            registry.check(name)
        except UnknownName as error:
            raise click.UsageError(str(error)) from None
    gone = {canonical(registry, name) for name in remove}
    there = {canonical(registry, name) for name in box.tools}
    if absent := sorted(gone - there):
        raise click.UsageError(f"The toolbox {box.name} does not list {', '.join(absent)}, so it cannot be taken out.")
    return (*(name for name in box.tools if canonical(registry, name) not in gone), *add)


def _with_agent(now: Resolver, agent: str, boxes: Sequence[str]) -> Grants:
    rules = now.rules_of(agent)
    for name in boxes:
        if now.toolbox(name) is None:
            raise click.UsageError(f"There is no toolbox {name!r}.{_meant(name, now.grants.toolboxes)}")
    return grants_with(now.grants, agents={**now.grants.agents, agent: replace(rules, toolboxes=tuple(boxes))})


def _split(said: Sequence[str]) -> list[str]:
    return [name.strip() for one in said for name in one.split(",") if name.strip()]


def _meant(name: str, among: object) -> str:
    close = near(name, among)  # type: ignore[arg-type]
    return f" Did you mean {' or '.join(close)}?" if close else " `toolcrib toolboxes` lists them."


def _print(changes: Sequence[Change]) -> None:
    if not changes:
        click.echo("No agent gains or loses a tool, and no recorded call would be refused.")
    for one in changes:
        state = " (new)" if one.new else " (would be gone)" if one.gone else ""
        click.echo(click.style(plain(one.agent) + state, bold=True))
        refused = ", ".join(f"{tool} ({calls})" for tool, calls in one.refused.items())
        rows = [("gains", ", ".join(one.gains)), ("loses", ", ".join(one.loses)), ("refused calls", refused)]
        write_table(("", ""), [row for row in rows if row[1]], indent="  ")
