"""`toolcrib mcp`: MCP servers, their tools, and who may use them."""

from toolcrib.faces.cli.mcp import grants, servers, tools
from toolcrib.faces.cli.mcp.group import command
from toolcrib.faces.cli.mcp.serve import serve

command.add_command(serve)

__all__ = ["command", "grants", "serve", "servers", "tools"]
