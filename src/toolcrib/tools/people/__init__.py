"""People: see `family`."""

from toolcrib.tools.people import ask, users
from toolcrib.tools.people.family import family

__all__ = ["ask", "family", "users"]
