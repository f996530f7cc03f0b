"""The vault."""
