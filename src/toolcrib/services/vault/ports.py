"""What the vault stands on: a store of rows, a place where the master key is, and the cryptography."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Caller
from toolcrib.services.vault.values import Facts, Head, Place, Row, Term

Learn = Callable[[str, str], None]


class Change(Struct, frozen=True, kw_only=True):
    """What one change writes, all or nothing, if the vault is still at generation `expected`."""

    expected: int
    head: Head
    put: Sequence[Row] = ()
    drop: Sequence[Place] = ()
    terms: Sequence[Term] = ()  # new ones
    sealed: int = 0  # how often the term in use has wrapped for it


class Rewrap(Struct, frozen=True):
    """A row whose key is wrapped anew: only if its seal is still the old one."""

    place: Place
    old: str
    new: str


class VaultRows(Protocol):
    """Keeps rows, terms and the head. It knows no key and no value."""

    async def begin(self, head: Head, term: Term) -> bool:
        """Write the first page, unless there is one."""
        ...

    async def head(self) -> Head | None:
        """The first page; None when there is no vault."""
        ...

    async def terms(self) -> tuple[Term, ...]:
        """Every term, by number."""
        ...

    async def get(self, place: Place) -> tuple[Row | None, int]:
        """A row, and the generation of the vault at that moment."""
        ...

    async def everything(self, kinds: Sequence[str] = ()) -> tuple[Head | None, tuple[Row, ...]]:
        """The head and every row, as of one moment, by place. Seals and bodies come with these kinds only."""
        ...

    async def change(self, change: Change) -> bool:
        """Make a change; False when somebody else was quicker, and nothing is written."""
        ...

    async def behind(self, term: int, limit: int) -> tuple[Row, ...]:
        """Rows that are still under an older term than this one, without their bodies."""
        ...

    async def rewrap(self, rows: Sequence[Rewrap], term: int) -> int:
        """Write new seals in one go; how many were still as they were read. Each counts for the term."""
        ...

    async def drop_terms(self, current: int) -> int:
        """Remove the terms before this one that no row uses; how many."""
        ...


class MasterKey(Protocol):
    """Where the master key is."""

    @property
    def where(self) -> str:
        """The place, in words; never the key."""
        ...

    async def get(self, vault: str) -> bytes | None:
        """The 32 bytes; None when there is none. Raises VaultError when it is not safe."""
        ...

    async def make(self, vault: str) -> bytes:
        """A key for a new vault: the one that is there, or a new one. Raises VaultError where none can be made."""
        ...


class Keys(Protocol):
    """An unlocked vault's keys."""

    def new_term(self, number: int) -> str:
        """Make a term's key; the wrapped form, to be kept. It is in use once it is taken."""
        ...

    def take_term(self, number: int, wrapped: str) -> None:
        """Unwrap a term's key. Raises VaultChanged."""
        ...

    def seal(self, facts: Facts, term: int, value: bytes) -> Row:
        """Seal a value under a new key of its own."""
        ...

    def open(self, row: Row) -> bytes:
        """The value. Raises VaultChanged for anything that is not as it was sealed."""
        ...

    def rewrap(self, row: Row, term: int) -> str:
        """The same seal under another term."""
        ...

    def mark(self, facts: Facts) -> int:
        """The part of a row in the head's sum."""
        ...

    def mac(self, head: Head) -> str:
        """What only the holder of the key can write below a head."""
        ...


class Crypto(Protocol):
    """Makes and opens the keys of a vault."""

    def create(self, master: bytes, vault: str) -> tuple[str, str, Keys]:
        """New keys: the wrapped root, and what tells this master key from others."""
        ...

    def unlock(self, master: bytes, head: Head) -> Keys | None:
        """The keys of a vault; None when this is not its master key. Raises VaultChanged."""
        ...


class SecretAsked(Struct, frozen=True, kw_only=True):
    """What a person reads who is asked for a secret."""

    key: str
    label: str
    description: str
    caller: Caller


AskSecret = Callable[[SecretAsked], "str | Awaitable[str | None] | None"]
