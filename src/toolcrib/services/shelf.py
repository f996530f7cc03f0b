"""The shelf of toolboxes that people made. The built-in ones are not here: they come with the program."""

from typing import Protocol

from msgspec import Struct

from toolcrib.core.errors import ToolFailed


class Box(Struct, frozen=True, kw_only=True):
    """A toolbox that a person or an agent made. Its revision counts its changes."""

    name: str
    description: str = ""
    tools: tuple[str, ...] = ()
    exact: bool = False
    created_by: str = ""
    revision: int = 0
    changed: float = 0.0  # seconds since 1970


class Shelf(Protocol):
    """Keeps toolboxes. Names are the same however they are capitalised."""

    async def all(self) -> tuple[Box, ...]:
        """Every box, by name."""
        ...

    async def get(self, name: str) -> Box | None:
        """The box of that name."""
        ...

    async def create(self, box: Box) -> Box:
        """Put up a new box. Refused with `toolbox_name_taken` when the name is in use."""
        ...

    async def update(self, name: str, box: Box, *, revision: int) -> Box:
        """Replace a box, its name included, if it is still at that revision.

        Refused with `toolbox_not_found`, `toolbox_name_taken` or `revision_conflict`.
        """
        ...

    async def delete(self, name: str) -> Box:
        """Take a box down; gives back what it was. Refused with `toolbox_not_found`."""
        ...

    async def version(self) -> int:
        """A number that grows with each change to any box: whoever keeps a copy knows when it is stale."""
        ...


def key_of(name: str) -> str:
    """What makes two names the same."""
    return " ".join(name.split()).casefold()


def no_box(name: str) -> ToolFailed:
    """The refusal of a name that is not on the shelf."""
    return ToolFailed(
        f"There is no toolbox named {name!r}.", code="toolbox_not_found", hint="list_toolboxes shows those that exist."
    )


def taken(name: str) -> ToolFailed:
    """The refusal of a name that is in use."""
    return ToolFailed(
        f"A toolbox named {name!r} exists already.", code="toolbox_name_taken", hint="Choose another name."
    )


def changed_meanwhile(name: str, *, at: int, expected: int) -> ToolFailed:
    """The refusal of a change to a box that somebody else changed first."""
    return ToolFailed(
        f"The toolbox {name!r} was changed meanwhile (revision {at}, not {expected}). Nothing was saved.",
        code="revision_conflict",
        hint="Read it again and repeat your change.",
        retryable=True,
    )
