"""People, invitations and keys."""
