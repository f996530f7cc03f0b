"""Who is asked when a guard asks, and how the answer comes back to the call.

    standing rule ► an answer that waits for this very call ► whoever sits there (a callback) ► a durable request

A durable request either refuses the call, naming itself, or the call waits for the answer. Answers given in this
process arrive at once; those of other processes are looked for, at most four times a second for all calls together.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import Any, Protocol

import msgspec

from toolcrib.core.errors import NeedsApproval, ToolError, ToolFailed
from toolcrib.core.guard import Approval, Approver, Call, Verdict
from toolcrib.core.heavy import heavy
from toolcrib.core.resolver import Resolver
from toolcrib.services.approvals.requests import (
    Answer,
    ApprovalRequest,
    Approvals,
    Choice,
    Lifetime,
    Reason,
    StandingRule,
    State,
    covers,
    elsewhere,
    mark_of,
    merged,
    no_request,
    reason_of,
    settling,
)
from toolcrib.services.config.values import ApprovalRules
from toolcrib.services.patterns import patterns_of
from toolcrib.services.record.audit import Scrub

LOOKS = 0.25  # seconds between two looks at the store
SLOWEST = 2.0
LONGEST_PATTERNS = 16_384
REQUESTER = "requester"
Still = Callable[[Call], Awaitable[ToolError | None]]


class Watch:
    """The calls of this process that wait for an answer."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals
        self._waiting: dict[str, list[Any]] = {}
        self._looked = 0.0

    async def answered(self, request: ApprovalRequest) -> bool:
        """Wait until a request is answered. False: nobody did in time."""
        asyncio = heavy("asyncio")
        told = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(request.id, []).append(told)
        pause = LOOKS
        try:
            while not told.done() and (left := request.expires - time.time()) > 0:
                await asyncio.wait([told], timeout=min(pause, left))
                if not told.done():
                    await self._look()
                pause = min(pause * 1.05, SLOWEST)
            return told.done()
        finally:
            self._waiting[request.id].remove(told)
            if not self._waiting[request.id]:
                del self._waiting[request.id]

    def tell(self, request: str) -> None:
        """Wake the calls that wait for a request: it was answered."""
        for told in self._waiting.get(request, ()):
            told.get_loop().call_soon_threadsafe(_done, told)

    async def _look(self) -> None:
        """One look for all that wait. A store that cannot be read now may be read later."""
        now = time.monotonic()
        if now - self._looked < LOOKS:
            return
        self._looked = now
        with suppress(ToolError):
            for request in await self._approvals.settled(tuple(self._waiting)):
                self.tell(request.id)
        await heavy("asyncio").sleep(0)  # what was told arrives with the next round of the loop


class Bell(Protocol):
    """Brings a request before whoever sits at the other end of the call that runs now."""

    def reaches(self) -> bool | None:
        """Whether anybody can be asked there. None: the call has no such other end, and is not this bell's."""
        ...

    async def __call__(self, request: ApprovalRequest) -> None:
        """Ask. An answer goes to the desk; without one the request stays where it is."""
        ...


