"""Loaded toolkits, in a database."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from toolcrib.services.loaded import KitState
from toolcrib.services.record.lines import clean
from toolcrib.stores.sql.database import Database, put
from toolcrib.stores.sql.tables import LOADED

_QUICK = "SELECT names, notes FROM tc_loaded WHERE agent = ? AND session = ?"
_texts = msgspec.json.Decoder(tuple[str, ...])


class SqlLoadedKits:
    """One row for each agent and session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, agent: str, session: str) -> KitState | None:
        if not session:
            return None
        row: Any
        try:
            row = self._database.row(_QUICK, (clean(agent), clean(session)))
        except LookupError:
            asked = sa.select(LOADED.c.names, LOADED.c.notes).where(
                LOADED.c.agent == agent, LOADED.c.session == session
            )
            row = await self._database.read(lambda connection: connection.execute(asked).first())
        return None if row is None else KitState(_texts.decode(row[0]), _texts.decode(row[1]))

    async def put(self, agent: str, session: str, names: Sequence[str], notes: Sequence[str] = ()) -> None:
        if not session:
            return
        told = {"names": msgspec.json.encode(names).decode(), "notes": msgspec.json.encode(notes).decode()}
        row = {"agent": agent, "session": session, **told}
        await self._database.write(lambda connection: put(connection, LOADED, row))
