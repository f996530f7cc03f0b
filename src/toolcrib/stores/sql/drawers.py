"""Named things, in a database."""

import time
from typing import Any

import sqlalchemy as sa
from msgspec.structs import asdict, replace
from sqlalchemy.exc import IntegrityError

from toolcrib.services.drawers import ChangedMeanwhile, Kept, Kind, NameTaken, NotKept, key_of
from toolcrib.stores.sql.database import Database, insert_new
from toolcrib.stores.sql.tables import COUNTS, DRAWERS

_CHANGES = "drawers"
_QUICK_VERSION = "SELECT value FROM tc_counts WHERE name = ?"


class SqlDrawers:
    """One row for each thing, by kind and folded name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, kind: Kind) -> tuple[Kept, ...]:
        asked = sa.select(DRAWERS).where(DRAWERS.c.kind == kind.value)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return tuple(_kept(row) for row in sorted(rows, key=lambda row: row.key))  # sorted here: databases differ in it

    async def get(self, kind: Kind, name: str) -> Kept | None:
        return await self._database.read(lambda connection: _found(connection, kind, name))

    async def create(self, kind: Kind, made: Kept) -> Kept:
        made = replace(made, revision=1, changed=time.time())

        def work(connection: sa.Connection) -> Kept:
            if not insert_new(connection, DRAWERS, _row(kind, made)):
                raise NameTaken(kind, made.name)
            count_change(connection)
            return made

        return await self._database.write(work)

    async def update(self, kind: Kind, name: str, made: Kept, *, revision: int) -> Kept:
        def work(connection: sa.Connection) -> Kept:
            old = _seen(connection, kind, name, revision)
            new = replace(made, created_by=old.created_by, revision=revision + 1, changed=time.time())
            if key_of(made.name) != key_of(name) and _found(connection, kind, made.name) is not None:
                raise NameTaken(kind, made.name)
            try:
                connection.execute(sa.update(DRAWERS).where(*_at(kind, name)).values(_row(kind, new)))
            except IntegrityError:  # somebody took the new name since we looked
                raise NameTaken(kind, made.name) from None
            count_change(connection)
            return new

        return await self._database.write(work)

    async def delete(self, kind: Kind, name: str, *, revision: int | None = None) -> Kept:
        def work(connection: sa.Connection) -> Kept:
            old = _seen(connection, kind, name, revision)
            connection.execute(sa.delete(DRAWERS).where(*_at(kind, name)))
            count_change(connection)
            return old

        return await self._database.write(work)

    async def version(self) -> int:
        """Asked for before every turn, so by the quick way where there is one."""
        try:
            found = self._database.row(_QUICK_VERSION, (_CHANGES,))
        except LookupError:
            asked = sa.select(COUNTS.c.value).where(COUNTS.c.name == _CHANGES)
            return await self._database.read(lambda connection: connection.execute(asked).scalar() or 0)
        return found[0] if found else 0


def _at(kind: Kind, name: str) -> tuple[sa.ColumnElement[bool], ...]:
    return DRAWERS.c.kind == kind.value, DRAWERS.c.key == key_of(name)


def _found(connection: sa.Connection, kind: Kind, name: str, *, to_write: bool = False) -> Kept | None:
    asked = sa.select(DRAWERS).where(*_at(kind, name))
    row = connection.execute(asked.with_for_update() if to_write else asked).first()
    return None if row is None else _kept(row)


def _seen(connection: sa.Connection, kind: Kind, name: str, revision: int | None) -> Kept:
    """What is to be changed, held until the transaction ends, if it is still what was seen."""
    old = _found(connection, kind, name, to_write=True)
    if old is None:
        raise NotKept(kind, name)
    if revision is not None and old.revision != revision:
        raise ChangedMeanwhile(kind, old.name, at=old.revision, expected=revision)
    return old


def count_change(connection: sa.Connection) -> None:
    """One more change. Inside the same transaction, so whoever sees the number sees the change."""
    insert_new(connection, COUNTS, {"name": _CHANGES, "value": 0})
    connection.execute(sa.update(COUNTS).where(COUNTS.c.name == _CHANGES).values(value=COUNTS.c.value + 1))


def _row(kind: Kind, kept: Kept) -> dict[str, object]:
    return {**asdict(kept), "kind": kind.value, "key": key_of(kept.name)}


def _kept(row: sa.Row[Any]) -> Kept:
    return Kept(name=row.name, body=row.body, created_by=row.created_by, revision=row.revision, changed=row.changed)
