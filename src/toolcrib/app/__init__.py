"""The one place where parts meet: it builds a crib out of tools, grants, guards and a store."""

from toolcrib.app.crib import Crib
from toolcrib.app.opening import open_crib
from toolcrib.app.turn import Turn

__all__ = ["Crib", "Turn", "open_crib"]
