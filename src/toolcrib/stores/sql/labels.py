"""Labels of sessions, in a database."""

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from toolcrib.core.tool import Flow
from toolcrib.stores.sql.database import Database, put_new
from toolcrib.stores.sql.tables import LABELS


class SqlLabels:
    """One row for each session and label."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, sessions: Sequence[str]) -> Mapping[str, Mapping[Flow, str]]:
        asked = sa.select(LABELS).where(LABELS.c.session.in_(sessions))
        rows = await self._database.read(lambda connection: connection.execute(asked).all())
        found: dict[str, dict[Flow, str]] = {}
        for row in rows:
            found.setdefault(row.session, {})[Flow(row.label)] = row.tool
        return found

    async def add(self, session: str, label: Flow, tool: str) -> None:
        row = {"session": session, "label": label.value, "tool": tool}
        await self._database.write(lambda connection: put_new(connection, LABELS, row))
