"""One folder, one family of tools."""
