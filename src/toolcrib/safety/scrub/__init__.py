"""The scrubber: credentials are taken out of every text that leaves."""

from toolcrib.safety.scrub.found import Found
from toolcrib.safety.scrub.scrubber import Scrubber, Stream

__all__ = ["Scrubber", "Stream", "Found"]
