"""The turn that a client's calls run in.

A turn reads the store. For a tenth of a second the same one serves all calls of a client: what another process changes
is seen after that time, what this one changes at once.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

from toolcrib.app import Crib
from toolcrib.app.turn import Turn
from toolcrib.core.call import Caller
from toolcrib.core.resolver import Resolver
from toolcrib.faces.mcp.peers import Peer

FRESH = 0.1
KEPT = 1024


class Turns:
    """Turns by client."""

    def __init__(self, crib: Crib, clock: Callable[[], float] = time.monotonic) -> None:
        self._crib = crib
        self._clock = clock
        self._kept: OrderedDict[tuple[str, str, str], tuple[float, Resolver, Turn]] = OrderedDict()

    async def of(self, peer: Peer) -> Turn:
        """The turn of a client. Raises UnknownAgent."""
        key = (peer.place.agent, peer.key, peer.user)
        known = self._kept.get(key)
        now = self._clock()
        if known is not None and now < known[0] and known[1] is self._crib.resolver:
            return known[2]
        turn = await self._crib.turn(peer.place.agent, session=peer.key, user=peer.user, channel="mcp")
        self._kept[key] = (now + FRESH, self._crib.resolver, turn)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return turn

    def forget(self, peer: Peer) -> None:
        """Read anew what a client holds: a call may have changed it."""
        self._kept.pop((peer.place.agent, peer.key, peer.user), None)


def caller_of(peer: Peer) -> Caller:
    """Who asks, where no tool is called."""
    return Caller(agent=peer.place.agent, user=peer.user, session=peer.key, channel="mcp")
