"""Toolboxes that people made, in a database."""

import time
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec.structs import replace
from sqlalchemy.exc import IntegrityError

from toolcrib.services.shelf import Box, changed_meanwhile, key_of, no_box, taken
from toolcrib.stores.sql.database import Database, insert_new
from toolcrib.stores.sql.tables import COUNTS, SHELF

_CHANGES = "shelf"
_names = msgspec.json.Decoder(tuple[str, ...])


class SqlShelf:
    """One row for each box, by folded name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[Box, ...]:
        asked = sa.select(SHELF)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return tuple(_box(row) for row in sorted(rows, key=lambda row: row.key))  # sorted here: databases differ in it

    async def get(self, name: str) -> Box | None:
        return await self._database.read(lambda connection: _found(connection, name))

    async def create(self, box: Box) -> Box:
        made = replace(box, revision=1, changed=time.time())

        def work(connection: sa.Connection) -> Box:
            if not insert_new(connection, SHELF, _row(made)):
                raise taken(box.name)
            _count(connection)
            return made

        return await self._database.write(work)

    async def update(self, name: str, box: Box, *, revision: int) -> Box:
        def work(connection: sa.Connection) -> Box:
            old = _found(connection, name, to_write=True)
            if old is None:
                raise no_box(name)
            if old.revision != revision:
                raise changed_meanwhile(old.name, at=old.revision, expected=revision)
            made = replace(box, created_by=old.created_by, revision=revision + 1, changed=time.time())
            if key_of(box.name) != key_of(name) and _found(connection, box.name) is not None:
                raise taken(box.name)
            try:
                connection.execute(sa.update(SHELF).where(SHELF.c.key == key_of(name)).values(_row(made)))
            except IntegrityError:  # somebody took the new name since we looked
                raise taken(box.name) from None
            _count(connection)
            return made

        return await self._database.write(work)

    async def delete(self, name: str) -> Box:
        def work(connection: sa.Connection) -> Box:
            old = _found(connection, name, to_write=True)
            if old is None:
                raise no_box(name)
            connection.execute(sa.delete(SHELF).where(SHELF.c.key == key_of(name)))
            _count(connection)
            return old

        return await self._database.write(work)

    async def version(self) -> int:
        asked = sa.select(COUNTS.c.value).where(COUNTS.c.name == _CHANGES)
        return await self._database.read(lambda connection: connection.execute(asked).scalar() or 0)


def _found(connection: sa.Connection, name: str, *, to_write: bool = False) -> Box | None:
    asked = sa.select(SHELF).where(SHELF.c.key == key_of(name))
    row = connection.execute(asked.with_for_update() if to_write else asked).first()
    return None if row is None else _box(row)


def _count(connection: sa.Connection) -> None:
    """One more change. Inside the same transaction, so whoever sees the number sees the change."""
    insert_new(connection, COUNTS, {"name": _CHANGES, "value": 0})
    connection.execute(sa.update(COUNTS).where(COUNTS.c.name == _CHANGES).values(value=COUNTS.c.value + 1))


def _row(box: Box) -> dict[str, object]:
    tools = msgspec.json.encode(box.tools).decode()
    return {**msgspec.structs.asdict(box), "key": key_of(box.name), "tools": tools}


def _box(row: sa.Row[Any]) -> Box:
    return Box(
        name=row.name,
        description=row.description,
        tools=_names.decode(row.tools),
        exact=row.exact,
        created_by=row.created_by,
        revision=row.revision,
        changed=row.changed,
    )
