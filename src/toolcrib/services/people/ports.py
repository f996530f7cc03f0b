"""What the people's services need: rows that are kept, and how passwords are hashed."""

from enum import StrEnum
from typing import Protocol

from msgspec import Struct


class Kind(StrEnum):
    """What is kept of people."""

    PERSON = "person"
    INVITATION = "invitation"
    KEY = "key"
    SESSION = "session"


class Row(Struct, frozen=True, kw_only=True):
    """One kept thing. `body` is JSON; `mark` finds it, and no two of a kind have the same."""

    id: str
    mark: str
    body: str
    person: str = ""  # whose it is
    until: float = 0.0  # when it ends; 0: never
    made: float = 0.0
    revision: int = 1


class PeopleRows(Protocol):
    """Keeps rows by kind."""

    async def add(self, kind: Kind, row: Row, *, first: bool = False) -> bool:
        """Keep a new row. False: its id or mark is taken; or, with `first`, there is one of its kind already."""
        ...

    async def get(self, kind: Kind, id: str) -> Row | None:  # noqa: A002 - as elsewhere
        """The row with that id."""
        ...

    async def find(self, kind: Kind, mark: str) -> Row | None:
        """The row with that mark."""
        ...

    async def all(self, kind: Kind, *, person: str | None = None) -> tuple[Row, ...]:
        """Every row of a kind, oldest first; of one person, if one is named."""
        ...

    async def put(self, kind: Kind, row: Row) -> bool:
        """Replace the row with that id if it is still at `row.revision`, and count it up. False: it is not.

        A mark that another row has is False as well.
        """
        ...

    async def remove(self, kind: Kind, id: str) -> bool:  # noqa: A002 - as elsewhere
        """Take a row away. False: there was none."""
        ...

    async def sweep(self, kind: Kind, now: float) -> None:
        """Take those away that have ended."""
        ...


class Passwords(Protocol):
    """Hashes passwords, slowly on purpose."""

    async def hashed(self, password: str) -> str:
        """What is kept of a password."""
        ...

    async def fits(self, kept: str, password: str) -> bool:
        """Whether it is the password. With nothing kept it takes as long, and is False."""
        ...

    def stale(self, kept: str) -> bool:
        """Whether the hash was made with weaker settings than today's."""
        ...
