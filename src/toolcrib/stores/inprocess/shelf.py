"""Toolboxes that people made, in memory."""

import time

from msgspec.structs import replace

from toolcrib.services.shelf import Box, changed_meanwhile, key_of, no_box, taken


class MemoryShelf:
    """A dict by folded name."""

    def __init__(self) -> None:
        self._boxes: dict[str, Box] = {}
        self._version = 0

    async def all(self) -> tuple[Box, ...]:
        return tuple(self._boxes[key] for key in sorted(self._boxes))

    async def get(self, name: str) -> Box | None:
        return self._boxes.get(key_of(name))

    async def create(self, box: Box) -> Box:
        if key_of(box.name) in self._boxes:
            raise taken(box.name)
        return self._put(replace(box, revision=1, changed=time.time()))

    async def update(self, name: str, box: Box, *, revision: int) -> Box:
        old = self._boxes.get(key_of(name))
        if old is None:
            raise no_box(name)
        if old.revision != revision:
            raise changed_meanwhile(old.name, at=old.revision, expected=revision)
        if key_of(box.name) != key_of(name) and key_of(box.name) in self._boxes:
            raise taken(box.name)
        del self._boxes[key_of(name)]
        return self._put(replace(box, created_by=old.created_by, revision=revision + 1, changed=time.time()))

    async def delete(self, name: str) -> Box:
        old = self._boxes.pop(key_of(name), None)
        if old is None:
            raise no_box(name)
        self._version += 1
        return old

    async def version(self) -> int:
        return self._version

    def _put(self, box: Box) -> Box:
        self._boxes[key_of(box.name)] = box
        self._version += 1
        return box
