"""Approval requests and standing rules, in memory."""

import time
from collections.abc import Mapping, Sequence
from uuid import uuid4

from msgspec.structs import replace

from toolcrib.services.approvals.requests import (
    DAYS_KEPT,
    Answer,
    ApprovalRequest,
    Lifetime,
    StandingRule,
    State,
    answered,
    no_request,
    no_rule,
    rule_from,
    with_patterns,
)


class MemoryApprovals:
    """Two dicts, in the order of time."""

    def __init__(self) -> None:
        self._requests: dict[str, ApprovalRequest] = {}
        self._rules: dict[str, StandingRule] = {}

    async def ask(self, request: ApprovalRequest) -> ApprovalRequest:
        now = time.time()
        while self._requests and (first := next(iter(self._requests.values()))).asked < now - DAYS_KEPT * 86_400:
            del self._requests[first.id]
        whose = (request.agent, request.session, request.mark)
        for one in self._requests.values():
            if (one.agent, one.session, one.mark) == whose and one.at(now).state is State.PENDING:
                return one
        self._requests[request.id] = request
        return request

    async def get(self, request: str) -> ApprovalRequest | None:
        return self._requests.get(request)

    async def requests(
        self, *, agent: str | None = None, state: State | None = None, limit: int = 100
    ) -> tuple[ApprovalRequest, ...]:
        now = time.time()
        newest = (one.at(now) for one in reversed(self._requests.values()))
        found = (one for one in newest if agent in (None, one.agent) and state in (None, one.state))
        return tuple(one for one, _ in zip(found, range(limit), strict=False))

    async def settled(self, requests: Sequence[str]) -> tuple[ApprovalRequest, ...]:
        found = (self._requests.get(one) for one in requests)
        return tuple(one for one in found if one is not None and one.state is not State.PENDING)

    async def answer(self, request: str, answer: Answer, *, by: str) -> ApprovalRequest:
        known = self._requests.get(request)
        if known is None:
            raise no_request(request)
        done = answered(known, answer, by=by, now=time.time())
        if rule := rule_from(done, answer, id=uuid4().hex[:12]):
            self._rules[rule.id] = rule
            done = replace(done, rule=rule.id)
        self._requests[request] = done
        return done

    async def expire(self, request: str) -> None:
        known = self._requests.get(request)
        if known is not None and known.state is State.PENDING:
            self._requests[request] = replace(known, state=State.EXPIRED)

    async def take(self, agent: str, session: str, mark: str) -> ApprovalRequest | None:
        now = time.time()
        for one in reversed(self._requests.values()):
            fits = (one.agent, one.session, one.mark) == (agent, session, mark) and one.lifetime is Lifetime.ONCE
            if fits and one.at(now).state is State.ANSWERED:
                self._requests[one.id] = replace(one, state=State.USED)
                return one
        return None

    async def use(self, request: str) -> bool:
        known = self._requests.get(request)
        if known is None or known.state is not State.ANSWERED:
            return False
        self._requests[request] = replace(known, state=State.USED)
        return True

    async def rules(self, *, agent: str | None = None, tool: str | None = None) -> tuple[StandingRule, ...]:
        newest = reversed(self._rules.values())
        return tuple(one for one in newest if agent in (None, one.agent) and tool in (None, one.tool))

    async def change_rule(self, rule: str, where: Mapping[str, str], *, by: str) -> StandingRule:
        known = self._rules.get(rule)
        if known is None:
            raise no_rule(rule)
        self._rules[rule] = with_patterns(known, where, by=by)
        return self._rules[rule]

    async def delete_rule(self, rule: str) -> StandingRule:
        known = self._rules.pop(rule, None)
        if known is None:
            raise no_rule(rule)
        return known
