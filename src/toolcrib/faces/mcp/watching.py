"""Resources that clients watch, at servers of either era.

A server of the older era is told by a request. One of the newer era is listened to: one stream for all that is watched
there, opened anew when that changes.
"""

import asyncio
from contextlib import suppress

from toolcrib.core.errors import ToolError
from toolcrib.services.mcp.downstream import Downstream

AGAIN = 1.0  # seconds before a stream that broke is opened again


class Watching:
    """What is watched, by server."""

    def __init__(self) -> None:
        self._uris: dict[str, set[str]] = {}
        self._streams: dict[str, asyncio.Future[None]] = {}

    async def change(self, session: Downstream, uri: str, *, on: bool) -> None:
        """Watch a resource of a server, or no more. Raises McpFault where the server refuses."""
        if not session.facts.modern:
            await session.request("resources/subscribe" if on else "resources/unsubscribe", {"uri": uri})
            return
        uris = self._uris.setdefault(session.name, set())
        if on == (uri in uris):
            return
        uris.symmetric_difference_update({uri})
        stream = self._streams.pop(session.name, None)
        if stream is not None:
            stream.cancel()
        if uris:
            self._streams[session.name] = asyncio.ensure_future(_listen(session, sorted(uris)))

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
