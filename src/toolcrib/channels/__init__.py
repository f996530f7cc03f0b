"""Chat networks: one adapter each."""
