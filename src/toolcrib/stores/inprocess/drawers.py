"""Named things, in memory."""

import time

from msgspec.structs import replace

from toolcrib.services.drawers import ChangedMeanwhile, Kept, Kind, NameTaken, NotKept, key_of


class MemoryDrawers:
    """A dict by kind and folded name."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Kind, str], Kept] = {}
        self._version = 0

    async def all(self, kind: Kind) -> tuple[Kept, ...]:
        return tuple(self._kept[key] for key in sorted(self._kept) if key[0] is kind)

    async def get(self, kind: Kind, name: str) -> Kept | None:
        return self._kept.get((kind, key_of(name)))

    async def create(self, kind: Kind, made: Kept) -> Kept:
        if (kind, key_of(made.name)) in self._kept:
            raise NameTaken(kind, made.name)
        return self._put(kind, replace(made, revision=1, changed=time.time()))

    async def update(self, kind: Kind, name: str, made: Kept, *, revision: int) -> Kept:
        old = self._seen(kind, name, revision)
        if key_of(made.name) != key_of(name) and (kind, key_of(made.name)) in self._kept:
            raise NameTaken(kind, made.name)
        del self._kept[kind, key_of(name)]
        return self._put(kind, replace(made, created_by=old.created_by, revision=revision + 1, changed=time.time()))

    async def delete(self, kind: Kind, name: str, *, revision: int | None = None) -> Kept:
        old = self._seen(kind, name, revision)
        del self._kept[kind, key_of(name)]
        self._version += 1
        return old

    def touch(self) -> None:
        """Something was changed that is kept elsewhere in the store."""
        self._version += 1

    async def version(self) -> int:
        return self._version

    def _seen(self, kind: Kind, name: str, revision: int | None) -> Kept:
        old = self._kept.get((kind, key_of(name)))
        if old is None:
            raise NotKept(kind, name)
        if revision is not None and old.revision != revision:
            raise ChangedMeanwhile(kind, old.name, at=old.revision, expected=revision)
        return old

    def _put(self, kind: Kind, made: Kept) -> Kept:
        self._kept[kind, key_of(made.name)] = made
        self._version += 1
        return made
