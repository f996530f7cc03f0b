"""Looking at MCP servers."""

from toolcrib.core.call import Result, Where
from toolcrib.core.tool import Effect
from toolcrib.services.mcp.desk import McpServers, Shown
from toolcrib.tools.mcp_servers.family import family


@family.tool(Effect.READ, parallel=True, where=[Where.MAIN])
async def list_mcp_servers(servers: McpServers) -> Result:
    """List the MCP servers: how each is reached, whether it may be used, how many tools it has."""
    found = await servers.all()
    text = "\n".join(map(line, found)) or "There are no MCP servers."
    return Result(text=text, structured={"servers": found})


def line(one: Shown) -> str:
    """A server in one line."""
    why = f" ({one.why})" if one.why else ""
    waiting = f", {one.pending} waiting" if one.pending else ""
    waiting += f", {one.changed} quarantined" if one.changed else ""
    return f"{one.name}: {one.state.value}{why}, {one.transport.value}, {one.tools} tools{waiting}: {one.target}"
