"""The turn that a client's calls run in.

A turn reads the store. For a quarter of a second the same one serves all calls of a client; after that it is read anew
while the next calls go on, and after three quarters it is waited for. So what another process changes is seen within
that time, and what this one changes at once.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from toolcrib.app import Crib
from toolcrib.app.turn import Turn
from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolError
from toolcrib.core.resolver import Resolver
from toolcrib.faces.mcp.peers import Peer

FRESH, STALE = 0.25, 0.75
KEPT = 1024
Key = tuple[str, str, str]


class Kept:
    """A turn, and how old it is."""

    __slots__ = ("at", "coming", "resolver", "turn")

    def __init__(self) -> None:
        self.at = 0.0
        self.turn: Turn | None = None
        self.resolver: Resolver | None = None
        self.coming: asyncio.Future[Turn] | None = None


class Turns:
    """Turns by client."""

    def __init__(self, crib: Crib, clock: Callable[[], float] = time.monotonic) -> None:
        self._crib = crib
        self._clock = clock
        self._kept: OrderedDict[Key, Kept] = OrderedDict()

    async def of(self, peer: Peer) -> Turn:
        """The turn of a client. Raises UnknownAgent."""
        key = (peer.place.agent, peer.key, peer.user)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = Kept()
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        age = self._clock() - kept.at
        if kept.turn is None or age >= STALE or kept.resolver is not self._crib.resolver:
            return await asyncio.shield(self._coming(key, kept))
        if age >= FRESH:
            self._coming(key, kept)
        return kept.turn

    def _coming(self, key: Key, kept: Kept) -> asyncio.Future[Turn]:
        """The one turn that is being read, for all that wait for it."""
        if kept.coming is None or kept.coming.done():
            kept.coming = asyncio.ensure_future(self._read(key, kept))
            kept.coming.add_done_callback(_looked_at)
        return kept.coming

    async def _read(self, key: Key, kept: Kept) -> Turn:
        agent, session, user = key
        began = self._clock()
        kept.turn = None if kept.resolver is not self._crib.resolver else kept.turn
        try:
            turn = await self._crib.turn(agent, session=session, user=user, channel="mcp")
        except ToolError:
            kept.turn = None
            raise
        kept.at, kept.turn, kept.resolver = began, turn, self._crib.resolver
        return turn

    def forget(self, peer: Peer) -> None:
        """Read anew what a client holds: a call may have changed it."""
        self._kept.pop((peer.place.agent, peer.key, peer.user), None)

    async def close(self) -> None:
        """Wait for what is being read."""
        coming = [kept.coming for kept in self._kept.values() if kept.coming is not None]
        await asyncio.gather(*coming, return_exceptions=True)


def _looked_at(coming: asyncio.Future[Turn]) -> None:
    """Whoever waits sees what went wrong; nobody has to."""
    with suppress(asyncio.CancelledError):
        coming.exception()


def caller_of(peer: Peer) -> Caller:
    """Who asks, where no tool is called."""
    return Caller(agent=peer.place.agent, user=peer.user, session=peer.key, channel="mcp")
