"""Passwords by argon2id, in threads, two at a time: each costs memory on purpose."""

import asyncio

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

_AT_ONCE = 2


class Argon2Passwords:
    """Hashes with 46 MiB and one pass, OWASP's first choice."""

    def __init__(self, *, memory: int = 47_104) -> None:
        self._hasher = PasswordHasher(time_cost=1, memory_cost=memory, parallelism=1)
        self._nobody = ""
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def hashed(self, password: str) -> str:
        async with self._turns:
            return await asyncio.to_thread(self._hasher.hash, password.encode("utf-8", "surrogatepass"))

    async def fits(self, kept: str, password: str) -> bool:
        if not self._nobody:
            self._nobody = await self.hashed("nobody's password")
        async with self._turns:
            right = await asyncio.to_thread(self._verified, kept or self._nobody, password)
        return right and bool(kept)

    def stale(self, kept: str) -> bool:
        return self._hasher.check_needs_rehash(kept)

    def _verified(self, kept: str, password: str) -> bool:
        try:
            return self._hasher.verify(kept, password.encode("utf-8", "surrogatepass"))
        except (VerificationError, InvalidHashError):
            return False
