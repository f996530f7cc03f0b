"""MCP servers, as agents manage them."""

from toolcrib.tools.mcp_servers import read, write
from toolcrib.tools.mcp_servers.family import family

__all__ = ["family", "read", "write"]
