"""The vault of a crib: the rows of its store, a master key, the cryptography, and the scrubber that hears of every value."""

from typing import TYPE_CHECKING

from msgspec import Struct

from toolcrib.core.errors import ToolError
from toolcrib.core.heavy import heavy
from toolcrib.core.shape import Scrub
from toolcrib.services.config.values import Config

if TYPE_CHECKING:
    from toolcrib.services.settings import Settings
    from toolcrib.services.store import Store
    from toolcrib.services.vault.book import Book
    from toolcrib.services.vault.entries import Entries
    from toolcrib.services.vault.ports import MasterKey
    from toolcrib.services.vault.secrets import Secrets
    from toolcrib.services.vault.telling import Teller

NEVER, ASK = "never", "ask"
KEY_FILE = "vault/key"


class Vault(Struct, kw_only=True):
    """What a program and the command line use: secrets, entries, and the book below them for the rest."""

    secrets: "Secrets"
    entries: "Entries"
    book: "Book"
    teller: "Teller"
    trouble: str = ""  # why its values could not be told to the scrubber

    async def know(self) -> None:
        """Tell the scrubber what was kept since we looked, here or by another process. Without the key it cannot."""
        if self.trouble or not await self.book.stale():
            return
        try:
            await self.book.learn()
        except ToolError as error:
            self.trouble = error.message
            heavy("logging").getLogger("toolcrib").warning("%s Its values are not scrubbed.", error.message)


def open_vault(config: Config, store: "Store", scrub: Scrub, master: "MasterKey") -> Vault:
    """The vault of a store. It is opened when it is first used."""
    services = "toolcrib.services.vault"
    # A scrubber of one's own may be a plain function, which cannot learn.
    teller = heavy(f"{services}.telling").Teller(getattr(scrub, "add", _unheard), getattr(scrub, "remove", _unheard))
    crypto = heavy("toolcrib.safety.envelope").EnvelopeCrypto()
    book = heavy(f"{services}.book").Book(store.vault, master, crypto, teller)
    reveals = config.vault.reveal != NEVER
    return Vault(
        secrets=heavy(f"{services}.secrets").Secrets(book, reveals=reveals),
        entries=heavy(f"{services}.entries").Entries(book),
        book=book,
        teller=teller,
    )


def _unheard(*_: str) -> None:
    """Nobody to tell."""


def key_of(config: Config, settings: "Settings") -> "MasterKey":
    """Where the master key of a home folder's vault is. What the environment says goes before the configuration."""
    keys = heavy("toolcrib.machine.keys")
    if settings.vault_key:
        return keys.GivenKey(settings.vault_key, settings.sources["vault_key"])
    if settings.vault_passphrase:
        return keys.PassphraseKey(settings.vault_passphrase)
    if config.vault.key == "keyring":
        return keys.KeyringKey()
    path = heavy("pathlib").Path
    home = path(settings.home)
    return keys.FileKey(home / path(config.vault.key_file).expanduser() if config.vault.key_file else home / KEY_FILE)
