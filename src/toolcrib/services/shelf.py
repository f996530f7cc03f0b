"""The shelf of toolboxes that people made. The built-in ones are not here: they come with the program."""

import msgspec
from msgspec import Struct

from toolcrib.services.drawers import Drawers, Kept, Kind


class Box(Struct, frozen=True, kw_only=True):
    """A toolbox that a person or an agent made. Its revision counts its changes."""

    name: str
    description: str = ""
    tools: tuple[str, ...] = ()
    exact: bool = False
    created_by: str = ""
    revision: int = 0
    changed: float = 0.0  # seconds since 1970


class _Body(Struct, frozen=True, omit_defaults=True):
    """What is kept of a box beside its name."""

    description: str = ""
    tools: tuple[str, ...] = ()
    exact: bool = False


_body = msgspec.json.Decoder(_Body)


class Shelf:
    """Keeps toolboxes. Refusals are those of the drawers."""

    def __init__(self, drawers: Drawers) -> None:
        self._drawers = drawers

    async def all(self) -> tuple[Box, ...]:
        """Every box, by name."""
        return tuple(map(_box, await self._drawers.all(Kind.TOOLBOX)))

    async def get(self, name: str) -> Box | None:
        """The box of that name."""
        kept = await self._drawers.get(Kind.TOOLBOX, name)
        return None if kept is None else _box(kept)

    async def create(self, box: Box) -> Box:
        """Put up a new box."""
        return _box(await self._drawers.create(Kind.TOOLBOX, _kept(box)))

    async def update(self, name: str, box: Box, *, revision: int) -> Box:
        """Replace a box, its name included, if it is still at that revision."""
        return _box(await self._drawers.update(Kind.TOOLBOX, name, _kept(box), revision=revision))

    async def delete(self, name: str, *, revision: int | None = None) -> Box:
        """Take a box down; gives back what it was."""
        return _box(await self._drawers.delete(Kind.TOOLBOX, name, revision=revision))


def _kept(box: Box) -> Kept:
    body = msgspec.json.encode(_Body(box.description, box.tools, box.exact)).decode()
    return Kept(name=box.name, body=body, created_by=box.created_by)


def _box(kept: Kept) -> Box:
    body = _body.decode(kept.body)
    return Box(
        name=kept.name,
        description=body.description,
        tools=body.tools,
        exact=body.exact,
        created_by=kept.created_by,
        revision=kept.revision,
        changed=kept.changed,
    )
