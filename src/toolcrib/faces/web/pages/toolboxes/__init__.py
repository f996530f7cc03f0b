"""Toolboxes."""
