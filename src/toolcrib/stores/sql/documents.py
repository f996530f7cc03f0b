"""Context files and memory files in a database."""

import time

import sqlalchemy as sa

from toolcrib.stores.sql.database import Database, put
from toolcrib.stores.sql.tables import DOCUMENTS


class SqlDocuments:
    """One row for each agent, user and path."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, agent: str, user: str, path: str) -> str | None:
        asked = sa.select(DOCUMENTS.c.content).where(*_of(agent, user), DOCUMENTS.c.path == path)
        return await self._database.read(lambda connection: connection.execute(asked).scalar())

    async def put(self, agent: str, user: str, path: str, content: str) -> None:
        row = {"agent": agent, "user": user, "path": path, "content": content, "changed": time.time()}
        await self._database.write(lambda connection: put(connection, DOCUMENTS, row))

    async def delete(self, agent: str, user: str, path: str) -> bool:
        gone = sa.delete(DOCUMENTS).where(*_of(agent, user), DOCUMENTS.c.path == path)
        return await self._database.write(lambda connection: connection.execute(gone).rowcount > 0)

    async def paths(self, agent: str, user: str, prefix: str = "") -> tuple[str, ...]:
        asked = sa.select(DOCUMENTS.c.path).where(*_of(agent, user))
        found = await self._database.read(lambda connection: connection.execute(asked).scalars().all())
        # Chosen and sorted here: databases differ in capitals and in order, file names do not.
        return tuple(sorted(path for path in found if path.startswith(prefix)))


def _of(agent: str, user: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return DOCUMENTS.c.agent == agent, DOCUMENTS.c.user == user
