"""Asking a person about one call, so that it holds over a restart: the request, the answer, and what lasts of it.

    pending ──answer──► answered ──the call runs (or is told)──► used          pending ──nobody answers──► expired

A request is bound to a mark: tool, exact arguments, working directory, and what the guards bound it to. A call with
another mark is another request. Of several callers at the same moment one gets the answer.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.core.guard import Call, Verdict
from toolcrib.services.patterns import fits_closely
from toolcrib.services.record.journal import fingerprint

DAYS_KEPT = 90
HIDDEN = "[REDACTED:"
CLIENTS = "mcp"  # the channel of the gateway, whose sessions last as long as a client likes
Patterns = dict[str, str]


class State(StrEnum):
    """How far a request has come."""

    PENDING = "pending"
    ANSWERED = "answered"  # and the call has not come back for it yet
    USED = "used"
    EXPIRED = "expired"


class Choice(StrEnum):
    """What a person may say."""

    ACCEPT = "accept"
    EDIT = "edit"  # run it with these arguments instead
    RESPOND = "respond"  # do not run it; tell the agent this
    IGNORE = "ignore"  # do not run it, and say nothing of it
    DENY = "deny"


class Lifetime(StrEnum):
    """How long a yes holds."""

    ONCE = "once"
    SESSION = "session"  # as long as the session that asked
    UNTIL = "until"  # in any session, until a time
    ALWAYS = "always"


class Answer(Struct, frozen=True, kw_only=True):
    """A person's answer. `where` are the patterns of what lasts; None takes the arguments as they were asked."""

    choice: Choice
    lifetime: Lifetime = Lifetime.ONCE
    until: float | None = None
    arguments: Mapping[str, Any] | None = None
    text: str = ""
    where: Mapping[str, str] | None = None


class Reason(Struct, frozen=True):
    """Why a person is asked: a guard's verdict, as it is kept."""

    rule: str
    why: str  # scrubbed, as is `leaves`
    mark: str  # of rule and why before they were scrubbed
    hint: str = ""
    span: tuple[int, int] | None = None
    leaves: str = ""


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """What a person is asked, and what was answered. What may be secret in it is scrubbed; the mark is of the whole."""

    id: str
    mark: str
    call: str
    agent: str
    session: str
    channel: str = ""
    user: str
    tool: str
    arguments: str  # JSON
    workspace: str
    binding: Mapping[str, str]
    reasons: tuple[Reason, ...]
    undoable: bool
    patterns: Patterns | None  # what only these arguments fit; None: no pattern can stand for them
    code: bool  # commands or programs: what lasts is about this very call, or a rule in `patterns`
    asked: float
    expires: float
    state: State = State.PENDING
    choice: str = ""
    lifetime: Lifetime = Lifetime.ONCE
    text: str = ""
    edited: str = ""  # JSON
    by: str = ""
    answered: float | None = None
    rule: str = ""  # the standing rule that came of it

    def at(self, now: float) -> "ApprovalRequest":
        """As it is at a moment: what nobody answered in time has expired, and so has an answer nobody came for."""
        stale = self.state is State.ANSWERED and now >= (self.answered or 0) + (self.expires - self.asked)
        late = self.state is State.PENDING and now >= self.expires
        return replace(self, state=State.EXPIRED) if stale or late else self


class StandingRule(Struct, frozen=True, kw_only=True):
    """Calls that a person has agreed to beforehand: of one agent and tool, by patterns or by mark."""

    id: str
    agent: str
    tool: str
    where: Patterns
    exact: str  # the mark of the one call it is about; "" goes by the patterns
    reasons: tuple[str, ...]  # the marks of what it answers; it answers nothing else
    session: str  # "" holds in every session
    until: float | None
    request: str
    by: str
    made: float

    def holds(self, call: Call, asks: Sequence[Verdict], now: float) -> bool:
        """Whether it is about this agent, tool, session and time, and these reasons to ask."""
        if call.tool.name != self.tool or call.caller.agent != self.agent:
            return False
        if (self.session and self.session != call.caller.session) or (self.until is not None and now >= self.until):
            return False
        return set(map(reason_of, asks)) <= set(self.reasons)

    def lets(self, call: Call, asks: Sequence[Verdict], mark: str, now: float) -> bool:
        """Whether it answers everything that is asked about this call."""
        if not self.holds(call, asks, now) or (call.tool.traits.runs_code and not self.exact):
            return False
        return mark == self.exact if self.exact else fits_closely(self.where, call)


