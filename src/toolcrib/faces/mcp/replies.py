"""The answer to one HTTP request: JSON when it comes at once, a stream of events when something comes before it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any

from toolcrib.faces.mcp.streams import PAUSE, Send, Stream

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Headers = list[tuple[bytes, bytes]]
JSON = (b"content-type", b"application/json")
SOON = 0.1  # seconds after which it is worth looking whether the client is still there


class Reply:
    """One answer on its way."""

    def __init__(
        self,
        send: Send,
        stream: Callable[[], Stream],
        *,
        prime: bool = False,
        receive: Receive | None = None,
        gone: Callable[[], object] | None = None,
    ) -> None:
        """With `receive`, `gone` is called when the client hangs up."""
        self._receive, self._gone = receive, gone
        self._send = send
        self._make = stream
        self._prime = prime
        self._stream: Stream | None = None
        self._pump: asyncio.Future[None] | None = None
        self._watch: asyncio.Future[None] | None = None

    def out(self, message: bytes) -> None:
        """Send a message before the answer."""
        self._streaming().put(message)

    def _streaming(self) -> Stream:
        if self._stream is None:
            self._stream = self._make()
            self._pump = asyncio.ensure_future(self._stream.pump(self._send, [], prime=self._prime))
        return self._stream

    def lasts(self, seconds: float) -> None:
        """It takes long: notice a client that hangs up, if that matters, and say something now and then."""
        if self._watch is None and self._receive is not None and self._gone is not None:
            self._watch = asyncio.ensure_future(_until_gone(self._receive, self._gone))
        if seconds >= PAUSE:
            self._streaming()

    async def finish(self, body: bytes, status: int = 200, headers: Headers | None = None) -> None:
        """The answer itself."""
        if self._watch is not None:
            self._watch.cancel()
        if self._stream is None or self._pump is None:
            await whole(self._send, body, status, headers)
            return
        self._stream.put(body)
        self._stream.close()
        await self._pump

    async def drop(self) -> None:
        """End it without an answer: nobody waits for one."""
        if self._stream is not None and self._pump is not None:
            self._stream.close()
            await self._pump


class Patience:
    """All answers that are being worked on. One timer looks after them, and only while there are any."""

    def __init__(self) -> None:
        self._under: dict[Reply, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, reply: Reply) -> None:
        """Look after an answer from now on."""
        self._under[reply] = time.monotonic()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON, self._look)

    def leave(self, reply: Reply) -> None:
        """It is done."""
        self._under.pop(reply, None)

    def _look(self) -> None:
        now = time.monotonic()
        for reply, began in list(self._under.items()):
            if now - began >= SOON:
                reply.lasts(now - began)
        self._timer = asyncio.get_running_loop().call_later(SOON, self._look) if self._under else None


async def whole(send: Send, body: bytes, status: int = 200, headers: Headers | None = None) -> None:
    """An answer in one piece."""
    size = (b"content-length", b"%d" % len(body))
    given = [JSON, size] if body else [size]
    await send({"type": "http.response.start", "status": status, "headers": [*given, *(headers or ())]})
    await send({"type": "http.response.body", "body": body})


async def _until_gone(receive: Receive, gone: Callable[[], object]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone()


async def while_there(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Work that only makes sense as long as the client is there."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_until_gone(receive, task.cancel))
    try:
        await asyncio.wait([task, watch], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in (task, watch):
            one.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)
