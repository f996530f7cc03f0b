"""What is known of MCP servers, in a database: a row each, with its facts as JSON."""

import time
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa
from msgspec.structs import replace

from toolcrib.services.mcp.book import Repin, changed_meanwhile, decided, granted_on, missing, taken
from toolcrib.services.mcp.servers import Entry, McpGrant, McpRequest, Pin, Reviewed, Scope
from toolcrib.stores.sql.database import Database, insert_new, put
from toolcrib.stores.sql.drawers import count_change
from toolcrib.stores.sql.tables import MCP_GRANTS, MCP_PINS, MCP_REQUESTS, MCP_SERVERS

T = TypeVar("T", Entry, Pin, McpGrant, McpRequest)


class SqlMcp:
    """Four tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def entries(self) -> tuple[Entry, ...]:
        return await self._all(sa.select(MCP_SERVERS.c.body, MCP_SERVERS.c.name), Entry)

    async def put(self, entry: Entry, *, revision: int) -> Entry:
        def work(connection: sa.Connection) -> Entry:
            made = replace(entry, revision=revision + 1, changed=time.time())
            row = {"name": entry.name.lower(), "body": _text(made)}
            if not revision:
                if not insert_new(connection, MCP_SERVERS, row):
                    raise taken(entry.name)
            else:
                old = _entry(connection, entry.name)
                if old is None:
                    raise missing("MCP server", entry.name)
                if old.revision != revision:
                    raise changed_meanwhile(entry.name)
                put(connection, MCP_SERVERS, row)
            count_change(connection)
            return made

        return await self._database.write(work)

    async def remove(self, name: str) -> Entry:
        low = name.lower()

        def work(connection: sa.Connection) -> Entry:
            old = _entry(connection, name)
            if old is None:
                raise missing("MCP server", name)
            connection.execute(sa.delete(MCP_SERVERS).where(MCP_SERVERS.c.name == low))
            for table in (MCP_PINS, MCP_GRANTS, MCP_REQUESTS):
                connection.execute(sa.delete(table).where(table.c.server == low))
            count_change(connection)
            return old

        return await self._database.write(work)

    async def pins(self, server: str = "") -> tuple[Pin, ...]:
        return await self._database.read(lambda connection: _pins(connection, server))

    async def repin(self, server: str, work: Repin) -> tuple[Pin, ...]:
        low = server.lower()

        def done(connection: sa.Connection) -> tuple[Pin, ...]:
            count_change(connection)  # first: it also makes others wait who pin at the same moment
            before = _pins(connection, server)
            made = work(before)
            if made is None:
                connection.rollback()
                return before
            connection.execute(sa.delete(MCP_PINS).where(MCP_PINS.c.server == low))
            if made:
                rows = [{"server": low, "tool": pin.tool, "body": _text(pin)} for pin in made]
                connection.execute(sa.insert(MCP_PINS), rows)
            return tuple(sorted(made, key=lambda pin: pin.tool))

        return await self._database.write(done)

    async def grants(self) -> tuple[McpGrant, ...]:
        table = MCP_GRANTS
        return await self._all(sa.select(table.c.body, table.c.server, table.c.scope, table.c.holder), McpGrant)

    async def grant(self, grant: McpGrant) -> None:
        await self._database.write(lambda connection: _grant(connection, grant))

    async def revoke(self, server: str, scope: Scope, holder: str) -> McpGrant:
        at = (MCP_GRANTS.c.server == server.lower(), MCP_GRANTS.c.scope == scope.value, MCP_GRANTS.c.holder == holder)

        def work(connection: sa.Connection) -> McpGrant:
            row = connection.execute(sa.select(MCP_GRANTS.c.body).where(*at)).first()
            if row is None:
                raise missing("grant", f"{server} for the {scope.value} {holder}")
            connection.execute(sa.delete(MCP_GRANTS).where(*at))
            count_change(connection)
            return msgspec.json.decode(row.body, type=McpGrant)

        return await self._database.write(work)

    async def request(self, request: McpRequest) -> None:
        row = {"id": request.id, "server": request.server.lower(), "state": request.state.value, "body": _text(request)}
        await self._database.write(lambda connection: put(connection, MCP_REQUESTS, row))

    async def requests(self, state: Reviewed | None = None) -> tuple[McpRequest, ...]:
        asked = sa.select(MCP_REQUESTS.c.body)
        if state is not None:
            asked = asked.where(MCP_REQUESTS.c.state == state.value)
        found = await self._all(asked, McpRequest)
        return tuple(sorted(found, key=lambda one: (one.asked, one.id), reverse=True))

    async def decide(self, request: str, *, approve: bool, by: str, now: float) -> McpRequest:
        def work(connection: sa.Connection) -> McpRequest:
            asked = sa.select(MCP_REQUESTS.c.body).where(MCP_REQUESTS.c.id == request).with_for_update()
            row = connection.execute(asked).first()
            known = None if row is None else msgspec.json.decode(row.body, type=McpRequest)
            done = decided(known, request, approve=approve, by=by, now=now)
            changed = {"state": done.state.value, "body": _text(done)}
            connection.execute(sa.update(MCP_REQUESTS).where(MCP_REQUESTS.c.id == request).values(changed))
            if approve:
                _grant(connection, granted_on(done))
            return done

        return await self._database.write(work)

    async def _all(self, asked: Any, kind: type[T]) -> tuple[T, ...]:  # noqa: ANN401 - a select of any columns
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        ordered = sorted(rows, key=lambda row: tuple(row)[1:])  # sorted here: databases differ in it
        return tuple(msgspec.json.decode(row.body, type=kind) for row in ordered)


def _entry(connection: sa.Connection, name: str) -> Entry | None:
    asked = sa.select(MCP_SERVERS.c.body).where(MCP_SERVERS.c.name == name.lower()).with_for_update()
    row = connection.execute(asked).first()
    return None if row is None else msgspec.json.decode(row.body, type=Entry)


def _pins(connection: sa.Connection, server: str) -> tuple[Pin, ...]:
    asked = sa.select(MCP_PINS)
    if server:
        asked = asked.where(MCP_PINS.c.server == server.lower())
    rows = sorted(connection.execute(asked).all(), key=lambda row: (row.server, row.tool))
    return tuple(msgspec.json.decode(row.body, type=Pin) for row in rows)


def _grant(connection: sa.Connection, grant: McpGrant) -> None:
    row = {"server": grant.server.lower(), "scope": grant.scope.value, "holder": grant.holder, "body": _text(grant)}
    put(connection, MCP_GRANTS, row)
    count_change(connection)


def _text(value: object) -> str:
    return msgspec.json.encode(value).decode()