class Approvals(Protocol):
    """Keeps requests and standing rules."""

    async def ask(self, request: ApprovalRequest) -> ApprovalRequest:
        """Put up a request, or give back the one that waits already for the same agent, session and mark."""
        ...

    async def get(self, request: str) -> ApprovalRequest | None:
        """The request with that id."""
        ...

    async def requests(
        self, *, agent: str | None = None, state: State | None = None, limit: int = 100
    ) -> tuple[ApprovalRequest, ...]:
        """Requests, newest first."""
        ...

    async def settled(self, requests: Sequence[str]) -> tuple[ApprovalRequest, ...]:
        """Those of these that wait no longer."""
        ...

    async def answer(self, request: str, answer: Answer, *, by: str) -> ApprovalRequest:
        """Answer a request, exactly once. Refused as `answered` below says, or with `approval_not_found`."""
        ...

    async def expire(self, request: str) -> None:
        """Close a request that nobody answered in time."""
        ...

    async def take(self, agent: str, session: str, mark: str) -> ApprovalRequest | None:
        """The newest answer that waits for this very call; taken, it is used up."""
        ...

    async def use(self, request: str) -> bool:
        """Use an answer up. Of several callers one is told True."""
        ...

    async def rules(self, *, agent: str | None = None, tool: str | None = None) -> tuple[StandingRule, ...]:
        """Standing rules, newest first, those whose time is over included."""
        ...

    async def change_rule(self, rule: str, where: Mapping[str, str], *, by: str) -> StandingRule:
        """Give a rule other patterns. Refused with `rule_not_found` or `rule_is_exact`."""
        ...

    async def delete_rule(self, rule: str) -> StandingRule:
        """Take a rule away. Refused with `rule_not_found`."""
        ...


def mark_of(call: Call, asks: Sequence[Verdict]) -> str:
    """What a yes is bound to. Two calls with one mark do the same thing in the same place."""
    bound = sorted({item for ask in asks for item in ask.binding.items()})
    parts = (call.tool.name, fingerprint(call.raw), call.caller.workspace, bound)
    return sha256(msgspec.json.encode(parts)).hexdigest()


def reason_of(ask: Verdict) -> str:
    """The mark of why a person is asked. If the rule or its reason changes, the person is asked again."""
    return sha256(msgspec.json.encode((ask.rule, ask.why))).hexdigest()[:20]


def settling(rules: Sequence[StandingRule], call: Call, asks: Sequence[Verdict], now: float) -> StandingRule | None:
    """The newest of the rules about commands that answer this call together: each part of a command needs one."""
    open_, others = [ask for ask in asks if ask.settled], [ask for ask in asks if not ask.settled]
    kept = [rule for rule in rules if not rule.exact and rule.holds(call, others, now)]
    wheres = [rule.where for rule in kept]
    answered = open_ and kept and all(ask.settled is not None and ask.settled(wheres) for ask in open_)
    return kept[0] if answered else None


async def elsewhere(
    approvals: Approvals, call: Call, asks: Sequence[Verdict], mark: str, state: State
) -> ApprovalRequest | None:
    """What was asked about this very call, for the same person, in another session of a client.

    Some clients make a session for each call: there the same call never comes from the same session again.
    """
    caller = call.caller
    if caller.channel != CLIENTS:
        return None
    for known in await approvals.requests(agent=caller.agent, state=state, limit=1000):
        same = (known.mark, known.user, known.channel) == (mark, caller.user, CLIENTS)
        if same and known.lifetime is Lifetime.ONCE and covers(known, asks):
            return known
    return None


def covers(request: ApprovalRequest, asks: Sequence[Verdict]) -> bool:
    """Whether what is asked now was all asked then."""
    return set(map(reason_of, asks)) <= {one.mark for one in request.reasons}


def answered(request: ApprovalRequest, answer: Answer, *, by: str, now: float) -> ApprovalRequest:
    """The request with its answer, or the refusal of an answer that does not fit it."""
    known = request.at(now)
    if known.state is State.EXPIRED:
        raise _refused(
            "The request has expired: nobody answered in time.", "approval_expired", "The agent may ask anew."
        )
    if known.state is not State.PENDING:
        said = f"{request.choice or 'answered'} by {request.by or 'somebody'}"
        raise _refused(f"The request was answered already: {said}.", "approval_answered_already", "An answer stands.")
    _check_parts(answer)
    _check_lifetime(request, answer, now)
    edited = "" if answer.arguments is None else _edited(request, answer.arguments)
    return replace(
        request,
        state=State.ANSWERED,
        choice=answer.choice.value,
        lifetime=answer.lifetime,
        text=answer.text,
        edited=edited,
        by=by,
        answered=now,
    )


