"""To-do lists in a database."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from toolcrib.services.todos import Todo
from toolcrib.stores.sql.database import Database, put
from toolcrib.stores.sql.tables import TODOS

_todos = msgspec.json.Decoder(tuple[Todo, ...])


class SqlTodos:
    """One row for each agent and session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, agent: str, session: str) -> tuple[Todo, ...]:
        asked = sa.select(TODOS.c.todos).where(TODOS.c.agent == agent, TODOS.c.session == session)
        text = await self._database.read(lambda connection: connection.execute(asked).scalar())
        return () if text is None else _todos.decode(text)

    async def put(self, agent: str, session: str, todos: Sequence[Todo]) -> None:
        row = {"agent": agent, "session": session, "todos": msgspec.json.encode(todos).decode()}
        await self._database.write(lambda connection: put(connection, TODOS, row))
