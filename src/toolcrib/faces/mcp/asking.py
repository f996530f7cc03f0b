"""Approvals as questions to the client: whoever sits there sees the exact call, and says yes or no.

The request is in the inbox all the same; who answers first is heard. A client that cannot be asked, or whose person
closes the question, leaves it there.
"""

from toolcrib.app import Crib
from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.faces.mcp.exchange import Exchange
from toolcrib.faces.mcp.wire import as_object
from toolcrib.services.approvals.requests import ApprovalRequest, Choice, Lifetime
from toolcrib.services.mcp.downstream import LINK

ONCE, SESSION, NO = "allow once", "allow for this session", "deny"
_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "decision": {"type": "string", "title": "Decision", "enum": [ONCE, SESSION, NO], "default": ONCE},
    },
}


class Bell:
    """Asks the client that made a call."""

    def __init__(self, crib: Crib) -> None:
        self._crib = crib

    def reaches(self) -> bool | None:
        """Whether the client of the call that runs now can be asked."""
        link = LINK.get()
        if not isinstance(link, Exchange):
            return None
        kinds = link.capabilities.get("elicitation")
        return isinstance(kinds, dict) and (not kinds or "form" in kinds)

    async def __call__(self, request: ApprovalRequest) -> None:
        """Ask, and hand the answer to the desk, which checks that this person may give it."""
        link = LINK.get()
        if not isinstance(link, Exchange):
            return
        link.hold()
        try:
            said = await link.ask("elicitation/create", {"message": words(request), "requestedSchema": _SCHEMA})
            choice, lifetime = _choice(said)
            if choice is not None:
                by = link.peer.user or "the person at the client"
                await self._crib.approvals.answer(request.id, choice, by=by, lifetime=lifetime)
        except ToolError:
            return  # the client is gone, or somebody else has answered: the inbox has it


def words(request: ApprovalRequest) -> str:
    """The question: who wants to do what, why it is asked, and what would happen."""
    lines = [f"{request.agent} wants to call {request.tool}."]
    lines += [f"Because: {reason.why}." for reason in request.reasons]
    lines += [f"Would leave: {reason.leaves}" for reason in request.reasons if reason.leaves]
    lines += [f"{name}: {value}" for name, value in request.binding.items()]
    if not request.undoable:
        lines.append("It cannot be undone.")
    return "\n".join([*lines, f"Arguments: {request.arguments}", f"Request {request.id}."])


def _choice(said: JsonObject) -> tuple[Choice | None, Lifetime]:
    """What the person said. Closing the question is no answer."""
    action, decision = said.get("action"), as_object(said.get("content")).get("decision", ONCE)
    if action == "decline" or (action == "accept" and decision == NO):
        return Choice.DENY, Lifetime.ONCE
    if action == "accept" and decision in {ONCE, SESSION}:
        return Choice.ACCEPT, Lifetime.SESSION if decision == SESSION else Lifetime.ONCE
    return None, Lifetime.ONCE
