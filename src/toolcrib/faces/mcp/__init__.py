"""The gateway: tools of agents for any MCP client."""

from toolcrib.faces.mcp.mounting import in_front, lifespan

__all__ = ["in_front", "lifespan"]
