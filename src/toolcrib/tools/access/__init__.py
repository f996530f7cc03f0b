"""Access: see `family`."""

from toolcrib.tools.access import request
from toolcrib.tools.access.family import family

__all__ = ["family", "request"]
