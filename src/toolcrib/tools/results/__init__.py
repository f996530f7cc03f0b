"""Results: see `family`."""

from toolcrib.tools.results import read
from toolcrib.tools.results.family import family

__all__ = ["family", "read"]
