"""The order of calls that a framework starts all at once.

Parallel tools go together, every other one alone, first come first served: what `core.batch` does for a whole step.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from toolcrib.app import Crib, Turn
from toolcrib.core.batch import AT_ONCE
from toolcrib.core.errors import CribError

_Ticket = tuple[bool, "asyncio.Future[None]"]


async def begin(crib: Crib | Turn, agent: str, who: dict[str, Any]) -> tuple[Turn, int]:
    """A request of the agent, or the one that was begun already; and how many of its calls may run together."""
    if isinstance(crib, Turn):
        if agent or who:
            raise CribError("A request that was begun has its caller already. Give a crib, or leave the agent out.")
        return crib, AT_ONCE
    return await crib.turn(agent, **who), crib.config.limits.at_once


class Order:
    """A line at the counter. Nothing of it belongs to an event loop while nobody waits."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._together = 0
        self._alone = False
        self._waiting: deque[_Ticket] = deque()

    @asynccontextmanager
    async def place(self, *, parallel: bool) -> AsyncGenerator[None]:
        """Wait for one's turn, and give it up at the end."""
        await self._enter(parallel=parallel)
        try:
            yield
        finally:
            self._leave(parallel=parallel)

    async def _enter(self, *, parallel: bool) -> None:
        if not self._waiting and self._free(parallel=parallel):
            self._take(parallel=parallel)
            return
        ticket = asyncio.get_running_loop().create_future()
        self._waiting.append((parallel, ticket))
        let_in = False
        try:
            await ticket
            let_in = True
        finally:
            if not let_in:
                self._stopped(ticket, parallel=parallel)

    def _stopped(self, ticket: "asyncio.Future[None]", *, parallel: bool) -> None:
        """Whoever waited is gone; its turn may have come at that very moment."""
        if ticket.done() and not ticket.cancelled():
            self._leave(parallel=parallel)
        else:
            ticket.cancel()
            self._admit()

    def _free(self, *, parallel: bool) -> bool:
        return not self._alone and self._together < (self._at_once if parallel else 1)

    def _take(self, *, parallel: bool) -> None:
        if parallel:
            self._together += 1
        else:
            self._alone = True

    def _leave(self, *, parallel: bool) -> None:
        if parallel:
            self._together -= 1
        else:
            self._alone = False
        self._admit()

    def _admit(self) -> None:
        while self._waiting:
            parallel, ticket = self._waiting[0]
            if ticket.cancelled():
                self._waiting.popleft()
            elif self._free(parallel=parallel):
                self._waiting.popleft()
                self._take(parallel=parallel)
                ticket.set_result(None)
            else:
                return
