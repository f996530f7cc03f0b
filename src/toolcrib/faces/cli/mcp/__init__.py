"""`toolcrib mcp`: MCP servers, their tools, and who may use them."""

from toolcrib.faces.cli.mcp import grants, servers, tools
from toolcrib.faces.cli.mcp.group import command

__all__ = ["command", "grants", "servers", "tools"]
