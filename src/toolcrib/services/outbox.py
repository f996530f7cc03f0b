"""What is written while much is under way goes out together, at the end of a turn of the event loop.

A write wakes whoever reads at the other end, and the wake-up costs more than the write. One behind the other, the first
wakes the reader and the rest find it awake. With little under way a write goes out at once: then only waiting counts.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary

MANY = 6  # requests under way from which on it is worth it
_BOXES: "WeakKeyDictionary[asyncio.AbstractEventLoop, Outbox]" = WeakKeyDictionary()


class Outbox:
    """Calls what was put in when the turn is over, in order."""

    __slots__ = ("__weakref__", "_later", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._later = loop.call_soon
        self._waiting: deque[Callable[[], None]] = deque()

    def put(self, flush: Callable[[], None]) -> None:
        """Call it at the end of this turn."""
        if not self._waiting:
            self._later(self._flush)
        self._waiting.append(flush)

    def _flush(self) -> None:
        waiting = self._waiting
        try:
            while waiting:
                waiting.popleft()()
        finally:
            if waiting:  # one broke, which the loop says: it holds up no other
                self._later(self._flush)


def outbox_of(loop: asyncio.AbstractEventLoop) -> Outbox:
    """The one of this loop."""
    found = _BOXES.get(loop)
    if found is None:
        found = _BOXES[loop] = Outbox(loop)
    return found
