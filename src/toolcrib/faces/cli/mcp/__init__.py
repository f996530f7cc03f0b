"""`toolcrib mcp`: the gateway over standard input and output."""

import click

from toolcrib.faces.cli.frame import Group
from toolcrib.faces.cli.mcp.serve import serve


@click.group(
    "mcp",
    cls=Group,
    default="serve",
    examples=("toolcrib mcp --agent helper", "toolcrib mcp --agent helper --server github"),
)
def command() -> None:
    """Serve an agent's tools to an MCP client that starts this program."""


command.add_command(serve)