def rule_from(request: ApprovalRequest, answer: Answer, *, id: str) -> StandingRule | None:  # noqa: A002 - as elsewhere
    """The standing rule that an answer makes, if it lasts."""
    if answer.lifetime is Lifetime.ONCE:
        return None
    where = dict(answer.where if answer.where is not None else request.patterns or {})
    by_mark = request.patterns is None and answer.where is None
    if request.code and answer.lifetime is not Lifetime.ALWAYS and answer.where is None:
        by_mark = True  # for a session or a time a yes to a command is about this very command
    return StandingRule(
        id=id,
        agent=request.agent,
        tool=request.tool,
        where={} if by_mark else where,
        exact=request.mark if by_mark else "",
        reasons=tuple(one.mark for one in request.reasons),
        session=request.session if answer.lifetime is Lifetime.SESSION else "",
        until=answer.until,
        request=request.id,
        by=request.by,
        made=request.answered or 0.0,
    )


def merged(call: Call, request: ApprovalRequest) -> bytes:
    """The arguments to run: the edited ones, with what the person saw scrubbed and left alone as it was."""
    shown, edited = _object(request.arguments), _object(request.edited)
    same = {name: call.arguments[name] for name in edited if name in call.arguments and edited[name] == shown.get(name)}
    return msgspec.json.encode({**edited, **same})


def with_patterns(rule: StandingRule, where: Mapping[str, str], *, by: str) -> StandingRule:
    """A rule with other patterns."""
    if rule.exact:
        raise _refused("This rule is about one exact call; it has no patterns.", "rule_is_exact", "Delete it instead.")
    return replace(rule, where=dict(where), by=by)


def no_request(request: str) -> ToolFailed:
    """The refusal of an id that no request has."""
    return _refused(
        f"There is no approval request {request!r}.", "approval_not_found", "`toolcrib approvals` lists them."
    )


def no_rule(rule: str) -> ToolFailed:
    """The refusal of an id that no rule has."""
    return _refused(f"There is no rule {rule!r}.", "rule_not_found", "`toolcrib approvals rules` lists them.")


def _refused(what: str, code: str, hint: str = "") -> ToolFailed:
    return ToolFailed(what, code=code, hint=hint)


def _check_parts(answer: Answer) -> None:
    """Each choice has its own parts."""
    choice = answer.choice
    if (answer.arguments is not None) != (choice is Choice.EDIT):
        raise _refused("New arguments and the answer 'edit' go together.", "bad_answer")
    if choice is Choice.RESPOND and not answer.text.strip():
        raise _refused("To respond is to say something to the agent, and there is no text.", "bad_answer")
    if choice is not Choice.ACCEPT and (answer.lifetime is not Lifetime.ONCE or answer.where is not None):
        raise _refused("Only 'accept' can hold for longer than once.", "bad_lifetime")


def _check_lifetime(request: ApprovalRequest, answer: Answer, now: float) -> None:
    lifetime = answer.lifetime
    if lifetime is Lifetime.ALWAYS and request.code and request.patterns is None:
        why = f"{request.tool} runs commands or programs: no pattern can stand for them"
        raise _refused(f"{why}.", "always_not_allowed", "Accept it once, for the session or for a time.")
    if lifetime is Lifetime.ALWAYS and request.patterns is None and answer.where is None:
        raise _refused(
            "These arguments are secret or too long, so no pattern can be made of them.",
            "always_not_allowed",
            "Give patterns of your own (--where path='src/*'), or accept it once.",
        )
    if answer.where is not None and request.code and request.patterns is None:
        raise _refused("Patterns cannot stand for commands or programs.", "bad_pattern", "Leave them out.")
    if lifetime is Lifetime.ONCE and answer.where is not None:
        raise _refused("Patterns are for what lasts: a session, a time or always.", "bad_lifetime")
    if (lifetime is Lifetime.UNTIL) != (answer.until is not None) or (answer.until or now + 1) <= now:
        raise _refused("'until' takes a time that is still to come, and only 'until' does.", "bad_lifetime")
    if lifetime is Lifetime.SESSION and not request.session:
        raise _refused("The call came without a session, so this would never hold again.", "bad_lifetime")


def _edited(request: ApprovalRequest, arguments: Mapping[str, Any]) -> str:
    shown = _object(request.arguments)
    for name, value in arguments.items():
        text = msgspec.json.encode(value).decode()
        if HIDDEN in text and value != shown.get(name):
            raise _refused(
                f"The argument {name!r} holds a value that is hidden here, so it can only stay as it is or be replaced.",
                "hidden_value",
            )
    return msgspec.json.encode(dict(arguments)).decode()


def _object(text: str) -> dict[str, Any]:
    found = msgspec.json.decode(text)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
