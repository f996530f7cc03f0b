"""`toolcrib search`: tools by words."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.core.call import JsonObject
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, write_json, write_table
from toolcrib.services.finding.catalogue import first_line
from toolcrib.services.finding.ranking import Ranking, document


@declare(
    "search",
    "toolcrib search 'read a file'",
    "toolcrib search 'change text' --agent scout",
    "toolcrib search notes --limit 3 --json",
)
@click.argument("query")
@click.option("--agent", metavar="NAME", shell_complete=agents, help="Search what this agent holds, and may get.")
@click.option(
    "--limit", type=click.IntRange(1, 100), metavar="N", default=10, show_default=True, help="How many at most."
)
@pass_asked
def command(asked: Asked, query: str, agent: str | None, limit: int) -> None:
    """Find tools by words, the best first.

    With --agent it answers as the agent's own search does: what it holds, and a few tools that it could get.
    """

    async def work(crib: Crib) -> JsonObject:
        if agent is None or crib.catalogue is None:
            return _everywhere(crib, query, limit)
        turn = await crib.turn(agent)
        return msgspec.to_builtins(crib.catalogue.search(turn.view, query, limit))

    found = with_crib(asked, work)
    if asked.json:
        write_json({"query": query, **found})
        return
    write_table(("", ""), [(one["name"], one["about"]) for one in found["tools"]])
    if found.get("others"):
        click.echo(f"\n{agent} does not hold these:")
        write_table(("", "", ""), [(one["name"], one["how"], one["about"]) for one in found["others"]], indent="  ")
    if not found["tools"]:
        click.echo(f"Nothing fits {query!r}. Use other words, or see `toolcrib tools`.")
    else:
        click.echo(count(len(found["tools"]), "tool"))


def _everywhere(crib: Crib, query: str, limit: int) -> JsonObject:
    registry = crib.resolver.registry
    hits = Ranking(map(document, registry.tools)).search(query, limit)
    tools = [tool for hit in hits if (tool := registry.get(hit.id))]
    return {
        "tools": [
            {"name": tool.name, "about": first_line(tool.about), "domain": tool.domain, "schema": tool.schema}
            for tool in tools
        ]
    }
