"""The stream of what happens now."""
