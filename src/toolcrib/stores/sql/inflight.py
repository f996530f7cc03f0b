"""The marks of calls that run longer than a batch takes: what is left of a call when its process dies."""

import time
from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from toolcrib.core.call import Record
from toolcrib.services.record.lines import Draft, Drafts, Mark, interrupted
from toolcrib.stores.sql.process import is_gone
from toolcrib.stores.sql.tables import INFLIGHT

SILENT = 90.0  # seconds without a sign of life, after which a process on another machine counts as gone
_OPENING = ("id", "at", "agent", "user", "session", "context", "tool", "arguments")


class Change:
    """What one batch does to the stored marks of one open store."""

    def __init__(self, owner: str, *, ended: Sequence[str], begun: Sequence[dict[str, object]]) -> None:
        self._owner = owner
        self.ended = ended
        self.begun = begun

    def __bool__(self) -> bool:
        return bool(self.ended or self.begun)

    def write(self, connection: sa.Connection) -> None:
        """Part of the transaction that stores the entries of the calls that ended."""
        if self.ended:
            mine = sa.and_(INFLIGHT.c.owner == self._owner, INFLIGHT.c.id.in_(self.ended))
            connection.execute(sa.delete(INFLIGHT).where(mine))
        if self.begun:
            connection.execute(sa.insert(INFLIGHT), list(self.begun))


class Marks:
    """Which calls of this open store run, and which of them have a stored mark. Used by the writer's thread only."""

    def __init__(self, owner: str, drafts: Drafts) -> None:
        self._owner = owner
        self._drafts = drafts
        self._running: dict[str, Mark] = {}
        self._stored: set[str] = set()

    def plan(self, batch: Sequence[Record], marks: Iterable[Mark], later: Iterable[Record]) -> Change:
        """A call that ended in this batch or ends in one that waits already gets no mark."""
        now = time.time()
        self._running.update((mark.id, mark) for mark in marks)
        for record in batch:
            self._running.pop(record.id, None)
        fresh = self._running.keys() - self._stored
        if fresh:
            fresh -= {record.id for record in later}
        ended = [record.id for record in batch if record.id in self._stored] if self._stored else []
        return Change(self._owner, ended=ended, begun=[self._row(self._running[call], now) for call in fresh])

    def written(self, change: Change) -> None:
        """Remember what is stored now."""
        self._stored.difference_update(change.ended)
        self._stored.update(str(row["id"]) for row in change.begun)

    def beat(self) -> sa.Update | None:
        """A sign of life for those who cannot look at our process: only while it matters."""
        if not self._stored:
            return None
        return sa.update(INFLIGHT).where(INFLIGHT.c.owner == self._owner).values(beat=time.time())

    def _row(self, mark: Mark, now: float) -> dict[str, object]:
        return {"owner": self._owner, "beat": now, **dict(zip(_OPENING, self._drafts.opening(mark), strict=True))}


def leftovers(connection: sa.Connection) -> list[Draft]:
    """Take away the marks of processes that ended in the middle of calls, and give the lines to write for them."""
    now = time.time()
    rows = connection.execute(sa.select(INFLIGHT).order_by(INFLIGHT.c.at).with_for_update()).mappings().all()
    gone = [row for row in rows if is_gone(row["owner"], silent=row["beat"] < now - SILENT)]
    for row in gone:
        mine = sa.and_(INFLIGHT.c.owner == row["owner"], INFLIGHT.c.id == row["id"])
        connection.execute(sa.delete(INFLIGHT).where(mine))
    return [interrupted(_opening(row), now) for row in gone]


def _opening(row: sa.RowMapping) -> tuple[str, float, str, str, str, str, str, str]:
    return (
        row["id"],
        row["at"],
        row["agent"],
        row["user"],
        row["session"],
        row["context"],
        row["tool"],
        row["arguments"],
    )
