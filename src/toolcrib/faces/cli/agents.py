"""`toolcrib agents`: the agents there are, and those that people make here instead of in toolcrib.yaml."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import toolboxes, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.faces.cli.person import at, me
from toolcrib.services.agents import Agents, Definition, Shown

T = TypeVar("T")
_DEFINED = "What stands below an agent in toolcrib.yaml, as YAML or JSON: text, @FILE, or - for standard input."


@click.group(
    "agents",
    cls=Group,
    default="list",
    examples=(
        "toolcrib agents",
        "toolcrib agents create clerk --toolbox scout",
        "toolcrib agents update reader --toolbox scout --toolbox research",
        "toolcrib agents show reader --json",
        "toolcrib agents delete reader",
    ),
)
def command() -> None:
    """List agents, and make, change or delete those that are kept in the store."""


@command.command("list", cls=Command, examples=("toolcrib agents list", "toolcrib agents list --json"))
@pass_asked
def list_agents(asked: Asked) -> None:
    """List the agents of the configuration and of the store."""
    found = _with_agents(asked, lambda agents: agents.all())
    if asked.json:
        write_json([_told(one) for one in found])
        return
    rows = [
        (one.name, one.origin.value, one.tools, _boxes(one), str(one.definition.get("description", "")))
        for one in found
    ]
    write_table(("name", "origin", "tools", "toolboxes", "description"), rows)
    click.echo(
        count(len(found), "agent") + ("" if found else ": `toolcrib agents create NAME --toolbox scout` makes one")
    )


@command.command("show", cls=Command, examples=("toolcrib agents show helper", "toolcrib agents show reader --json"))
@click.argument("name")
@pass_asked
def show(asked: Asked, name: str) -> None:
    """Show one agent as it would be written in toolcrib.yaml."""
    _print(asked, _with_agents(asked, lambda agents: agents.get(name)))


@command.command(
    "create",
    cls=Command,
    examples=(
        "toolcrib agents create clerk --toolbox scout --description 'Reads, and changes nothing'",
        "toolcrib agents create writer '{toolboxes: [research], deny: [http_request]}'",
    ),
)
@click.argument("name")
@click.argument("definition", required=False)
@click.option("--toolbox", "boxes", multiple=True, metavar="NAME", shell_complete=toolboxes, help="A toolbox it holds.")
@click.option("--description", metavar="TEXT", help="What it is for.")
@pass_asked
def create(asked: Asked, name: str, definition: str | None, *, boxes: tuple[str, ...], description: str | None) -> None:
    """Make an agent. It may be called at once."""
    made = _definition(definition, boxes, description)
    _print(asked, _with_agents(asked, lambda agents: agents.create(name, made, by=me()), makes_store=True))


@command.command(
    "update",
    cls=Command,
    examples=("toolcrib agents update reader --toolbox scout", "toolcrib agents update reader @reader.yaml"),
)
@click.argument("name")
@click.argument("definition", required=False)
@click.option("--toolbox", "boxes", multiple=True, metavar="NAME", shell_complete=toolboxes, help="A toolbox it holds.")
@click.option("--description", metavar="TEXT", help="What it is for.")
@click.option("--revision", type=int, metavar="N", help="Refuse if it is not at this revision any more.")
@pass_asked
def update(
    asked: Asked,
    name: str,
    definition: str | None,
    *,
    boxes: tuple[str, ...],
    description: str | None,
    revision: int | None,
) -> None:
    """Change an agent of the store. A DEFINITION replaces what was written; options change only what they name."""
    if definition is None and not boxes and description is None:
        raise click.UsageError("Nothing to change: give a DEFINITION, --toolbox or --description.")

    async def work(agents: Agents) -> Shown:
        seen = await agents.get(name)
        before: Definition = seen.definition if definition is None else {}
        made = {**before, **_definition(definition, boxes, description)}
        return await agents.update(name, made, revision=seen.revision if revision is None else revision)

    _print(asked, _with_agents(asked, work))


@command.command(
    "delete", cls=Command, examples=("toolcrib agents delete reader", "toolcrib agents delete reader --json")
)
@click.argument("name")
@pass_asked
def delete(asked: Asked, name: str) -> None:
    """Delete an agent of the store. What is on record of it stays."""
    gone = _with_agents(asked, lambda agents: agents.delete(name))
    if asked.json:
        write_json(_told(gone))
    else:
        click.echo(f"{plain(gone.name)} is deleted; its calls stay on record.")


def _with_agents(asked: Asked, work: Callable[[Agents], Awaitable[T]], *, makes_store: bool = False) -> T:
    async def opened(crib: Crib) -> T:
        await crib.refresh()
        agents = crib.services[Agents]
        assert isinstance(agents, Agents)  # noqa: S101 - for the type checker: the crib puts it there
        return await work(agents)

    return with_crib(asked, opened, makes_store=makes_store)


def _definition(said: str | None, boxes: Sequence[str], description: str | None) -> dict[str, Any]:
    made: dict[str, Any] = {} if said is None else _read(said)
    if boxes:
        made["toolboxes"] = list(boxes)
    if description is not None:
        made["description"] = description
    return made


def _read(said: str) -> dict[str, Any]:
    text = said
    if said == "-":
        text = sys.stdin.read()
    elif said.startswith("@"):
        text = Path(said[1:]).expanduser().read_text(encoding="utf-8")
    yaml = heavy("yaml")
    try:
        found: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise ToolFailed(f"The definition is not YAML{where}.", code="AGENT_INVALID", hint="See --help.") from None
    if not isinstance(found, dict):
        raise ToolFailed("The definition is not a mapping of keys.", code="AGENT_INVALID", hint="See --help.")
    return found  # pyright: ignore[reportUnknownVariableType] - checked as a whole when it is saved


def _told(one: Shown) -> dict[str, Any]:
    return msgspec.to_builtins(one)


def _boxes(one: Shown) -> str:
    named = one.definition.get("toolboxes", ())
    return ", ".join(map(str, named)) or "-"


def _print(asked: Asked, one: Shown) -> None:
    if asked.json:
        write_json(_told(one))
        return
    click.echo(click.style(plain(one.name), bold=True) + f"  {one.origin.value}, {count(one.tools, 'tool')}")
    if one.revision:
        by = f" by {plain(one.created_by)}" if one.created_by else ""
        click.echo(f"  made{by}, revision {one.revision}, {at(one.changed)}")
    definition: Definition = one.definition
    text: str = heavy("yaml").safe_dump(dict(definition), sort_keys=False, allow_unicode=True).rstrip()
    for line in text.splitlines() if definition else ["{}"]:
        click.echo(f"  {plain(line)}")
