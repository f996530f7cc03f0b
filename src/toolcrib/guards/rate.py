"""No more calls in an hour than a session or an agent may make, or a tool or a host may take.

Exact: the last hour, not the last full one.

A sub-agent counts on its own session and on those of its parents, so spawning buys nobody more calls. A call counts
before it runs, also when it then fails.
"""

import math
from collections import deque
from collections.abc import Mapping

from toolcrib.core.errors import RateLimited
from toolcrib.core.guard import Call, Verdict
from toolcrib.core.tool import Tool
from toolcrib.safety.targets import host_of
from toolcrib.services.config.values import Limits

WINDOW = 3600.0
KEYS_KEPT = 10_000
_WHOSE = {
    "session": "is the limit of a session",
    "alone": "is the limit of calls without a session",
    "agent": "is the limit of {}",
    "tool": "is its limit",
    "host": "is the limit for {}",
}


class Rate:
    """Counts calls by session, agent, tool and host. A limit of 0 is no limit."""

    name = "rate"
    counts = True  # a call that waited for a person is not counted a second time

    def __init__(
        self, limits: Limits | None = None, *, sessions: Mapping[str, int] | None = None, window: float = WINDOW
    ) -> None:
        """`sessions` are limits a session that hold for single agents, instead of the one for all."""
        self._limits = limits or Limits()
        self._sessions: Mapping[str, int] = sessions if sessions is not None else {}  # not copied: limits change
        self._window = window
        self._calls: dict[tuple[str, str], deque[float]] = {}

    def watches(self, tool: Tool) -> bool:
        limits = self._limits
        by_host = tool.traits.target and any(limits.hosts.values())
        by_whom = limits.rate or any(limits.agents.values()) or any(self._sessions.values())
        return bool(by_whom or by_host or limits.tools.get(tool.name))

    def check(self, call: Call) -> Verdict | None:
        counted = [self._within(call, key, limit) for key, limit in self._keys(call)]
        for calls in counted:  # only a call that every limit lets through counts
            calls.append(call.now)
        return None

    def _keys(self, call: Call) -> list[tuple[tuple[str, str], int]]:
        """What a call counts on, and how much each may bear; what has no limit is left out."""
        caller, limits = call.caller, self._limits
        keys: list[tuple[tuple[str, str], int]] = []
        if limit := self._sessions.get(caller.agent, limits.rate):
            # Without a session the agent itself is counted: no key must not mean no limit.
            keys.append((("session", caller.session) if caller.session else ("alone", caller.agent), limit))
            keys += [(("session", parent), limit) for parent in caller.parents] if caller.parents else ()
        if limits.agents and (limit := limits.agents.get(caller.agent)):
            keys.append((("agent", caller.agent), limit))
        if limits.tools and (limit := limits.tools.get(call.tool.name)):
            keys.append((("tool", call.tool.name), limit))
        if limits.hosts and (host := host_of(call)) and (limit := limits.hosts.get(host, limits.hosts.get("*", 0))):
            keys.append((("host", host), limit))
        return keys

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
                f"{call.tool.name} was not called: {limit} calls in {_span(self._window)} {_WHOSE[key[0]].format(key[1])}.",
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
