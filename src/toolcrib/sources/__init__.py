"""Where tools come from: native, custom, MCP, plugin."""
