"""Tools that work on the files of the workspace."""

from toolcrib.tools.files import edit, find, read, write
from toolcrib.tools.files.family import family

__all__ = ["edit", "family", "find", "read", "write"]
