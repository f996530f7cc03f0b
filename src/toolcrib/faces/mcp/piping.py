"""The gateway of one client that started this program: its crib, its servers, and the two pipes."""

import asyncio

from toolcrib.app import Crib
from toolcrib.faces.mcp.gateway import Gateway
from toolcrib.faces.mcp.peers import Place
from toolcrib.faces.mcp.pipes import Lines, Output
from toolcrib.faces.mcp.stdio import Pipe
from toolcrib.faces.mcp.upstream import NoServers
from toolcrib.services.people.principal import Principal

PATIENCE = 4.0  # seconds: its servers start with it, and a client that starts it waits longer than one at a port


async def serve(crib: Crib, agent: str, who: Principal, alone: str, output: int) -> None:
    """Answer until the input ends."""
    if crib.mcp is not None:
        await crib.mcp.start()
    out = Output(output)
    gateway = Gateway(crib, crib.mcp or NoServers(), patience=PATIENCE)
    writing = asyncio.ensure_future(out.run())
    try:
        await Pipe(gateway, Place(agent, who, alone), out.write).serve(aiter(Lines()))
    finally:
        await gateway.close()
        out.close()
        await writing
