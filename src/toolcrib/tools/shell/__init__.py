"""Commands and processes: see `family`."""

from toolcrib.tools.shell import process, run
from toolcrib.tools.shell.family import family

__all__ = ["family", "run", "process"]
