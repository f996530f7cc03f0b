"""Toolboxes: see `family`."""

from toolcrib.tools.toolboxes import read, write
from toolcrib.tools.toolboxes.family import family

__all__ = ["family", "read", "write"]
