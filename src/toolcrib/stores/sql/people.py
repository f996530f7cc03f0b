"""Rows about people, in a database."""

from typing import Any

import sqlalchemy as sa
from msgspec.structs import asdict, replace
from sqlalchemy.exc import IntegrityError

from toolcrib.services.people.ports import Kind, Row
from toolcrib.stores.sql.database import Database, insert_new
from toolcrib.stores.sql.tables import PEOPLE

_LOCK = 7_205_759_403_792_794  # so that of two first people one is the first


class SqlPeople:
    """One table for all kinds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, kind: Kind, row: Row, *, first: bool = False) -> bool:
        def work(connection: sa.Connection) -> bool:
            if first and connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            if first and connection.execute(sa.select(PEOPLE.c.id).where(_of(kind)).limit(1)).first() is not None:
                return False
            return insert_new(connection, PEOPLE, _values(kind, replace(row, revision=1)))

        return await self._database.write(work)

    async def get(self, kind: Kind, id: str) -> Row | None:  # noqa: A002 - the port's
        return await self._one(sa.select(PEOPLE).where(_of(kind), PEOPLE.c.id == id))

    async def find(self, kind: Kind, mark: str) -> Row | None:
        return await self._one(sa.select(PEOPLE).where(_of(kind), PEOPLE.c.mark == mark))

    async def all(self, kind: Kind, *, person: str | None = None) -> tuple[Row, ...]:
        asked = sa.select(PEOPLE).where(_of(kind)).order_by(PEOPLE.c.made, PEOPLE.c.id)
        if person is not None:
            asked = asked.where(PEOPLE.c.person == person)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return tuple(map(_row, rows))

    async def put(self, kind: Kind, row: Row) -> bool:
        at = (_of(kind), PEOPLE.c.id == row.id, PEOPLE.c.revision == row.revision)
        new = _values(kind, replace(row, revision=row.revision + 1))

        def work(connection: sa.Connection) -> bool:
            try:
                with connection.begin_nested():
                    return connection.execute(sa.update(PEOPLE).where(*at).values(new)).rowcount == 1
            except IntegrityError:  # the mark is another row's
                return False

        return await self._database.write(work)

    async def remove(self, kind: Kind, id: str) -> bool:  # noqa: A002 - the port's
        asked = sa.delete(PEOPLE).where(_of(kind), PEOPLE.c.id == id)
        return await self._database.write(lambda connection: connection.execute(asked).rowcount == 1)

    async def sweep(self, kind: Kind, now: float) -> None:
        asked = sa.delete(PEOPLE).where(_of(kind), PEOPLE.c.until > 0, PEOPLE.c.until <= now)
        await self._database.write(lambda connection: connection.execute(asked))

    async def _one(self, asked: sa.Select[Any]) -> Row | None:
        found = await self._database.read(lambda connection: connection.execute(asked).first())
        return None if found is None else _row(found)


def _of(kind: Kind) -> sa.ColumnElement[bool]:
    return PEOPLE.c.kind == kind.value


def _values(kind: Kind, row: Row) -> dict[str, object]:
    return {"kind": kind.value, **asdict(row)}


def _row(row: sa.Row[Any]) -> Row:
    return Row(
        id=str(row.id),
        mark=str(row.mark),
        body=str(row.body),
        person=str(row.person),
        until=row.until,
        made=row.made,
        revision=row.revision,
    )
