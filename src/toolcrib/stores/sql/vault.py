"""The vault's rows in a database."""

from collections.abc import Sequence
from typing import Any, cast

import sqlalchemy as sa
from msgspec.structs import asdict

from toolcrib.services.vault.ports import Change, Rewrap
from toolcrib.services.vault.values import Head, Place, Row, Term, bound, read_facts
from toolcrib.stores.sql.database import Database, insert_new, put
from toolcrib.stores.sql.tables import VAULT, VAULT_HEAD, VAULT_TERMS

_HEAD = sa.select(*(column for column in VAULT_HEAD.c if column.name != "one"))
_ONE = (
    sa.select(VAULT_HEAD.c.generation, VAULT.c.facts, VAULT.c.term, VAULT.c.seal, VAULT.c.body)
    .select_from(VAULT_HEAD)
    .outerjoin(
        VAULT,
        sa.and_(
            VAULT.c.team == sa.bindparam("team"),
            VAULT.c.kind == sa.bindparam("kind"),
            VAULT.c.name == sa.bindparam("name"),
        ),
    )
)
_QUICK_HEAD = 'SELECT vault, root, "key", generation, term, total, mac FROM tc_vault_head'
_QUICK_ONE = (
    "SELECT h.generation, v.facts, v.term, v.seal, v.body FROM tc_vault_head h"
    " LEFT JOIN tc_vault v ON v.team = ? AND v.kind = ? AND v.name = ?"
)


class SqlVaultRows:
    """One row for each place. Of SQLite single rows are read at once, without a hop to a thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, head: Head, term: Term) -> bool:
        def work(connection: sa.Connection) -> bool:
            if not insert_new(connection, VAULT_HEAD, {"one": 1, **asdict(head)}):
                return False
            put(connection, VAULT_TERMS, asdict(term))
            return True

        return await self._database.write(work)

    async def head(self) -> Head | None:
        try:
            found = self._database.row(_QUICK_HEAD)
        except LookupError:
            return await self._database.read(_head)
        return _as_head(found)

    async def terms(self) -> tuple[Term, ...]:
        asked = sa.select(VAULT_TERMS).order_by(VAULT_TERMS.c.number)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return tuple(Term(number=row.number, wrapped=row.wrapped, made=row.made, sealed=row.sealed) for row in rows)

    async def get(self, place: Place) -> tuple[Row | None, int]:
        where = (place.team, place.kind, place.name)
        found: Any
        try:
            found = self._database.row(_QUICK_ONE, where)
        except LookupError:
            values: dict[str, Any] = dict(zip(("team", "kind", "name"), where, strict=True))
            found = await self._database.read(lambda connection: connection.execute(_ONE, values).first())
        if found is None:
            return None, 0
        generation, facts, term, seal, body = cast("tuple[int, str | None, int, str, str]", found)
        if facts is None:
            return None, generation
        return Row(facts=read_facts(place, facts), term=term, seal=seal, body=body), generation

    async def everything(self, kinds: Sequence[str] = ()) -> tuple[Head | None, tuple[Row, ...]]:
        wanted = VAULT.c.kind.in_(list(kinds))
        asked = sa.select(
            *(VAULT.c[name] for name in ("team", "kind", "name", "facts", "term")),
            sa.case((wanted, VAULT.c.seal), else_="").label("seal"),
            sa.case((wanted, VAULT.c.body), else_="").label("body"),
        )

        def work(connection: sa.Connection) -> tuple[Head | None, Sequence[sa.Row[Any]]]:
            return _head(connection), connection.execute(asked).all()

        head, rows = await self._database.read(work)
        # Sorted here: databases differ in it.
        return head, tuple(map(_row, sorted(rows, key=lambda row: (row.team, row.kind, row.name))))

    async def change(self, change: Change) -> bool:
        return await self._database.write(lambda connection: _changed(connection, change))

    async def behind(self, term: int, limit: int) -> tuple[Row, ...]:
        columns = (VAULT.c[name] for name in ("team", "kind", "name", "facts", "term", "seal"))
        asked = sa.select(*columns, sa.literal("").label("body")).where(VAULT.c.term < term).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        return tuple(map(_row, rows))

    async def rewrap(self, rows: Sequence[Rewrap], term: int) -> int:
        return await self._database.write(lambda connection: _rewrapped(connection, rows, term))

    async def drop_terms(self, current: int) -> int:
        used = sa.select(VAULT.c.term).distinct().scalar_subquery()
        gone = sa.delete(VAULT_TERMS).where(VAULT_TERMS.c.number < current, VAULT_TERMS.c.number.not_in(used))
        return await self._database.write(lambda connection: connection.execute(gone).rowcount)


def _changed(connection: sa.Connection, change: Change) -> bool:
    head = sa.update(VAULT_HEAD).where(VAULT_HEAD.c.generation == change.expected).values(asdict(change.head))
    if connection.execute(head).rowcount != 1:
        return False
    for place in change.drop:
        connection.execute(sa.delete(VAULT).where(*_at(place)))
    for row in change.put:
        place = row.facts.place
        kept = {"team": place.team, "kind": place.kind, "name": place.name, "facts": bound(row.facts).decode()}
        put(connection, VAULT, {**kept, "term": row.term, "seal": row.seal, "body": row.body})
    for term in change.terms:
        put(connection, VAULT_TERMS, asdict(term))
    _count(connection, change.head.term, change.sealed)
    return True


def _rewrapped(connection: sa.Connection, rows: Sequence[Rewrap], term: int) -> int:
    if not rows:
        return 0
    changed = (
        sa.update(VAULT)
        .where(
            VAULT.c.team == sa.bindparam("at_team"),
            VAULT.c.kind == sa.bindparam("at_kind"),
            VAULT.c.name == sa.bindparam("at_name"),
            VAULT.c.seal == sa.bindparam("old"),
        )
        .values(seal=sa.bindparam("new"), term=term)
    )
    values = [
        {"at_team": r.place.team, "at_kind": r.place.kind, "at_name": r.place.name, "old": r.old, "new": r.new}
        for r in rows
    ]
    done = connection.execute(changed, values).rowcount
    _count(connection, term, len(rows))
    return done


def _count(connection: sa.Connection, term: int, times: int) -> None:
    if times:
        counted = sa.update(VAULT_TERMS).where(VAULT_TERMS.c.number == term)
        connection.execute(counted.values(sealed=VAULT_TERMS.c.sealed + times))


def _head(connection: sa.Connection) -> Head | None:
    found = connection.execute(_HEAD).first()
    return _as_head(found)


def _as_head(found: Any) -> Head | None:  # noqa: ANN401 - a row of either driver
    if found is None:
        return None
    vault, root, key, generation, term, total, mac = found
    return Head(vault=vault, root=root, key=key, generation=generation, term=term, total=total, mac=mac)


def _at(place: Place) -> tuple[sa.ColumnElement[bool], ...]:
    return VAULT.c.team == place.team, VAULT.c.kind == place.kind, VAULT.c.name == place.name


def _row(row: Any) -> Row:  # noqa: ANN401 - a row with the columns of one
    place = Place(row.team, row.kind, row.name)
    return Row(facts=read_facts(place, row.facts), term=row.term, seal=row.seal, body=row.body)
