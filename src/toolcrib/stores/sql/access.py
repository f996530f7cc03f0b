"""Access requests and grants, in a database."""

import time
from collections.abc import Sequence
from contextlib import suppress
from uuid import uuid4

import msgspec
import sqlalchemy as sa
from msgspec.structs import asdict

from toolcrib.services.access import (
    AccessRequest,
    Decision,
    Grant,
    Lifetime,
    decided,
    granted_on,
    no_grant,
    no_request,
)
from toolcrib.services.record.lines import clean
from toolcrib.stores.sql.database import Database
from toolcrib.stores.sql.tables import GRANTS, REQUESTS

_QUICK_ANY = "SELECT 1 FROM tc_grants WHERE agent = ? AND ended IS NULL LIMIT 1"


class SqlAccess:
    """A row for each request, and one for each tool that was granted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def request(self, *, agent: str, session: str, user: str, tools: Sequence[str], reason: str) -> AccessRequest:
        made = AccessRequest(
            id=uuid4().hex,
            agent=agent,
            session=session,
            user=user,
            tools=tuple(tools),
            reason=reason,
            asked=time.time(),
        )
        await self._database.write(lambda connection: connection.execute(sa.insert(REQUESTS), _row(made)))
        return made

    async def get(self, request: str) -> AccessRequest | None:
        return await self._database.read(lambda connection: _found(connection, request))

    async def requests(self, *, agent: str | None = None, state: Decision | None = None) -> tuple[AccessRequest, ...]:
        asked = sa.select(REQUESTS).order_by(REQUESTS.c.asked.desc())
        if agent is not None:
            asked = asked.where(REQUESTS.c.agent == agent)
        if state is not None:
            asked = asked.where(REQUESTS.c.state == state.value)
        rows = await self._database.read(lambda connection: connection.execute(asked).mappings().all())
        return tuple(_request(row) for row in rows)

    async def decide(
        self,
        request: str,
        *,
        by: str,
        approve: Sequence[str],
        lifetime: Lifetime,
        until: float | None = None,
    ) -> AccessRequest:
        def work(connection: sa.Connection) -> AccessRequest:
            known = _found(connection, request, to_write=True)
            if known is None:
                raise no_request(request)
            done = decided(known, by=by, approve=approve, lifetime=lifetime, until=until, now=time.time())
            connection.execute(sa.update(REQUESTS).where(REQUESTS.c.id == request).values(_row(done)))
            for grant in granted_on(done, lifetime=lifetime, until=until):
                connection.execute(sa.insert(GRANTS), {**asdict(grant), "lifetime": grant.lifetime.value})
            return done

        return await self._database.write(work)

    async def grants_for(self, agent: str, session: str, now: float) -> tuple[Grant, ...]:
        with suppress(LookupError):  # most agents have none, and this is asked before every turn
            if self._database.row(_QUICK_ANY, (clean(agent),)) is None:
                return ()
        asked = sa.select(GRANTS).where(GRANTS.c.agent == agent, GRANTS.c.ended.is_(None)).order_by(GRANTS.c.granted)
        rows = await self._database.read(lambda connection: connection.execute(asked).mappings().all())
        return tuple(one for one in map(_grant, rows) if one.holds(session, now))

    async def grants(self, *, agent: str | None = None) -> tuple[Grant, ...]:
        asked = sa.select(GRANTS).order_by(GRANTS.c.granted.desc(), GRANTS.c.id.desc())
        if agent is not None:
            asked = asked.where(GRANTS.c.agent == agent)
        rows = await self._database.read(lambda connection: connection.execute(asked).mappings().all())
        return tuple(map(_grant, rows))

    async def consume(self, agent: str, session: str, tool: str) -> bool:
        now = time.time()
        held = await self.grants_for(agent, session, now)
        once = [one.id for one in held if one.tool == tool and one.lifetime is Lifetime.ONCE]
        if not once:
            return False

        def work(connection: sa.Connection) -> bool:
            used = (
                sa.update(GRANTS).where(GRANTS.c.id == one, GRANTS.c.ended.is_(None)).values(ended=now) for one in once
            )
            return any(connection.execute(statement).rowcount == 1 for statement in used)

        return await self._database.write(work)

    async def revoke(self, grant: str, *, by: str) -> Grant:
        def work(connection: sa.Connection) -> Grant:
            ends = sa.update(GRANTS).where(GRANTS.c.id == grant, GRANTS.c.ended.is_(None))
            connection.execute(ends.values(ended=time.time(), ended_by=by))
            row = connection.execute(sa.select(GRANTS).where(GRANTS.c.id == grant)).mappings().first()
            if row is None:
                raise no_grant(grant)
            return _grant(row)

        return await self._database.write(work)


def _found(connection: sa.Connection, request: str, *, to_write: bool = False) -> AccessRequest | None:
    asked = sa.select(REQUESTS).where(REQUESTS.c.id == request)
    row = connection.execute(asked.with_for_update() if to_write else asked).mappings().first()
    return None if row is None else _request(row)


def _row(request: AccessRequest) -> dict[str, object]:
    lists = {name: msgspec.json.encode(getattr(request, name)).decode() for name in ("tools", "granted")}
    return {**asdict(request), **lists, "state": request.state.value}


def _request(row: sa.RowMapping) -> AccessRequest:
    lists = {name: msgspec.json.decode(row[name]) for name in ("tools", "granted")}
    return msgspec.convert(_plain(row) | lists, AccessRequest)


def _grant(row: sa.RowMapping) -> Grant:
    return msgspec.convert(_plain(row), Grant)


def _plain(row: sa.RowMapping) -> dict[str, object]:
    """A row with plain names: SQLAlchemy's are a kind of text of its own."""
    return {str(name): value for name, value in row.items()}
