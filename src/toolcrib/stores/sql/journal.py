"""Claims and outcomes in a database."""

import time
from collections.abc import Mapping
from hashlib import sha256

import sqlalchemy as sa

from toolcrib.services.record.journal import DAYS_KEPT, Claim, ClaimState
from toolcrib.stores.sql.database import Database, insert_new
from toolcrib.stores.sql.process import is_gone
from toolcrib.stores.sql.tables import JOURNAL

LOOK_AFTER = 1024  # claims between two looks for old ones
SILENT = 15 * 60.0  # seconds after which a call on another machine counts as interrupted


class SqlJournal:
    """One row for each key. It says which process claimed it."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner
        self._claims = 0

    async def claim(self, scope: str, key: str, fingerprint: str) -> Claim:
        if self._claims % LOOK_AFTER == 0:
            await self.prune(time.time() - DAYS_KEPT * 86_400)
        self._claims += 1
        row = {"mark": _mark(scope, key), "fingerprint": fingerprint, "owner": self._owner, "at": time.time()}
        return await self._database.write(lambda connection: _claimed(connection, row))

    async def keep(self, scope: str, key: str, outcome: bytes) -> None:
        kept = sa.update(JOURNAL).where(JOURNAL.c.mark == _mark(scope, key)).values(outcome=outcome)
        await self._database.write(lambda connection: connection.execute(kept))

    async def drop(self, scope: str, key: str) -> None:
        dropped = sa.delete(JOURNAL).where(JOURNAL.c.mark == _mark(scope, key))
        await self._database.write(lambda connection: connection.execute(dropped))

    async def prune(self, before: float) -> int:
        pruned = sa.delete(JOURNAL).where(JOURNAL.c.at < before)
        return await self._database.write(lambda connection: connection.execute(pruned).rowcount)


def _claimed(connection: sa.Connection, row: Mapping[str, object]) -> Claim:
    if insert_new(connection, JOURNAL, row):
        return Claim(ClaimState.FRESH)
    known = connection.execute(sa.select(JOURNAL).where(JOURNAL.c.mark == row["mark"])).one()
    if known.fingerprint != row["fingerprint"]:
        return Claim(ClaimState.MISMATCH)
    if known.outcome is not None:
        return Claim(ClaimState.REPLAY, known.outcome)
    gone = is_gone(known.owner, silent=known.at < time.time() - SILENT)
    return Claim(ClaimState.UNKNOWN if gone else ClaimState.RUNNING)


def _mark(scope: str, key: str) -> str:
    """Keys may be long; their digest is not."""
    return sha256(repr((scope, key)).encode()).hexdigest()
