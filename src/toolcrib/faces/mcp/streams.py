"""Server-sent events, kept for a while: a client that was cut off goes on after the last one that it saw."""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
KEPT = 256
_PLACE = re.compile(r"(.+)_(-?[0-9]{1,15})")
PAUSE = 15.0  # seconds of silence after which something is said, so that nobody in between hangs up
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Stream:
    """Messages in order, for one reader at a time."""

    def __init__(self, name: str, *, limit: int = KEPT, numbered: bool = True) -> None:
        self.name = name
        self.closed = False
        self.lost = 0  # messages that nobody fetched in time
        self._numbered = numbered
        self._limit = limit
        self._kept: deque[bytes] = deque()
        self.size = 0  # bytes of those that are kept
        self._first = 0  # the number of the first that is kept
        self._wake: asyncio.Future[None] | None = None
        self._reader = 0
        self.read = 0  # how far a reader has come

    def put(self, message: bytes) -> None:
        """Add a message."""
        if self.closed:
            return
        if len(self._kept) >= self._limit:
            self.size -= len(self._kept.popleft())
            self.lost += 1
            self._first += 1
        self._kept.append(message)
        self.size += len(message)
        self._rouse()

    def close(self) -> None:
        """No more will come."""
        self.closed = True
        self._rouse()

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _frame(self, number: int, message: bytes) -> bytes:
        if not self._numbered:
            return b"event: message\r\ndata: %b\r\n\r\n" % message
        return b"id: %b_%d\r\nevent: message\r\ndata: %b\r\n\r\n" % (self.name.encode(), number, message)

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something new. False: there was nothing in that time."""
        self._wake = asyncio.get_running_loop().create_future()
        await asyncio.wait([self._wake], timeout=seconds)
        return self._wake.done()

    async def pump(
        self, send: Send, headers: list[tuple[bytes, bytes]], after: int | None = None, *, prime: bool = False
    ) -> None:
        """Write to a client until the stream ends or another reader comes."""
        self._reader += 1
        mine = self._reader
        self._rouse()
        await send({"type": "http.response.start", "status": 200, "headers": [*HEADERS, *headers]})
        at = self.read if after is None else after + 1
        if prime:
            await send(_part(b"id: %b_%d\r\ndata: \r\n\r\n" % (self.name.encode(), at - 1)))
        while mine == self._reader:
            at = max(at, self._first)
            frames = [self._frame(n, self._kept[n - self._first]) for n in range(at, self._first + len(self._kept))]
            if frames:
                at += len(frames)
                self.read = max(self.read, at)
                await send(_part(b"".join(frames)))
            elif self.closed:
                break
            elif not await self.wait(PAUSE):
                await send(_part(b": still here\r\n\r\n"))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


def place_of(event: str) -> tuple[str, int] | None:
    """Stream and number of an event's id; None for what is none of ours."""
    found = _PLACE.fullmatch(event)
    return (found[1], int(found[2])) if found is not None else None