class Gate:
    """The approver of a crib."""

    def __init__(
        self,
        approvals: Approvals,
        watch: Watch,
        rules: ApprovalRules,
        *,
        scrub: Scrub,
        still: Still,
        ask: Approver | None = None,
        bell: Callable[[], Bell | None] = lambda: None,
    ) -> None:
        self._bell = bell
        self._approvals = approvals
        self._watch = watch
        self._rules = rules
        self._scrub = scrub
        self._still = still
        self._ask = ask

    async def __call__(self, call: Call, asked: Sequence[Verdict]) -> Approval | None:
        mark, caller = mark_of(call, asked), call.caller
        rules = await self._approvals.rules(agent=caller.agent, tool=call.tool.name)
        now = time.time()
        standing = next((rule for rule in rules if rule.lets(call, asked, mark, now)), None)
        if (rule := standing or settling(rules, call, asked, now)) is not None:
            return Approval(allowed=True, id=rule.id, by=rule.by)
        given = await self._approvals.take(caller.agent, caller.session, mark)
        if given is None and (known := await elsewhere(self._approvals, call, asked, mark, State.ANSWERED)) is not None:
            given = await self._approvals.take(caller.agent, known.session, mark)
        if given is not None and covers(given, asked):
            return _approval(call, given)
        if self._ask is not None and (answer := await self._ask(call, asked)) is not None:
            return answer
        if REQUESTER in self._rules.by and len(self._rules.by) == 1 and not caller.user:
            raise NeedsApproval(
                f"{call.tool.name} was not called: only the person who asks may agree to it, and no person asks here.",
                hint="Do it another way.",
            )
        bell = self._bell()
        reaches = bell.reaches() if bell is not None else None
        known = None if reaches else await elsewhere(self._approvals, call, asked, mark, State.PENDING)
        request = known or await self._approvals.ask(self._request(call, asked, mark))
        if bell is not None and reaches:
            return await self._rung(bell, request, call)
        # Whoever cannot be asked at the other end is not kept waiting there either.
        waits = self._rules.mode == "wait" and reaches is None
        return await self._wait(request, call) if waits else _pending(request)

    async def _rung(self, bell: Bell, request: ApprovalRequest, call: Call) -> Approval:
        """Whoever is first: the one who is asked right there, or somebody at the inbox."""
        asyncio = heavy("asyncio")
        tasks = [asyncio.ensure_future(one) for one in (bell(request), self._watch.answered(request))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        known = await self._approvals.get(request.id)
        if known is None or known.at(time.time()).state is State.PENDING:
            return _pending(request)
        return await self._answered(request, call)

    async def _wait(self, request: ApprovalRequest, call: Call) -> Approval:
        if not await self._watch.answered(request):
            await self._approvals.expire(request.id)
        return await self._answered(request, call)

    async def _answered(self, request: ApprovalRequest, call: Call) -> Approval:
        known = await self._approvals.get(request.id)
        if known is None or known.state in {State.PENDING, State.EXPIRED}:
            why = f"nobody answered within {_span(request.expires - request.asked)}"
            return Approval(allowed=False, id=request.id, why=why, instead="expired")
        # A yes for once is for one call: another one that waits for the same has to ask again.
        if known.lifetime is Lifetime.ONCE and not await self._approvals.use(known.id):
            why = "the answer was for one call, and another one used it"
            return Approval(allowed=False, id=known.id, by=known.by, why=why)
        if known.choice in {Choice.ACCEPT, Choice.EDIT} and (refusal := await self._still(call)) is not None:
            raise refusal
        return _approval(call, known, waited=True)

    def _request(self, call: Call, asked: Sequence[Verdict], mark: str) -> ApprovalRequest:
        caller, now, code = call.caller, time.time(), call.tool.traits.runs_code
        exact = code or any(one.binding for one in asked)
        seconds = self._rules.code_seconds if code else self._rules.seconds
        shown = self._shown(call)
        return ApprovalRequest(
            id=token_hex(6),
            mark=mark,
            call=call.id,
            agent=caller.agent,
            session=caller.session,
            channel=caller.channel,
            user=caller.user,
            tool=call.tool.name,
            arguments=shown,
            workspace=caller.workspace,
            binding={name: self._scrub(value) for one in asked for name, value in one.binding.items()},
            reasons=tuple(self._reason(one) for one in asked),
            undoable=call.tool.traits.undoable,
            patterns=self._rule(asked) if exact else self._patterns(call),
            code=exact,
            asked=now,
            expires=now + seconds,
        )

    def _shown(self, call: Call) -> str:
        """The arguments as a person may see them. What cannot be shown cannot be agreed to."""
        shown = self._scrub(call.raw.decode("utf-8", "replace"))
        try:
            msgspec.json.decode(shown)
        except ValueError:  # a secret that spans the notation itself: scrub each text of it
            shown = msgspec.json.encode(_scrubbed(call.arguments, self._scrub)).decode()
        return shown

    def _rule(self, asked: Sequence[Verdict]) -> dict[str, str] | None:
        """The rule that a yes for always would make of a command. What is secret makes none."""
        offered = [one.always for one in asked if one.settled]
        if len(offered) != 1 or offered[0] is None:
            return None
        return self._plain(dict(offered[0]))

    def _patterns(self, call: Call) -> dict[str, str] | None:
        return self._plain(patterns_of(call))

    def _plain(self, patterns: dict[str, str]) -> dict[str, str] | None:
        whole = "\n".join(patterns.values())
        return None if len(whole) > LONGEST_PATTERNS or self._scrub(whole) != whole else patterns

    def _reason(self, verdict: Verdict) -> Reason:
        why, leaves = self._scrub(verdict.why), self._scrub(verdict.leaves)
        return Reason(verdict.rule, why, reason_of(verdict), verdict.hint, verdict.span, leaves)


class Desk:
    """Where people answer: the library's `crib.approvals`, and the command line."""

    def __init__(
        self,
        approvals: Approvals,
        watch: Watch,
        rules: ApprovalRules,
        current: Callable[[], Resolver],
        *,
        wrong: Callable[[Mapping[str, str]], str] = lambda _: "",
    ) -> None:
        """`wrong` says what is wrong with a rule about commands."""
        self._wrong = wrong
        self._approvals = approvals
        self._watch = watch
        self._rules = rules
        self._current = current

    async def list(
        self, *, agent: str | None = None, state: State | str | None = State.PENDING, limit: int = 100
    ) -> tuple[ApprovalRequest, ...]:
        """Requests, newest first: those that wait, unless another state (or None, for all) is asked for."""
        wanted = None if state is None else State(state)
        return await self._approvals.requests(agent=agent, state=wanted, limit=limit)

    async def get(self, request: str) -> ApprovalRequest:
        """One request. Refused with `approval_not_found`."""
        known = await self._approvals.get(request)
        if known is None:
            raise no_request(request)
        return known.at(time.time())

    async def answer(
        self,
        request: str,
        choice: Choice | str,
        *,
        by: str,
        lifetime: Lifetime | str = Lifetime.ONCE,
        until: float | None = None,
        arguments: Mapping[str, Any] | None = None,
        text: str = "",
        where: Mapping[str, str] | None = None,
    ) -> ApprovalRequest:
        """Answer a request: accept, edit, respond, ignore or deny. It can be done once."""
        known = await self.get(request)
        self._check_person(known, by)
        answer = Answer(
            choice=Choice(choice), lifetime=Lifetime(lifetime), until=until, arguments=arguments, text=text, where=where
        )
        if where is not None:
            self._check_names(known.tool, where)
        if arguments is not None:
            self._check_arguments(known.tool, arguments)
        done = await self._approvals.answer(request, answer, by=by)
        self._watch.tell(request)
        return done

    async def rules(self, *, agent: str | None = None) -> tuple[StandingRule, ...]:
        """What people agreed to beforehand, newest first."""
        return await self._approvals.rules(agent=agent)

    async def change_rule(self, rule: str, where: Mapping[str, str], *, by: str) -> StandingRule:
        """Give a rule other patterns."""
        known = next((one for one in await self._approvals.rules() if one.id == rule), None)
        if known is not None:
            self._check_names(known.tool, where)
        return await self._approvals.change_rule(rule, where, by=by)

    async def delete_rule(self, rule: str) -> StandingRule:
        """Take a rule away: its calls ask again."""
        return await self._approvals.delete_rule(rule)

    def _check_person(self, request: ApprovalRequest, by: str) -> None:
        allowed = {request.user if name == REQUESTER else name for name in self._rules.by} - {""}
        if self._rules.by and by not in allowed:
            who = " or ".join(sorted(allowed)) or "the person who asked, and none did"
            raise ToolFailed(f"This request can be answered by {who}, not by {by}.", code="not_yours_to_answer")

    def _check_names(self, tool: str, where: Mapping[str, str]) -> None:
        found = self._current().registry.get(tool)
        if found is not None and found.traits.runs_code:
            if what := self._wrong(where):
                raise ToolFailed(what, code="bad_pattern", hint="It is written as program=… arguments=…")
            return
        known = found.schema.get("properties", {}) if found else where
        if strange := [name for name in where if name not in known]:
            raise ToolFailed(
                f"{tool} has no argument {', '.join(strange)}.",
                code="bad_pattern",
                hint=f"It has {', '.join(known)}." if known else "It takes none.",
            )

    def _check_arguments(self, tool: str, arguments: Mapping[str, Any]) -> None:
        found = self._current().registry.get(tool)
        if found is None:
            return
        try:
            found.arguments.decode(msgspec.json.encode(dict(arguments)))
        except ValueError as error:
            raise found.arguments.told(error) from None


def _done(told: Any) -> None:  # noqa: ANN401 - a future
    if not told.done():
        told.set_result(None)


def _approval(call: Call, request: ApprovalRequest, *, waited: bool = False) -> Approval:
    """A kept answer as the pipeline reads it."""
    yes = request.choice in {Choice.ACCEPT, Choice.EDIT}
    return Approval(
        allowed=yes,
        id=request.id,
        by=request.by,
        why=request.text,
        arguments=merged(call, request) if request.choice == Choice.EDIT else None,
        waited=waited,
        instead="" if yes or request.choice == Choice.DENY else request.choice,
    )


def _pending(request: ApprovalRequest) -> Approval:
    how = (
        f"A person answers it with `toolcrib approvals answer {request.id} accept`, within"
        f" {_span(request.expires - time.time())}. Make the same call again then; or do it another way."
    )
    return Approval(allowed=False, id=request.id, why=how, instead="pending")


def _scrubbed(value: Any, scrub: Scrub) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {name: _scrubbed(one, scrub) for name, one in msgspec.to_builtins(value).items()}
    if isinstance(value, Sequence):
        return [_scrubbed(one, scrub) for one in msgspec.to_builtins(value)]
    return msgspec.to_builtins(value)


def _span(seconds: float) -> str:
    """A length of time, in the largest unit that says it."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if round(seconds) >= size:
            many = round(seconds / size)
            return f"{many} {unit}{'' if many == 1 else 's'}"
    return f"{max(0, seconds):.3g} seconds"
