"""What happens now, for whoever watches: numbered events in a ring, and listeners that are never waited for.

    publish ──► ring of the last thousands ──► each Listener's own queue ──► a page, a program

A listener that is too slow is told so by `lost`, and asks again from the last number that it has seen. Numbers go on
after a restart: they begin at the milliseconds of the clock.
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from toolcrib.core.heavy import heavy

KEPT, WAITING = 4096, 512
CALL, APPROVAL, CHANGE = "call", "approval", "change"


class Event(Struct, frozen=True):
    """One thing that happened. Its data is JSON-able, and has no secrets in it."""

    id: int
    kind: str
    data: dict[str, Any]


class Listener:
    """One who watches. Iterate over it; it ends when the hub closes, or when it was too slow (`lost`)."""

    def __init__(self, events: Sequence[Event], *, gap: bool, kinds: frozenset[str] | None) -> None:
        self._waiting = deque(events)
        self._kinds = kinds
        self._wake: Any = None
        self.gap = gap  # events between the number that was asked for and the first one are gone
        self.lost = False
        self.closed = False

    def wants(self, kind: str) -> bool:
        """Whether it listens to that."""
        return self._kinds is None or kind in self._kinds

    def give(self, event: Event) -> None:
        """Queue an event."""
        if not self.wants(event.kind):
            return
        if len(self._waiting) >= WAITING:
            self.lost = True
            self.close()
            return
        self._waiting.append(event)
        self._rouse()

    def close(self) -> None:
        """Let it end, after what waits."""
        self.closed = True
        self._rouse()

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def next(self, seconds: float | None = None) -> Event | None:
        """The next event; None when there is none within that time, or no more will come."""
        if not self._waiting and not self.closed:
            asyncio = heavy("asyncio")
            self._wake = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._wake], timeout=seconds)
            self._wake = None
        return self._waiting.popleft() if self._waiting else None

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.closed and not self._waiting

    async def __aiter__(self) -> AsyncIterator[Event]:
        while not self.over:
            event = await self.next()
            if event is not None:
                yield event


class Events:
    """The hub. All of it happens in one event loop."""

    def __init__(self, kept: int = KEPT, clock: Callable[[], float] = time.time) -> None:
        self._ring: deque[Event] = deque(maxlen=kept)
        self._listeners: set[Listener] = set()
        self._last = int(clock() * 1000)
        self.closed = False

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._last

    @property
    def watched(self) -> int:
        """How many listen now."""
        return len(self._listeners)

    def wanted(self, kind: str) -> bool:
        """Whether anybody listens to that."""
        return any(listener.wants(kind) for listener in self._listeners)

    def recent(self, kind: str) -> Iterator[dict[str, Any]]:
        """The data of the events of that kind that are still kept."""
        return (event.data for event in self._ring if event.kind == kind)

    def publish(self, kind: str, data: dict[str, Any]) -> Event:
        """Tell everybody who listens."""
        self._last += 1
        event = Event(self._last, kind, data)
        self._ring.append(event)
        for listener in tuple(self._listeners):
            listener.give(event)
        return event

    def listen(self, after: int | None = None, kinds: Sequence[str] | None = None) -> Listener:
        """Watch from now on, or from the event after that number. `leave` ends it."""
        wanted = None if kinds is None else frozenset(kinds)
        missed = [one for one in self._ring if after is not None and one.id > after]
        first = self._ring[0].id if self._ring else self._last + 1
        gap = after is not None and after < first - 1 and after != self._last
        listener = Listener([one for one in missed if wanted is None or one.kind in wanted], gap=gap, kinds=wanted)
        if self.closed:
            listener.close()
        else:
            self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Stop watching."""
        listener.close()
        self._listeners.discard(listener)

    def close(self) -> None:
        """End every listener: the server stops."""
        self.closed = True
        for listener in tuple(self._listeners):
            self.leave(listener)
