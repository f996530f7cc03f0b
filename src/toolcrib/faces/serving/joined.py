"""The head of an answer and its body in one write.

uvicorn writes them one after the other. Each write is a packet of its own and wakes whoever reads: on a quick call that
is a tenth of the whole.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_HEAD = b"HTTP/1."
_SMALL = 64 * 1024  # bytes of body that are worth copying


class Joined(asyncio.Transport):
    """A transport that keeps a head back until the body comes, at most for one turn of the loop."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:  # noqa: ANN401 - of any loop
        super().__init__()
        self._transport = transport
        self._later = loop.call_soon
        self._held = b""
        self.get_extra_info = transport.get_extra_info
        self.is_closing = transport.is_closing
        self.pause_reading = transport.pause_reading
        self.resume_reading = transport.resume_reading
        self.set_protocol = transport.set_protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        held = self._held
        if held:
            self._held = b""
            if len(data) <= _SMALL:
                self._transport.write(held + data)
                return
            self._transport.write(held)
        elif data[:7] == _HEAD:
            self._held = bytes(data)
            self._later(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        self._held = b""
        self._transport.abort()

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)


class Protocol(HttpToolsProtocol):
    """uvicorn's own protocol over such a transport."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(Joined(transport, self.loop))
