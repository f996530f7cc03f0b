"""Toolkits: see `family`."""

from toolcrib.tools.toolkits import read, write
from toolcrib.tools.toolkits.family import family

__all__ = ["family", "read", "write"]
