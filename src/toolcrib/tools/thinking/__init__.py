"""Thinking: see `family`."""

from toolcrib.tools.thinking import think, todos
from toolcrib.tools.thinking.family import family

__all__ = ["family", "think", "todos"]
