"""What a session has taken in decides what it may send out.

Private data, untrusted text and a way out are harmless in any pair and dangerous together: the stranger's text can
talk the model into sending the private data. So a tool that can send asks first in a session that has seen both.
A sub-agent's session stains its parents' too, for its result goes back to them. Labels are kept before the tool runs
that brings them, so neither a crash nor a restart washes a session clean.
"""

from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any, cast

from toolcrib.core.call import Caller
from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.guard import Call, CallNext, Verdict, deny
from toolcrib.core.tool import Flow, Tool
from toolcrib.safety.reach import Domains
from toolcrib.safety.targets import host_of
from toolcrib.safety.urls import BadUrl
from toolcrib.services.config.values import FlowRules
from toolcrib.services.labels import Labels

SESSIONS_KEPT = 100_000
_TAKEN_IN = frozenset({Flow.PRIVATE, Flow.UNTRUSTED})


class FlowGuard:
    """Keeps each session's labels, and stands before the tools that send. It is a guard and a ring."""

    name = "flow"

    def __init__(self, rules: FlowRules | None = None, labels: Labels | None = None) -> None:
        """Raises BadConfig for a destination that means nothing."""
        self._rules = rules or FlowRules()
        self._exempt = frozenset(self._rules.tools)
        self._open = _domains("flow.destinations", self._rules.destinations)
        self._opened = {
            name: _domains(f"flow.agents.{name}.destinations", one.destinations)
            for name, one in self._rules.agents.items()
        }
        self._kept = labels
        self._labels: dict[str, dict[Flow, str]] = {}
        self._new: list[tuple[str, Flow, str]] = []

    def watches(self, tool: Tool) -> bool:
        return bool(tool.traits.flow)

    def check(self, call: Call) -> Verdict | None:
        traits = call.tool.traits
        flow = traits.flow
        sessions = sessions_of(call.caller)
        verdict = None
        sends = Flow.SENDS in flow and (not traits.sends_with or any(map(call.arguments.get, traits.sends_with)))
        if sends and len(seen := self._seen(sessions)) == len(_TAKEN_IN):
            verdict = self._judged(call, seen)
        for session in sessions:
            if len(self._labels.get(session, ())) < len(_TAKEN_IN):  # else it holds whatever this could bring
                for label in flow & _TAKEN_IN:
                    self._label(session, label, call.tool.name)
        return verdict

    def __call__(self, call: Call, call_next: CallNext) -> Coroutine[Any, Any, Any]:
        """Keep what is new before the body takes it in; most calls bring nothing new, and pay for no coroutine here."""
        if not self._new:
            return cast("Coroutine[Any, Any, Any]", call_next(call))
        return self._after_keeping(call, call_next)

    async def _after_keeping(self, call: Call, call_next: CallNext) -> Any:  # noqa: ANN401 - whatever the body gives
        while self._new and self._kept is not None:
            session, label, tool = self._new[-1]
            await self._kept.add(session, label, tool)
            if (session, label, tool) in self._new:
                self._new.remove((session, label, tool))
        return await call_next(call)

    async def recall(self, caller: Caller) -> None:
        """Take up what another process, or this one before a restart, kept of a caller's sessions."""
        if self._kept is None:
            return
        sessions = sessions_of(caller)
        for session in sessions:
            if len(self._labels.get(session, ())) < len(_TAKEN_IN):  # else it holds whatever could be recalled
                break
        else:
            return
        for session, labels in (await self._kept.of(sessions)).items():
            self._mine(session).update(labels)

    def labels(self, session: str) -> frozenset[Flow]:
        """What a session has taken in so far."""
        return frozenset(self._labels.get(session, ()))

    def _seen(self, sessions: Sequence[str]) -> Mapping[Flow, str]:
        """What a session and its parents have taken in: a sub-agent is told what its parents know."""
        if len(sessions) == 1:
            return self._labels.get(sessions[0], {})
        seen: dict[Flow, str] = {}
        for session in sessions:
            seen |= self._labels.get(session, {})
        return seen

    def _judged(self, call: Call, seen: Mapping[Flow, str]) -> Verdict | None:
        agent = self._rules.agents.get(call.caller.agent)
        mode = (agent.mode if agent else "") or self._rules.mode
        if mode == "off" or call.tool.name in self._exempt:
            return None
        host = host_of(call)
        if host and (host in self._open or host in self._opened.get(call.caller.agent, ())):
            return None
        where = f"to {host}" if host else "out"
        why = (
            f"it can send data {where}, and this session has read private data "
            f"({seen[Flow.PRIVATE]}) and untrusted text ({seen[Flow.UNTRUSTED]})"
        )
        # What differs from call to call stands apart, so that a person's yes to the reason can last.
        leaves = f"{len(call.raw):,} bytes of arguments {where}"
        return deny("flow", why) if mode == "deny" else Verdict("ask", "flow", why, leaves=leaves)

    def _label(self, session: str, label: Flow, tool: str) -> None:
        mine = self._mine(session)
        if label not in mine:
            mine[label] = tool
            if self._kept is not None:
                self._new.append((session, label, tool))

    def _mine(self, session: str) -> dict[Flow, str]:
        """A session's labels. Beyond the bound the one that came first gives way; what was kept is recalled."""
        mine = self._labels.get(session)
        if mine is None:
            if len(self._labels) >= SESSIONS_KEPT:
                del self._labels[next(iter(self._labels))]
            mine = self._labels[session] = {}
        return mine


def sessions_of(caller: Caller) -> tuple[str, ...]:
    """The sessions that a call stains. Without a session the agent itself is the one."""
    return (caller.session or f"agent:{caller.agent}", *caller.parents)


def _domains(where: str, entries: Collection[str]) -> Domains:
    for entry in entries:
        try:
            Domains((entry,))
        except BadUrl as error:
            problem = Problem(where, f"{entry!r} is no host: {error}.", "Write example.com, or *.example.com.")
            raise BadConfig([problem]) from None
    return Domains(tuple(entries))
