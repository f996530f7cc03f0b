"""Claims and outcomes in memory."""

import time

from msgspec import Struct

from toolcrib.services.record.journal import DAYS_KEPT, Claim, ClaimState

LOOK_AFTER = 1024  # claims between two looks for old ones


class Kept(Struct):
    """A key that was claimed, and what came back when it has."""

    fingerprint: str
    at: float
    outcome: bytes | None = None


class MemoryJournal:
    """Runs on one event loop, so that a claim is whole by itself."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], Kept] = {}
        self._claims = 0

    async def claim(self, scope: str, key: str, fingerprint: str) -> Claim:
        self._claims += 1
        if self._claims % LOOK_AFTER == 0:
            await self.prune(time.time() - DAYS_KEPT * 86_400)
        known = self._keys.get((scope, key))
        if known is None:
            self._keys[scope, key] = Kept(fingerprint, time.time())
            return Claim(ClaimState.FRESH)
        if known.fingerprint != fingerprint:
            return Claim(ClaimState.MISMATCH)
        if known.outcome is None:
            return Claim(ClaimState.RUNNING)
        return Claim(ClaimState.REPLAY, known.outcome)

    async def keep(self, scope: str, key: str, outcome: bytes) -> None:
        known = self._keys.get((scope, key))
        if known is not None:
            known.outcome = outcome

    async def drop(self, scope: str, key: str) -> None:
        self._keys.pop((scope, key), None)

    async def prune(self, before: float) -> int:
        old = [key for key, kept in self._keys.items() if kept.at < before]
        for key in old:
            del self._keys[key]
        return len(old)
