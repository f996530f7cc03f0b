"""The group of commands, and what they share."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from toolcrib.app import Crib
from toolcrib.app.mcp import Mcp
from toolcrib.core.errors import ToolFailed
from toolcrib.faces.cli.frame import Asked, Group
from toolcrib.faces.cli.opening import with_crib

T = TypeVar("T")


class Servers(Group):
    """The group; whoever names an agent and no command wants that agent's tools served."""

    def _routed(self, args: list[str]) -> list[str]:
        routed = super()._routed(args)
        unnamed = len(routed) > len(args)
        return ["serve", *args] if unnamed and any(arg.partition("=")[0] == "--agent" for arg in args) else routed


@click.group(
    "mcp",
    cls=Servers,
    default="list",
    examples=(
        "toolcrib mcp",
        "toolcrib mcp add notes npx -y @modelcontextprotocol/server-filesystem .",
        "toolcrib mcp import mcp.json",
        "toolcrib mcp approve files",
        "toolcrib mcp pins files",
        "toolcrib mcp config --client claude --agent helper",
        "toolcrib mcp --agent helper",
    ),
)
def command() -> None:
    """MCP servers: add, approve and look at them, and print what a client needs. With --agent, serve its tools."""


def with_mcp(asked: Asked, work: Callable[[Mcp], Awaitable[T]], *, makes_store: bool = False) -> T:
    """Do some work with the MCP servers of the crib."""

    async def opened(crib: Crib) -> T:
        return await work(await servers_of(crib))

    return with_crib(asked, opened, makes_store=makes_store)


async def servers_of(crib: Crib) -> Mcp:
    """The MCP servers of a crib, as they are kept now."""
    await crib.refresh()
    if crib.mcp is None:
        raise ToolFailed("This crib has no MCP servers.", code="not_found")
    return crib.mcp
