"""`toolcrib toolboxes`: the toolboxes there are, and what each grants."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.core.call import JsonObject
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import toolboxes, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.services.toolboxes import Toolboxes


@declare("toolboxes", "toolcrib toolboxes", "toolcrib toolboxes scout", "toolcrib toolboxes notes --json")
@click.argument("name", required=False, shell_complete=toolboxes)
@pass_asked
def command(asked: Asked, name: str | None) -> None:
    """List the toolboxes: built in, configured, and made by agents. With NAME, show what one lists and grants."""

    async def work(crib: Crib) -> list[JsonObject]:
        await crib.refresh()
        boxes = crib.services[Toolboxes]
        assert isinstance(boxes, Toolboxes)  # noqa: S101 - for the type checker: the crib puts it there
        found = await boxes.all() if name is None else [await boxes.get(name)]
        return [_told(crib, msgspec.to_builtins(box)) for box in found]

    found = with_crib(asked, work)
    if asked.json:
        write_json(found if name is None else found[0])
    elif name is None:
        rows = [
            (one["name"], one["origin"], one["grants"], ", ".join(one["used_by"]) or "-", one["description"])
            for one in found
        ]
        write_table(("name", "origin", "grants", "used by", "description"), rows)
    else:
        _print(found[0])


def _told(crib: Crib, box: JsonObject) -> JsonObject:
    resolver = crib.resolver
    return {**box, "granted": list(resolver.registry.names_of(resolver.mask(box["tools"])))}


def _print(box: JsonObject) -> None:
    click.echo(click.style(f"{plain(box['name'])}: {plain(box['description'])}", bold=True))
    exact = "yes: it replaces the core floor" if box["exact"] else ""
    rows = [
        ("origin", box["origin"]),
        ("exact", exact),
        ("used by", ", ".join(box["used_by"])),
        ("made by", box["created_by"]),
        ("lists", ", ".join(box["tools"])),
        (f"grants {count(box['grants'], 'tool')}", ", ".join(box["granted"])),
    ]
    write_table(("", ""), [row for row in rows if row[1]], indent="  ")
