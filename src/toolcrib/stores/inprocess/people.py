"""Rows about people, in memory."""

from msgspec.structs import replace

from toolcrib.services.people.ports import Kind, Row


class MemoryPeople:
    """A dict by kind and id."""

    def __init__(self) -> None:
        self._rows: dict[Kind, dict[str, Row]] = {kind: {} for kind in Kind}

    async def add(self, kind: Kind, row: Row, *, first: bool = False) -> bool:
        rows = self._rows[kind]
        if row.id in rows or (first and rows) or any(one.mark == row.mark for one in rows.values()):
            return False
        rows[row.id] = replace(row, revision=1)
        return True

    async def get(self, kind: Kind, id: str) -> Row | None:  # noqa: A002 - the port's
        return self._rows[kind].get(id)

    async def find(self, kind: Kind, mark: str) -> Row | None:
        return next((one for one in self._rows[kind].values() if one.mark == mark), None)

    async def all(self, kind: Kind, *, person: str | None = None) -> tuple[Row, ...]:
        found = [one for one in self._rows[kind].values() if person in (None, one.person)]
        return tuple(sorted(found, key=lambda one: (one.made, one.id)))

    async def put(self, kind: Kind, row: Row) -> bool:
        rows = self._rows[kind]
        known = rows.get(row.id)
        taken = any(one.mark == row.mark and one.id != row.id for one in rows.values())
        if known is None or known.revision != row.revision or taken:
            return False
        rows[row.id] = replace(row, revision=row.revision + 1)
        return True

    async def remove(self, kind: Kind, id: str) -> bool:  # noqa: A002 - the port's
        return self._rows[kind].pop(id, None) is not None

    async def sweep(self, kind: Kind, now: float) -> None:
        rows = self._rows[kind]
        for row in [one for one in rows.values() if one.until and one.until <= now]:
            del rows[row.id]
