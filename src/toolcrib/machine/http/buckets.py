"""Buckets that fill again: how often a named source may be asked."""

import math
from collections.abc import Mapping

from toolcrib.core.errors import RateLimited
from toolcrib.services.http import Bucket

_KEPT = 10_000


class Buckets:
    """One bucket for each name, asker and host. A name that no configuration knows never holds anybody up."""

    def __init__(self, buckets: Mapping[str, Bucket]) -> None:
        self._rules = dict(buckets)
        self._levels: dict[tuple[str, str, str], tuple[float, float]] = {}  # what is left, and when that was so

    def take(self, name: str, asker: str, host: str, now: float) -> None:
        """Take one, or raise RateLimited with the time to wait."""
        rule = self._rules.get(name)
        if rule is None:
            return
        key = (name, asker, host)
        left, then = self._levels.pop(key, (float(rule.calls), now))
        left = min(float(rule.calls), left + (now - then) * rule.calls / rule.seconds)
        if len(self._levels) >= _KEPT:
            del self._levels[next(iter(self._levels))]
        self._levels[key] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            retry = math.ceil((1 - left) * rule.seconds / rule.calls)
            raise RateLimited(
                f"{host} was not asked: {rule.calls} calls in {rule.seconds:g} seconds is the limit of {name!r}.",
                hint=f"Wait {retry} seconds, or finish with what you have.",
                data={"retry_after": retry},
            )
