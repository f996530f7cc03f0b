"""MCP servers: what is known of them, who may use them, and how one speaks to them."""
