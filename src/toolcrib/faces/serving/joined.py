"""Answers in as few writes as can be: uvicorn writes a head and its body one after the other, each a packet of its own."""

import asyncio
from collections.abc import Sized
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from toolcrib.services.outbox import MANY, Outbox, outbox_of

_HEAD = b"HTTP/1."
_MOST = 64 * 1024  # bytes that are kept back: beyond that the transport has to say when it is too much
LONGEST_HEAD = 512 * 1024  # bytes that come without any body among them; the parser keeps them all


class Joined(asyncio.Transport):
    """A transport that keeps a head back until its body comes, and bodies until others are there: for a turn at most."""

    def __init__(self, transport: Any, outbox: Outbox, under_way: Sized) -> None:  # noqa: ANN401 - of any loop
        super().__init__()
        self._transport = transport
        self._put = outbox.put
        self._under_way = under_way
        self._parts: list[bytes] = []
        self._size = 0
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.set_protocol = transport.set_protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._parts.append(bytes(data))
        self._size += len(data)
        if self._size <= _MOST and (len(self._under_way) >= MANY or (len(self._parts) == 1 and data[:7] == _HEAD)):
            if len(self._parts) == 1:
                self._put(self._flush)
        else:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._parts, self._size = [], 0
        self._transport.abort()

    def _flush(self) -> None:
        parts, self._parts, self._size = self._parts, [], 0
        if parts and not self.is_closing():
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))


class Protocol(HttpToolsProtocol):
    """uvicorn's own protocol over such a transport, with a bound to what it has not understood yet."""

    _dry = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(Joined(transport, outbox_of(self.loop), self.tasks))

    def data_received(self, data: bytes) -> None:
        self._dry += len(data)
        if self._dry > LONGEST_HEAD:
            self.send_400_response("The head of the request is too long.")
        else:
            super().data_received(data)

    def on_headers_complete(self) -> None:
        self._dry = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._dry = 0
        super().on_body(body)
