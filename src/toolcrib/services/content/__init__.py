"""What calls read and write: workspaces, documents, long results."""
