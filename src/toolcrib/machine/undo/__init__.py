"""Contents kept to undo calls."""
