"""The gateway: tools of agents for any MCP client."""
