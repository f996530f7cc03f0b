"""The contributor's commands: `./toolcrib test` and `./toolcrib dev check|new-tool|docs`. Not part of the package."""
