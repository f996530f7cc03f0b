"""Resources that clients watch, at servers of either era.

A server of the older era is told by a request. One of the newer era is listened to: one stream for all that is watched
there, opened anew when that changes.
"""

import asyncio
from contextlib import suppress
from weakref import WeakKeyDictionary

from toolcrib.core.errors import ToolError
from toolcrib.services.mcp.downstream import Downstream

AGAIN = 1.0  # seconds before a stream that broke is opened again


class Watching:
    """What is watched, by session: one server may have several, each with an identity of its own."""

    def __init__(self) -> None:
        self._uris: WeakKeyDictionary[Downstream, set[str]] = WeakKeyDictionary()
        self._streams: dict[Downstream, asyncio.Future[None]] = {}

    async def change(self, session: Downstream, uri: str, *, on: bool) -> None:
        """Watch a resource of a server, or no more. Raises McpFault where the server refuses."""
        if not session.facts.modern:
            await session.request("resources/subscribe" if on else "resources/unsubscribe", {"uri": uri})
            return
        uris = self._uris.setdefault(session, set())
        if on == (uri in uris):
            return
        uris.symmetric_difference_update({uri})
        stream = self._streams.pop(session, None)
        if stream is not None:
            stream.cancel()
        if uris:
            self._streams[session] = asyncio.ensure_future(_listen(session, sorted(uris)))

    async def close(self) -> None:
        """Listen to nobody any more."""
        streams = list(self._streams.values())
        for stream in streams:
            stream.cancel()
        self._streams.clear()
        await asyncio.gather(*streams, return_exceptions=True)


async def _listen(session: Downstream, uris: list[str]) -> None:
    """What comes on the stream goes to everybody who listens to the server."""
    while True:
        with suppress(ToolError):
            await session.request("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        await asyncio.sleep(AGAIN)
