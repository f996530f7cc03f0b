"""Tables of tokens that a provider gave a shape of its own."""

from toolcrib.safety.scrub.providers.beginnings import BOUND, INNER
from toolcrib.safety.scrub.providers.marks import MARKS, U

__all__ = ["BOUND", "INNER", "MARKS", "U"]
