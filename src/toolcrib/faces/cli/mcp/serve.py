"""`toolcrib mcp serve`: one agent's tools, for one client, over standard input and output."""

import asyncio
import signal

import click

from toolcrib.app import Crib, open_crib
from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import agents, find
from toolcrib.faces.cli.output import plain
from toolcrib.faces.cli.person import me
from toolcrib.services.people.principal import Principal, Role

_WHICH = "`toolcrib mcp list` shows the servers and how it stands with them."


@declare("serve", "toolcrib mcp --agent helper", "toolcrib mcp --agent helper --server github", json=False)
@click.option("--agent", metavar="NAME", required=True, shell_complete=agents, help="The agent whose tools they are.")
@click.option("--server", metavar="NAME", default="", help="Only this MCP server, under its own names.")
@click.option("--workspace", metavar="DIR", help="The folder that file tools work in.")
@pass_asked
def serve(asked: Asked, agent: str, server: str, workspace: str | None) -> None:
    """Serve an agent's tools to the MCP client that starts this program.

    It speaks on standard input and output and ends when its input does. A server that runs on the same home (`toolcrib
    up`) may go on meanwhile: both keep their record and their approvals in one store.
    """
    output = heavy("toolcrib.faces.mcp.pipes").own_output()
    settings, _ = find(asked)
    logs = heavy("logging")
    logs.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logs.getLogger("toolcrib").setLevel(settings.log.upper())
    for note in settings.notes:
        click.echo(f"toolcrib: note: {plain(str(note))}", err=True)

    async def opened() -> None:
        crib = await open_crib(home=asked.home, config=asked.config, workspace=workspace)
        async with crib:
            await _serve(crib, agent, server, output)

    asyncio.run(opened())


async def _serve(crib: Crib, agent: str, server: str, output: int) -> None:
    """Answer until the input ends, or until it is told to stop."""
    await crib.refresh()
    crib.resolver.rules_of(agent)
    if server and crib.mcp is not None and (why := crib.mcp.why_not(server)):
        raise ToolFailed(f"Nothing can be shown under its own names: {why}.", code="not_found", hint=_WHICH)
    face = heavy("toolcrib.faces.mcp.piping")
    who = Principal(id=me(), name=me(), role=Role.ADMIN, via="off")
    serving = asyncio.ensure_future(face.serve(crib, agent, who, server, output))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, serving.cancel)
    await asyncio.wait([serving])
    if not serving.cancelled():
        serving.result()
