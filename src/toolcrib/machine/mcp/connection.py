"""One HTTP/1.1 connection that is kept between requests, as a protocol of the event loop.

A request is one write. Its answer resolves one future: no task, no stream object, no queue.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import httptools
from msgspec import Struct

from toolcrib.machine.mcp.events import LARGEST, Event, EventReader, TooLargeError
from toolcrib.services.outbox import outbox_of

IDLE = 4.0  # seconds after which a kept connection is not trusted any more: servers close theirs after five
LONGEST_HEAD, MOST_LINES = 512 * 1024, 1000  # bytes that come without any body among them; lines of a head
_DRAIN = 2.0  # seconds that a stream may go on after it gave its answer
Heard = Callable[[Event], bool]  # whether this event was the answer


class Reply(Struct):
    """What came back. A stream of events has no body; `answered` says whether the answer was among them."""

    status: int
    headers: dict[bytes, bytes]
    body: bytes = b""
    answered: bool = False

    def header(self, name: bytes) -> str:
        """A header by its name in small letters."""
        return self.headers.get(name, b"").decode("latin-1")


class LostError(Exception):
    """The connection ended before the answer. `sent`: the request may have reached the server."""

    def __init__(self, why: str, *, sent: bool = True) -> None:
        super().__init__(why)
        self.sent = sent


class Connection(asyncio.Protocol):
    """A connection to one server. It works on one request at a time."""

    def __init__(self, free: "Callable[[Connection], None]") -> None:
        self._free = free
        self._loop = asyncio.get_running_loop()
        self._outbox = outbox_of(self._loop)
        self._transport: Any = None
        self._parser: Any = httptools.HttpResponseParser(self)
        self._waiting: asyncio.Future[Reply] | None = None
        self._heard: Heard | None = None
        self._events: EventReader | None = None
        self._headers: dict[bytes, bytes] = {}
        self._body: bytes | bytearray = b""
        self._status = self._dry = self._lines = 0
        self._busy = False
        self._sent = True
        self._drain: asyncio.TimerHandle | None = None
        self.closed = False
        self.since = 0.0  # when it became free
        self.idle = IDLE

    @property
    def usable(self) -> bool:
        """Whether a request may be written on it."""
        return not self.closed and not self._busy and self._loop.time() - self.since < self.idle

    def ask(self, data: bytes, heard: Heard | None, *, together: bool = False) -> "asyncio.Future[Reply]":
        """Write a request, `together` with others of this turn. Whoever gives up waiting has to `close` the connection."""
        self._busy = True
        self._heard = heard
        self._waiting = self._loop.create_future()
        self._status, self._headers, self._body, self._events = 0, {}, b"", None
        self._dry = self._lines = 0
        self._sent = not together
        if together:
            self._outbox.put(partial(self._write, data))
        else:
            self._transport.write(data)
        return self._waiting

    def _write(self, data: bytes) -> None:
        if not self.closed:
            self._sent = True
            self._transport.write(data)

    def close(self) -> None:
        """End it at once."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.since = self._loop.time()

    def data_received(self, data: bytes) -> None:
        self._dry += len(data)
        if self._dry > LONGEST_HEAD:
            self._fail("the head of its answer is longer than any is")
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            large = isinstance(error.__context__, TooLargeError)  # raised below, and wrapped by the parser
            self._fail(f"its answer is longer than {LARGEST >> 20} MB" if large else "it does not answer in HTTP")
        except httptools.HttpParserUpgrade:
            self._fail("it wants to speak another protocol")

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        if self._drain is not None:
            self._drain.cancel()
        if self._waiting is not None and self._status and b"content-length" not in self._headers and exc is None:
            chunked = b"chunked" in self._headers.get(b"transfer-encoding", b"")
            if not chunked:
                self._finish(answered=False)
        self._fail("the connection was lost")
        self._free(self)

    def on_message_begin(self) -> None:
        if not self._busy:
            raise LostError("it answers what nobody asked")  # else the next who asks here would get it

    def on_header(self, name: bytes, value: bytes) -> None:
        self._lines += 1
        if self._lines > MOST_LINES:
            raise LostError("too many lines")
        low = name.lower()
        known = self._headers.get(low)
        self._headers[low] = value if known is None else known + b", " + value

    def on_headers_complete(self) -> None:
        status = int(self._parser.get_status_code())
        if status < 200:
            self._headers = {}
            return
        self._status = status
        if self._heard is not None and self._headers.get(b"content-type", b"").lower().startswith(b"text/event-stream"):
            self._events = EventReader()

    def on_body(self, body: bytes) -> None:
        self._dry = 0
        if self._events is None:
            if len(self._body) + len(body) > LARGEST:
                raise TooLargeError
            if not self._body:
                self._body = body  # most answers come in one piece
            elif isinstance(self._body, bytearray):
                self._body += body
            else:
                self._body = bytearray(self._body + body)
            return
        for event in self._events.feed(body):
            if self._heard is not None and self._heard(event):
                self._heard = None
                self._drain = self._loop.call_later(_DRAIN, self.close)
                self._finish(answered=True)

    def on_message_complete(self) -> None:
        if not self._status:
            return  # an informational answer: the real one follows
        if self._drain is not None:
            self._drain.cancel()
            self._drain = None
        self._finish(answered=False)
        self._busy = False
        self.since = self._loop.time()
        if not self._parser.should_keep_alive():
            self.close()
        elif (kept := self._headers.get(b"keep-alive", b"")).startswith(b"timeout="):
            with suppress(ValueError):
                self.idle = min(IDLE, max(0.0, float(kept[8:].partition(b",")[0]) - 1))
        self._free(self)

    def _finish(self, *, answered: bool) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(Reply(self._status, self._headers, bytes(self._body), answered))

    def _fail(self, why: str) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_exception(LostError(why, sent=self._sent))
        if not self.closed:
            self.close()
