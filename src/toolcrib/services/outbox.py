"""What is written while much is under way goes out together, at the end of a turn of the event loop.

A write wakes whoever reads at the other end, and the wake-up costs more than the write. One behind the other, the first
wakes the reader and the rest find it awake. With little under way a write goes out at once: then only waiting counts.
"""

import asyncio
from collections.abc import Callable
from weakref import WeakKeyDictionary

MANY = 6  # requests under way from which on it is worth it
_BOXES: "WeakKeyDictionary[asyncio.AbstractEventLoop, Outbox]" = WeakKeyDictionary()


class Outbox:
    """Calls what was put in when the turn is over, in order."""

    __slots__ = ("__weakref__", "_broke", "_later", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._later, self._broke = loop.call_soon, loop.call_exception_handler
        self._waiting: list[Callable[[], None]] = []

    def put(self, flush: Callable[[], None]) -> None:
        """Call it at the end of this turn."""
        if not self._waiting:
            self._later(self._flush)
        self._waiting.append(flush)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for flush in waiting:
            try:
                flush()
            except Exception as error:  # noqa: BLE001 - one that breaks holds up no other
                self._broke({"message": "A write that was put off broke", "exception": error})


def outbox_of(loop: asyncio.AbstractEventLoop) -> Outbox:
    """The one of this loop."""
    found = _BOXES.get(loop)
    if found is None:
        found = _BOXES[loop] = Outbox(loop)
    return found
