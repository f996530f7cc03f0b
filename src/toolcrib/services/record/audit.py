"""The record of every call: what an entry says, how it is asked for, and the port that keeps it."""

from collections.abc import AsyncIterator, Callable
from typing import Protocol, TypeAlias

import msgspec
from msgspec import Struct

from toolcrib.core.call import Caller, Record

Scrub: TypeAlias = Callable[[str], str]


class Entry(Struct, frozen=True, kw_only=True):
    """One line of audit as it is kept. Its hash covers the hash before it and every other field."""

    seq: int
    id: str
    at: float  # seconds since 1970
    agent: str
    user: str
    session: str
    context: str  # JSON of what else is known of the caller (depth, channel, model, ...); "" when there is nothing
    tool: str
    arguments: str  # scrubbed JSON, cut when it is long
    status: str
    code: str
    seconds: float
    size: int
    verdicts: tuple[str, ...]
    approval: str
    generation: int
    previous: str
    hash: str

    def as_json(self) -> dict[str, object]:
        """The shape of `audit --json` and of an export."""
        return msgspec.structs.asdict(self)


class Head(Struct, frozen=True):
    """Where the chain ends. Whoever notes it down elsewhere can show later that nothing was cut off."""

    seq: int
    hash: str


class Verdict(Struct, frozen=True, kw_only=True):
    """What a check of the chain found; `broken_seq` is the first entry that does not fit."""

    ok: bool
    checked: int
    broken_seq: int | None = None
    why: str = ""


class Query(Struct, frozen=True, kw_only=True):
    """Which entries are asked for. What is None does not filter."""

    agent: str | None = None
    tool: str | None = None
    session: str | None = None
    user: str | None = None
    status: str | None = None
    code: str | None = None
    id: str | None = None
    since: float | None = None  # at or after
    until: float | None = None  # before
    oldest_first: bool = False
    limit: int = 100
    cursor: int | None = None  # `Page.cursor` of the page before

    def admits(self, entry: Entry) -> bool:
        """Whether an entry is one of those asked for."""
        exact = ("agent", "tool", "session", "user", "status", "code", "id")
        wanted = ((getattr(self, name), getattr(entry, name)) for name in exact)
        return (
            all(want is None or want == have for want, have in wanted)
            and (self.since is None or entry.at >= self.since)
            and (self.until is None or entry.at < self.until)
        )


EVERYTHING = Query()


class Page(Struct, frozen=True):
    """Some entries, and the cursor of those that follow; None when there are no more."""

    entries: tuple[Entry, ...]
    cursor: int | None = None


class Audit(Protocol):
    """Keeps one entry per call, in one chain. Handing over costs next to nothing; writing happens elsewhere."""

    @property
    def trouble(self) -> str:
        """Why entries cannot be written at the moment; "" when all is well."""
        ...

    @property
    def full(self) -> bool:
        """Whether no more can wait in memory. Under `audit: strict` a call is then refused before it runs."""
        ...

    def hand(self, record: Record) -> None:
        """Take a record. Returns at once."""
        ...

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        """Say that a call runs now. `hand` with that id ends it; a process that dies before leaves a trace."""
        ...

    async def durable(self, record: Record) -> None:
        """Take a record, and return when it is safe. Raises StoreError when it cannot be made so."""
        ...

    async def settle(self) -> None:
        """Return when everything handed so far is written. Raises StoreError when it cannot be."""
        ...

    async def entries(self, query: Query = EVERYTHING) -> Page:
        """The entries asked for, what waits to be written included."""
        ...

    def export(self, query: Query = EVERYTHING) -> AsyncIterator[dict[str, object]]:
        """Every entry asked for, oldest first, as JSON-able dicts. `limit` and `cursor` are not looked at."""
        ...

    async def verify(self) -> Verdict:
        """Read the whole chain and name the first entry that does not fit."""
        ...

    async def head(self) -> Head:
        """Where the chain ends now."""
        ...
