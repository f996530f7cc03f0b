"""No more calls in an hour than a session may make, or a tool may take. Exact: the last hour, not the last full one.

A sub-agent counts on its own session and on those of its parents, so spawning buys nobody more calls. A call counts
before it runs, also when it then fails.
"""

import math
from collections import deque
from collections.abc import Mapping

from toolcrib.core.errors import RateLimited
from toolcrib.core.guard import Call, Verdict
from toolcrib.core.tool import Tool

WINDOW = 3600.0
KEYS_KEPT = 10_000


class Rate:
    """Counts calls by session and by tool. A limit of 0 is no limit."""

    name = "rate"

    def __init__(
        self,
        per_session: int = 0,
        *,
        agents: Mapping[str, int] | None = None,
        tools: Mapping[str, int] | None = None,
        window: float = WINDOW,
    ) -> None:
        self._per_session = per_session
        self._agents = dict(agents or {})
        self._tools = dict(tools or {})
        self._window = window
        self._calls: dict[tuple[str, str], deque[float]] = {}

    def watches(self, tool: Tool) -> bool:
        return bool(self._per_session or any(self._agents.values()) or self._tools.get(tool.name))

    def check(self, call: Call) -> Verdict | None:
        caller = call.caller
        counted: list[deque[float]] = []
        limit = self._agents.get(caller.agent, self._per_session)
        if limit:
            # Without a session the agent itself is counted: no key must not mean no limit.
            counted.append(
                self._within(call, ("session", caller.session) if caller.session else ("agent", caller.agent), limit)
            )
            counted += [self._within(call, ("session", parent), limit) for parent in caller.parents]
        if limit := self._tools.get(call.tool.name, 0):
            counted.append(self._within(call, ("tool", call.tool.name), limit))
        for calls in counted:  # only a call that every limit lets through counts
            calls.append(call.now)
        return None

    def _within(self, call: Call, key: tuple[str, str], limit: int) -> deque[float]:
        """The calls that count under a key, if one more fits."""
        calls = self._calls.get(key)
        if calls is None:
            if len(self._calls) >= KEYS_KEPT:
                self._forget(call.now)
            calls = self._calls[key] = deque()
        while calls and calls[0] + self._window <= call.now:
            calls.popleft()
        if len(calls) >= limit:
            retry = max(1, math.ceil(calls[len(calls) - limit] + self._window - call.now))
            raise RateLimited(
                f"{call.tool.name} was not called: {limit} calls in {_span(self._window)} is the limit here.",
                hint=f"Wait {retry} seconds, or finish with what you have.",
                data={"retry_after": retry},
            )
        return calls

    def _forget(self, now: float) -> None:
        """Drop the keys whose calls are all too old to count; if that is not enough, the oldest half."""
        idle = [key for key, calls in self._calls.items() if not calls or calls[-1] + self._window <= now]
        for key in idle or list(self._calls)[: KEYS_KEPT // 2]:
            del self._calls[key]


def _span(seconds: float) -> str:
    return "an hour" if seconds == WINDOW else f"{seconds:g} seconds"
