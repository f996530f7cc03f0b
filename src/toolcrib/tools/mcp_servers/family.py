"""The family of tools that manage MCP servers."""

from toolcrib.core.tool import Family

family = Family(name="mcp_servers", label="MCP servers", about="List, add, change and remove MCP servers.", icon="plug")
