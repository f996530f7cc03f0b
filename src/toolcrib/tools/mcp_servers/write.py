"""Adding, changing and removing MCP servers. A person has to approve what an agent adds or changes."""

from typing import Annotated

from annotated_types import MaxLen

from toolcrib.core.call import Caller, Result, Where
from toolcrib.core.tool import Effect
from toolcrib.services.mcp.desk import AGENT, McpServers, Shown
from toolcrib.tools.mcp_servers.family import family

Texts = Annotated[list[Annotated[str, MaxLen(10_000)]], MaxLen(200)]
Env = Annotated[dict[str, str], MaxLen(100)]


@family.tool(Effect.WRITE, where=[Where.MAIN])
async def add_mcp_server(
    servers: McpServers,
    me: Caller,
    *,
    name: Annotated[str, MaxLen(64), "A short name; its tools are called mcp_<name>_<tool>"],
    command: Annotated[str, MaxLen(10_000), "The program that is the server"] = "",
    args: Annotated[Texts, "Its arguments"] = [],  # noqa: B006 - shown in the schema, never changed
    env: Annotated[Env, "Its environment; write secrets as {{secret:NAME}}"] = {},  # noqa: B006
    url: Annotated[str, MaxLen(10_000), "Where it is reached, instead of a command"] = "",
) -> Result:
    """Add an MCP server. It is not started or reached before a person has approved it."""
    said = {"command": command, "args": args, "env": env, "url": url}
    made = await servers.add(name, {key: value for key, value in said.items() if value}, by=me.agent, origin=AGENT)
    return Result(text=f"Added {made.name}. {_waits(made)}", structured=made)


@family.tool(Effect.WRITE, where=[Where.MAIN])
async def update_mcp_server(
    servers: McpServers,
    me: Caller,
    *,
    name: Annotated[str, MaxLen(64), "The server's name"],
    command: Annotated[str | None, MaxLen(10_000), "Another program"] = None,
    args: Annotated[Texts | None, "Other arguments, all of them"] = None,
    env: Annotated[Env | None, "Another environment, all of it"] = None,
    url: Annotated[str | None, MaxLen(10_000), "Another address"] = None,
) -> Result:
    """Change an MCP server. A person has to approve what changed before it is used again."""
    said = {"command": command, "args": args, "env": env, "url": url}
    change = {key: value for key, value in said.items() if value is not None}
    if command:
        change |= {"url": "", "type": "stdio"}
    elif url:
        change |= {"command": "", "args": [], "type": "http"}
    made = await servers.update(name, change, by=me.agent, origin=AGENT)
    return Result(text=f"Changed {made.name}. {_waits(made)}", structured=made)


@family.tool(Effect.DESTROY, where=[Where.MAIN])
async def remove_mcp_server(servers: McpServers, *, name: Annotated[str, MaxLen(64), "The server's name"]) -> Result:
    """Remove an MCP server. Agents lose its tools, and what was approved of them is forgotten."""
    gone = await servers.remove(name)
    return Result(text=f"Removed {gone.name}, and {gone.tools} tools of it.", structured=gone)


def _waits(one: Shown) -> str:
    if one.state.value == "pending_approval":
        return f"It waits for a person: toolcrib mcp approve {one.name}."
    return f"It is {one.state.value}."
