"""Labels of sessions, in a database."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from toolcrib.core.tool import Flow
from toolcrib.services.record.lines import clean
from toolcrib.stores.sql.database import Database, put_new
from toolcrib.stores.sql.tables import LABELS

_QUICK = "SELECT session, label, tool FROM tc_labels WHERE session IN (%s)"


class SqlLabels:
    """One row for each session and label."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, sessions: Sequence[str]) -> Mapping[str, Mapping[Flow, str]]:
        rows: Sequence[Any]
        try:
            marks = ", ".join("?" * len(sessions))
            rows = self._database.rows(_QUICK % marks, [clean(session) for session in sessions])
        except LookupError:
            asked = sa.select(LABELS.c.session, LABELS.c.label, LABELS.c.tool).where(LABELS.c.session.in_(sessions))
            rows = await self._database.read(lambda connection: connection.execute(asked).all())
        found: dict[str, dict[Flow, str]] = {}
        for session, label, tool in rows:
            found.setdefault(session, {})[Flow(label)] = tool
        return found

    async def add(self, session: str, label: Flow, tool: str) -> None:
        row = {"session": session, "label": label.value, "tool": tool}
        await self._database.write(lambda connection: put_new(connection, LABELS, row))
