"""`toolcrib suggest`: the smallest toolbox that would have served an agent."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.history import past_calls
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.services.advice.simulate import Suggestion, suggest


@declare("suggest", "toolcrib suggest helper", "toolcrib suggest helper --json")
@click.argument("agent", shell_complete=agents)
@pass_asked
def command(asked: Asked, agent: str) -> None:
    """From the recorded calls of AGENT, print the smallest toolbox that would have served them."""

    async def work(crib: Crib) -> Suggestion:
        await crib.refresh()
        crib.resolver.rules_of(agent)
        return suggest(crib.resolver, agent, await past_calls(crib, agent))

    told = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(told))
        return
    if not told.calls:
        click.echo(f"There are no recorded calls of {plain(agent)}, so there is nothing to go by.")
        return
    click.echo(f"# From {count(told.calls, 'call')} of {plain(agent)}.")
    if told.tools or told.exact:
        exact = "    exact: true\n" if told.exact else ""
        click.echo(f"toolboxes:\n  {plain(told.box)}:\n{exact}    tools: [{', '.join(told.tools)}]")
    else:
        click.echo("# It needs no toolbox: the core floor served every call.")
    nearest = ", ".join(f"{name} ({count(extra, 'tool')} more than needed)" for name, extra in told.nearest)
    rows = [
        ("# used of the core floor", ", ".join(told.floor)),
        ("# held and never called", ", ".join(told.unused)),
        ("# boxes that would do", nearest),
        ("# called, and no tool here any more", ", ".join(told.lost)),
    ]
    write_table(("", ""), [row for row in rows if row[1]])
