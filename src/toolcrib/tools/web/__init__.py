"""The web: see `family`."""

from toolcrib.tools.web import browse, request, search
from toolcrib.tools.web.family import family

__all__ = ["family", "search", "browse", "request"]
