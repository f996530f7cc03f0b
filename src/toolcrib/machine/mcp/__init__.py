"""Sessions with MCP servers: over pipes, over HTTP, and over HTTP with an old kind of event stream."""
