"""Commands that start a server, or something that lives as long."""
