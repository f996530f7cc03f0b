"""Named things that people make and change: toolboxes, agents. One port keeps every kind of them.

A thing is what it is called, a body that its kind understands, and a revision that counts its changes. Whoever
changes one says which revision was seen, so that nobody overwrites what was never read.
"""

from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from toolcrib.core.errors import ToolFailed


class Kind(StrEnum):
    """What is kept in drawers."""

    TOOLBOX = "toolbox"
    AGENT = "agent"


class Kept(Struct, frozen=True, kw_only=True):
    """One named thing. `body` is JSON."""

    name: str
    body: str = "{}"
    created_by: str = ""
    revision: int = 0
    changed: float = 0.0  # seconds since 1970


class Drawers(Protocol):
    """Keeps named things by kind. Names are the same however they are capitalised."""

    async def all(self, kind: Kind) -> tuple[Kept, ...]:
        """Every thing of a kind, by name."""
        ...

    async def get(self, kind: Kind, name: str) -> Kept | None:
        """The thing of that name."""
        ...

    async def create(self, kind: Kind, made: Kept) -> Kept:
        """Keep a new thing. Refused with `name_taken` when the name is in use."""
        ...

    async def update(self, kind: Kind, name: str, made: Kept, *, revision: int) -> Kept:
        """Replace a thing, its name included, if it is still at that revision.

        Refused with `not_found`, `name_taken` or `revision_conflict`.
        """
        ...

    async def delete(self, kind: Kind, name: str, *, revision: int | None = None) -> Kept:
        """Take a thing away; gives back what it was. Refused with `not_found` or `revision_conflict`."""
        ...

    async def version(self) -> int:
        """A number that grows with each change to anything: whoever keeps a copy knows when it is stale."""
        ...


def key_of(name: str) -> str:
    """What makes two names the same."""
    return " ".join(name.split()).casefold()


class NotKept(ToolFailed):
    """There is nothing of that name."""

    def __init__(self, kind: Kind, name: str) -> None:
        super().__init__(f"There is no {kind} named {name!r}.", code="not_found", hint=f"Look at the list of {kind}s.")


class NameTaken(ToolFailed):
    """The name is in use."""

    def __init__(self, kind: Kind, name: str) -> None:
        article = "An" if kind[0] in "aeiou" else "A"
        super().__init__(
            f"{article} {kind} named {name!r} exists already.", code="name_taken", hint="Choose another name."
        )


class ChangedMeanwhile(ToolFailed):
    """Somebody else changed it first."""

    retryable = True

    def __init__(self, kind: Kind, name: str, *, at: int, expected: int) -> None:
        super().__init__(
            f"The {kind} {name!r} was changed meanwhile (revision {at}, not {expected}). Nothing was saved.",
            code="revision_conflict",
            hint="Read it again and repeat your change.",
        )
