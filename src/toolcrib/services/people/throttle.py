"""How often a password may be tried. It slows guessing down; it never locks anybody out for good.

One address and name: five tries, then each costs twice the wait of the one before, up to a quarter of an hour.
One address, whatever the name: thirty failures in a quarter of an hour. One name, whatever the address: after twenty
failures a new address may try once in ten seconds; an address from which the person has signed in is not held up.
"""

import time
from collections.abc import Callable, Hashable
from typing import TypeVar

from toolcrib.core.errors import RateLimited

FREE, LONGEST = 5, 900.0
PER_ADDRESS, PER_NAME, APART = 30, 20, 10.0
REMEMBERED = 10_000
K = TypeVar("K", bound=Hashable)


class _Tally:
    """Failures of one place within the last quarter of an hour."""

    __slots__ = ("count", "last")

    def __init__(self) -> None:
        self.count, self.last = 0, 0.0


class Throttle:
    """Counts failures, in memory."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pairs: dict[tuple[str, str], _Tally] = {}
        self._addresses: dict[str, _Tally] = {}
        self._names: dict[str, _Tally] = {}
        self._trusted: dict[tuple[str, str], float] = {}

    def check(self, name: str, address: str) -> None:
        """Refuse a try that comes too early, with the seconds to wait."""
        now = self._clock()
        pair = self._pairs.get((name, address))
        wait = 0.0
        if pair is not None and pair.count >= FREE:
            wait = pair.last + min(2.0 ** (pair.count - FREE), LONGEST) - now
        elsewhere = self._addresses.get(address)
        if elsewhere is not None and elsewhere.count >= PER_ADDRESS:
            wait = max(wait, elsewhere.last + LONGEST / PER_ADDRESS - now)
        everybody = self._names.get(name)
        if everybody is not None and everybody.count >= PER_NAME and (name, address) not in self._trusted:
            wait = max(wait, everybody.last + APART - now)
        if wait > 0:
            seconds = round(wait + 0.5)
            raise RateLimited(
                "Too many tries to sign in.",
                hint=f"Try again in {seconds} seconds.",
                data={"retry_after": seconds},
            )

    def failed(self, name: str, address: str) -> None:
        """Note a wrong password, or an unknown name."""
        now = self._clock()
        for tallies, key in ((self._addresses, address), (self._names, name)):
            _count(tallies, key, now)
        _count(self._pairs, (name, address), now)

    def passed(self, name: str, address: str) -> None:
        """Note a sign-in: this address is known for that name."""
        self._pairs.pop((name, address), None)
        if len(self._trusted) >= REMEMBERED:
            self._trusted.clear()
        self._trusted[name, address] = self._clock()


def _count(tallies: dict[K, _Tally], key: K, now: float) -> None:
    if len(tallies) >= REMEMBERED:  # forget the oldest half: memory is bounded whoever knocks
        for old in sorted(tallies, key=lambda one: tallies[one].last)[: REMEMBERED // 2]:
            del tallies[old]
    tally = tallies.setdefault(key, _Tally())
    if now - tally.last > LONGEST:
        tally.count = 0
    tally.count += 1
    tally.last = now
