"""What a session has taken in decides what it may send out.

Private data, untrusted text and a way out are harmless in any pair and dangerous together: the stranger's text can
talk the model into sending the private data. So a tool that can send asks first in a session that has seen both.
A sub-agent's session stains its parents' too, for its result goes back to them.
"""

from collections.abc import Collection, Mapping

from toolcrib.core.guard import Call, Verdict, ask, deny
from toolcrib.core.tool import Flow, Tool

SESSIONS_KEPT = 100_000
_TAKEN_IN = frozenset({Flow.PRIVATE, Flow.UNTRUSTED})


class FlowGuard:
    """Keeps each session's labels, and stands before the tools that send."""

    name = "flow"

    def __init__(
        self, mode: str = "ask", *, agents: Mapping[str, str] | None = None, exempt: Collection[str] = ()
    ) -> None:
        self._mode = mode
        self._agents = dict(agents or {})
        self._exempt = frozenset(exempt)
        self._labels: dict[str, frozenset[Flow]] = {}

    def watches(self, tool: Tool) -> bool:
        return bool(tool.traits.flow)

    def check(self, call: Call) -> Verdict | None:
        flow, caller = call.tool.traits.flow, call.caller
        sessions = (caller.session or f"agent:{caller.agent}", *caller.parents)
        verdict = self._judged(call) if Flow.SENDS in flow and self._seen(sessions) >= _TAKEN_IN else None
        if taken := flow & _TAKEN_IN:
            for session in sessions:
                self._label(session, taken)
        return verdict

    def labels(self, session: str) -> frozenset[Flow]:
        """What a session has taken in so far."""
        return self._labels.get(session, frozenset())

    def _seen(self, sessions: tuple[str, ...]) -> frozenset[Flow]:
        """What a session and its parents have taken in: a sub-agent is told what its parents know."""
        return frozenset[Flow]().union(*(self._labels.get(session, frozenset[Flow]()) for session in sessions))

    def _judged(self, call: Call) -> Verdict | None:
        mode = self._agents.get(call.caller.agent, self._mode)
        if mode == "off" or call.tool.name in self._exempt:
            return None
        why = "it can send data out, and this session has read private data and untrusted text"
        return deny("flow", why) if mode == "deny" else ask("flow", why)

    def _label(self, session: str, taken: frozenset[Flow]) -> None:
        """Label a session. The ones that took nothing in for longest give way; a busy one never does."""
        have = self._labels.get(session)
        if have is not None and have >= taken and len(self._labels) < SESSIONS_KEPT // 2:
            return
        self._labels.pop(session, None)
        if len(self._labels) >= SESSIONS_KEPT:
            del self._labels[next(iter(self._labels))]
        self._labels[session] = (have or frozenset()) | taken
