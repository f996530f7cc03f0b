"""Vaults over a store, for the tests."""

from typing import Any

from toolcrib.machine.keys import GivenKey
from toolcrib.safety.envelope import EnvelopeCrypto
from toolcrib.services.vault.book import Book
from toolcrib.services.vault.secrets import Secrets, Wanted
from toolcrib.services.vault.telling import Teller

KEY = "11" * 32


class Vault:
    """A vault as one process has it. `learned` is what its scrubber was told."""

    def __init__(self, store: Any, key: Any = None) -> None:
        self.learned: dict[str, str] = {}
        self.book = Book(store.vault, key or GivenKey(KEY), EnvelopeCrypto(), Teller(self.learned.__setitem__))
        self.secrets = Secrets(self.book)

    async def put(self, key: str, value: str, *, team: str = "") -> None:
        await self.secrets.set(key, Wanted(value=value), team=team)

    async def value(self, key: str, *, team: str = "") -> str | None:
        return (await self.secrets.get(key, team=team)).value
