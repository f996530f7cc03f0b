"""What calls changed, in a database."""

import time
from collections.abc import Sequence

import msgspec
import sqlalchemy as sa
from msgspec.structs import asdict

from toolcrib.services.undo.notes import Entry
from toolcrib.stores.sql.database import Database
from toolcrib.stores.sql.tables import UNDO

LOOK_AFTER = 256  # entries between two looks for old ones
DAYS_KEPT = 30


class SqlUndo:
    """A row for each change. It is written before the change is made."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._added = 0
        self.days = DAYS_KEPT

    def adding(self, entry: Entry) -> int:
        return self._database.writing(lambda connection: self._insert(connection, entry))

    async def add(self, entry: Entry) -> int:
        return await self._database.write(lambda connection: self._insert(connection, entry))

    async def drop(self, number: int) -> None:
        gone = sa.delete(UNDO).where(UNDO.c.number == number)
        await self._database.write(lambda connection: connection.execute(gone))

    async def of(self, call: str) -> tuple[Entry, ...]:
        asked = sa.select(UNDO).where(UNDO.c.call == call).order_by(UNDO.c.number)
        rows = await self._database.read(lambda connection: connection.execute(asked).mappings().all())
        return tuple(msgspec.convert({str(name): value for name, value in row.items()}, Entry) for row in rows)

    async def mark(self, numbers: Sequence[int], undo: str) -> None:
        marked = sa.update(UNDO).where(UNDO.c.number.in_(numbers)).values(undone=undo)
        await self._database.write(lambda connection: connection.execute(marked))

    def _insert(self, connection: sa.Connection, entry: Entry) -> int:
        self._added += 1
        if self._added % LOOK_AFTER == 1:
            connection.execute(sa.delete(UNDO).where(UNDO.c.at < time.time() - self.days * 86_400))
        row = {name: value for name, value in asdict(entry).items() if name != "number"}
        done = connection.execute(sa.insert(UNDO).values(row))
        return 0 if done.inserted_primary_key is None else int(done.inserted_primary_key[0])
