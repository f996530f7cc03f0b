"""Calls that a server makes for somebody who may not wait for them: begun, asked about, waited for, stopped."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from toolcrib.app.crib import Crib
from toolcrib.core.call import Outcome, Raw
from toolcrib.core.errors import ToolFailed
from toolcrib.services.approvals.requests import ApprovalRequest, State

KEPT = 1000  # ended calls whose outcome can still be asked for
Begin = Callable[[Coroutine[Any, Any, Any]], "asyncio.Future[Any]"]


class Standing:
    """One call: running, waiting for a person, or ended."""

    def __init__(self, call: str, agent: str, tool: str, user: str) -> None:
        self.id = call
        self.agent = agent
        self.tool = tool
        self.user = user
        self.approval = ""  # the request that it waits for
        self.outcome: Outcome | None = None
        self.task: asyncio.Future[Any] | None = None
        self.asked = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.task is not None and self.task.done()

    async def settled(self, seconds: float, *, through: bool = False) -> Outcome | None:
        """Its outcome, if it comes within that time. Unless `through`, waiting for a person ends the wait."""
        if self.task is None or self.outcome is not None:
            return self.outcome
        waits: set[asyncio.Future[Any]] = {self.task}
        asked = None if through or self.approval else asyncio.ensure_future(self.asked.wait())
        if self.approval and not through:
            seconds = min(seconds, 0.0)
        await asyncio.wait(waits | ({asked} if asked else set()), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if asked is not None:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
        return self.outcome


class Calls:
    """The calls of a house that were begun and can be asked about by id."""

    def __init__(self, crib: Crib, begin: Begin) -> None:
        self._crib = crib
        self._begin = begin
        self._known: OrderedDict[str, Standing] = OrderedDict()
        self._prefix = f"h{os.urandom(5).hex()}"
        self._count = count(1)

    async def begin(self, agent: str, tool: str, arguments: Raw, *, key: str = "", **who: Any) -> Standing:
        """Start a call. Raises UnknownAgent."""
        turn = await self._crib.turn(agent, **who)
        standing = Standing(f"{self._prefix}{next(self._count):x}", turn.caller.agent, tool, turn.caller.user)
        self._known[standing.id] = standing
        self._forget()

        async def run() -> None:
            standing.outcome = await turn.call(tool, arguments, id=standing.id, key=key)

        standing.task = self._begin(run())
        return standing

    def _forget(self) -> None:
        """Let go of the oldest that have ended; what waits for a person stays, however long."""
        if len(self._known) > KEPT:
            ended = [one.id for one in self._known.values() if one.ended]
            for call in ended[: len(self._known) - KEPT]:
                del self._known[call]

    def get(self, call: str) -> Standing:
        """The call of that id. Refused with `not_found`."""
        found = self._known.get(call)
        if found is None:
            hint = "The record keeps every call that has ended."
            raise ToolFailed(f"No call {call!r} was begun here lately.", code="not_found", hint=hint)
        return found

    async def stop(self, call: str) -> Standing:
        """Cancel a call that runs or waits."""
        found = self.get(call)
        if found.outcome is None and found.task is not None:
            found.task.cancel()
            await asyncio.wait([found.task])
        return found

    def heard(self, request: ApprovalRequest) -> None:
        """A request changed: the call that waits for it says so."""
        standing = self._known.get(request.call)
        if standing is not None:
            standing.approval = request.id if request.state is State.PENDING else ""
            if standing.approval:
                standing.asked.set()
