"""Inside a team, daily operations run together up to a number, and an org operation runs alone.

An org operation stops new admissions, waits until the running ones have drained, runs, and opens the gate again.
Nothing is aborted midway. A second org operation waits for the first.
"""

from collections import deque
from typing import Any

from toolcrib.core.guard import Call, CallNext
from toolcrib.core.heavy import heavy
from toolcrib.core.tool import Lane, Tool

AT_ONCE = 5


class _Gate:
    """One team's gate. Whoever leaves lets in whoever may come next, in order of arrival."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self.daily = 0
        self.org = False
        self.admitted = 0  # let in, and not yet woken: nobody who comes now may begin before them
        self.waiting: deque[tuple[Lane, Any]] = deque()

    @property
    def idle(self) -> bool:
        return not (self.daily or self.org or self.waiting)

    def fits(self, lane: Lane) -> bool:
        if self.org:
            return False
        return self.daily == 0 if lane is Lane.ORG else self.daily < self._at_once

    def enter(self, lane: Lane) -> None:
        if lane is Lane.ORG:
            self.org = True
        else:
            self.daily += 1

    def leave(self, lane: Lane) -> None:
        if lane is Lane.ORG:
            self.org = False
        else:
            self.daily -= 1
        self.admit()

    def admit(self) -> None:
        """Let in from the front of the line: an org operation there holds back all that came after it."""
        while self.waiting:
            lane, ticket = self.waiting[0]
            if ticket.cancelled():
                self.waiting.popleft()
                continue
            if not self.fits(lane):
                return
            self.waiting.popleft()
            self.enter(lane)
            self.admitted += 1
            ticket.set_result(None)


class Lanes:
    """The ring around every tool that is called inside a team."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._gates: dict[str, _Gate] = {}

    def watches(self, tool: Tool) -> bool:
        del tool
        return True

    async def __call__(self, call: Call, call_next: CallNext) -> Any:  # noqa: ANN401 - whatever the body gives
        team, lane = call.caller.team, call.tool.traits.lane
        gate = self._gates.setdefault(team, _Gate(self._at_once))
        try:
            await _through(gate, lane)
            try:
                return await call_next(call)
            finally:
                gate.leave(lane)
        finally:
            # Whoever was stopped while it waited may come here when the team has another gate already.
            if gate.idle and self._gates.get(team) is gate:
                del self._gates[team]

    def state(self, team: str) -> dict[str, object]:
        """How busy a team is."""
        gate = self._gates.get(team) or _Gate(self._at_once)
        waits = [lane for lane, _ in gate.waiting]
        return {
            "active_daily_ops": gate.daily,
            "saturation": gate.daily >= self._at_once,
            "org_op_pending": gate.org or Lane.ORG in waits,
            "waiting": len(waits),
        }


async def _through(gate: _Gate, lane: Lane) -> None:
    if not gate.waiting and not gate.admitted and gate.fits(lane):
        gate.enter(lane)
        return
    ticket = heavy("asyncio").get_running_loop().create_future()
    gate.waiting.append((lane, ticket))
    try:
        await ticket
        gate.admitted -= 1
        gate.admit()
    except BaseException:
        if ticket.done() and not ticket.cancelled():
            gate.admitted -= 1
            gate.leave(lane)  # it was let in at the moment it was stopped
        else:
            ticket.cancel()
            gate.admit()
        raise
