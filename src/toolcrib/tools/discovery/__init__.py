"""Discovery: see `family`."""

from toolcrib.tools.discovery import explain, find
from toolcrib.tools.discovery.family import family

__all__ = ["family", "find", "explain"]
