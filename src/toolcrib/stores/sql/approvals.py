"""Approval requests and standing rules, in a database. What is asked for by is a column; the whole is JSON beside it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from uuid import uuid4

import msgspec
import sqlalchemy as sa
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
from toolcrib.stores.sql.database import Database
from toolcrib.stores.sql.tables import APPROVALS, RULES

_request = msgspec.json.Decoder(ApprovalRequest).decode
_rule = msgspec.json.Decoder(StandingRule).decode
_BECOMES = {State.EXPIRED: (State.EXPIRED, State.PENDING, State.ANSWERED)}  # by time alone, without a write


class SqlApprovals:
    """A row for each request, and one for each rule."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, request: ApprovalRequest) -> ApprovalRequest:
        def work(connection: sa.Connection) -> ApprovalRequest:
            connection.execute(sa.delete(APPROVALS).where(APPROVALS.c.asked < request.asked - DAYS_KEPT * 86_400))
            for known in _of_call(connection, (request.agent, request.session, request.mark), State.PENDING):
                if known.at(request.asked).state is State.PENDING:
                    return known
            connection.execute(sa.insert(APPROVALS), _row(request))
            return request

        return await self._database.write(work)

    async def get(self, request: str) -> ApprovalRequest | None:
        return await self._database.read(lambda connection: _found(connection, request))

    async def requests(
        self, *, agent: str | None = None, state: State | None = None, limit: int = 100
    ) -> tuple[ApprovalRequest, ...]:
        asked = sa.select(APPROVALS.c.body).order_by(APPROVALS.c.asked.desc())
        if agent is not None:
            asked = asked.where(APPROVALS.c.agent == agent)
        if state is not None:
            asked = asked.where(APPROVALS.c.state.in_([one.value for one in _BECOMES.get(state, (state,))]))
        else:
            asked = asked.limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(asked).scalars().all())
        now = time.time()
        found = (one for one in (_request(row).at(now) for row in rows) if state in (None, one.state))
        return tuple(one for one, _ in zip(found, range(limit), strict=False))

    async def settled(self, requests: Sequence[str]) -> tuple[ApprovalRequest, ...]:
        asked = sa.select(APPROVALS.c.body).where(
            APPROVALS.c.id.in_(requests), APPROVALS.c.state != State.PENDING.value
        )
        rows = await self._database.read(lambda connection: connection.execute(asked).scalars().all())
        return tuple(map(_request, rows))

    async def answer(self, request: str, answer: Answer, *, by: str) -> ApprovalRequest:
        def work(connection: sa.Connection) -> ApprovalRequest:
            known = _found(connection, request, to_write=True)
            if known is None:
                raise no_request(request)
            done = answered(known, answer, by=by, now=time.time())
            if rule := rule_from(done, answer, id=uuid4().hex[:12]):
                connection.execute(sa.insert(RULES), _rule_row(rule))
                done = replace(done, rule=rule.id)
            _put(connection, done)
            return done

        return await self._database.write(work)

    async def expire(self, request: str) -> None:
        await self._move(request, State.PENDING, State.EXPIRED)

    async def take(self, agent: str, session: str, mark: str) -> ApprovalRequest | None:
        def work(connection: sa.Connection) -> ApprovalRequest | None:
            now = time.time()
            for known in _of_call(connection, (agent, session, mark), State.ANSWERED):
                if known.lifetime is Lifetime.ONCE and known.at(now).state is State.ANSWERED:
                    _put(connection, replace(known, state=State.USED))
                    return known
            return None

        return await self._database.write(work)

    async def use(self, request: str) -> bool:
        return await self._move(request, State.ANSWERED, State.USED)

    async def rules(self, *, agent: str | None = None, tool: str | None = None) -> tuple[StandingRule, ...]:
        asked = sa.select(RULES.c.body).order_by(RULES.c.made.desc(), RULES.c.id)
        if agent is not None:
            asked = asked.where(RULES.c.agent == agent)
        if tool is not None:
            asked = asked.where(RULES.c.tool == tool)
        rows = await self._database.read(lambda connection: connection.execute(asked).scalars().all())
        return tuple(map(_rule, rows))

    async def change_rule(self, rule: str, where: Mapping[str, str], *, by: str) -> StandingRule:
        def work(connection: sa.Connection) -> StandingRule:
            changed = with_patterns(_rule_found(connection, rule), where, by=by)
            connection.execute(sa.update(RULES).where(RULES.c.id == rule).values(_rule_row(changed)))
            return changed

        return await self._database.write(work)

    async def delete_rule(self, rule: str) -> StandingRule:
        def work(connection: sa.Connection) -> StandingRule:
            known = _rule_found(connection, rule)
            connection.execute(sa.delete(RULES).where(RULES.c.id == rule))
            return known

        return await self._database.write(work)

    async def _move(self, request: str, before: State, after: State) -> bool:
        """Move a request on, if it is still where it was."""

        def work(connection: sa.Connection) -> bool:
            known = _found(connection, request, to_write=True)
            if known is None or known.state is not before:
                return False
            _put(connection, replace(known, state=after))
            return True

        return await self._database.write(work)


def _of_call(connection: sa.Connection, whose: tuple[str, str, str], state: State) -> Iterator[ApprovalRequest]:
    """The requests of one call in a state, newest first, locked until the work is done."""
    agent, session, mark = whose
    asked = sa.select(APPROVALS.c.body).where(
        APPROVALS.c.mark == mark,
        APPROVALS.c.agent == agent,
        APPROVALS.c.session == session,
        APPROVALS.c.state == state.value,
    )
    rows = connection.execute(asked.order_by(APPROVALS.c.asked.desc()).with_for_update()).scalars().all()
    return map(_request, rows)


def _found(connection: sa.Connection, request: str, *, to_write: bool = False) -> ApprovalRequest | None:
    asked = sa.select(APPROVALS.c.body).where(APPROVALS.c.id == request)
    body = connection.execute(asked.with_for_update() if to_write else asked).scalar()
    return None if body is None else _request(body)


def _put(connection: sa.Connection, request: ApprovalRequest) -> None:
    connection.execute(sa.update(APPROVALS).where(APPROVALS.c.id == request.id).values(_row(request)))


def _row(request: ApprovalRequest) -> dict[str, object]:
    keys = {name: getattr(request, name) for name in ("id", "mark", "agent", "session", "asked")}
    return {**keys, "state": request.state.value, "body": msgspec.json.encode(request).decode()}


def _rule_found(connection: sa.Connection, rule: str) -> StandingRule:
    body = connection.execute(sa.select(RULES.c.body).where(RULES.c.id == rule).with_for_update()).scalar()
    if body is None:
        raise no_rule(rule)
    return _rule(body)


def _rule_row(rule: StandingRule) -> dict[str, object]:
    keys = {name: getattr(rule, name) for name in ("id", "agent", "tool", "made")}
    return {**keys, "body": msgspec.json.encode(rule).decode()}
