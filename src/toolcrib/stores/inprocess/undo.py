"""What calls changed, and the contents that files had, in memory."""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from itertools import count
from threading import Lock

from msgspec.structs import replace

from toolcrib.services.undo.notes import Entry

MOST = 10_000
BYTES = 64 * 1024 * 1024


class MemoryUndo:
    """The latest entries."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, Entry] = OrderedDict()
        self._numbers = count(1)
        self._lock = Lock()

    def adding(self, entry: Entry) -> int:
        with self._lock:
            number = next(self._numbers)
            self._entries[number] = replace(entry, number=number)
            if len(self._entries) > MOST:
                self._entries.popitem(last=False)
        return number

    async def add(self, entry: Entry) -> int:
        return self.adding(entry)

    async def drop(self, number: int) -> None:
        with self._lock:
            self._entries.pop(number, None)

    async def of(self, call: str) -> tuple[Entry, ...]:
        with self._lock:
            return tuple(entry for entry in self._entries.values() if entry.call == call)

    async def mark(self, numbers: Sequence[int], undo: str) -> None:
        with self._lock:
            for number in numbers:
                if number in self._entries:
                    self._entries[number] = replace(self._entries[number], undone=undo)


class MemoryCopies:
    """Contents by their digest; the oldest go first."""

    def __init__(self, most: int = BYTES) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._most = most
        self._size = 0
        self._lock = Lock()

    def keep(self, data: bytes) -> str:
        name = sha256(data).hexdigest()
        with self._lock:
            if name not in self._kept:
                self._size += len(data)
            self._kept[name] = data
            self._kept.move_to_end(name)
            while self._size > self._most:
                self._size -= len(self._kept.popitem(last=False)[1])
        return name

    def get(self, name: str) -> bytes | None:
        return self._kept.get(name)
