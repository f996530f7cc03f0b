"""Reading a stream of server-sent events, piece by piece."""

from msgspec import Struct

LARGEST = 32 * 1024 * 1024  # bytes of one message, however it comes
_LINES = 100_000  # of one event: each costs more than its bytes


class TooLargeError(Exception):
    """A message is longer than any may be."""


class Event(Struct, gc=False):
    """One event. `data` is what its lines of data said."""

    kind: bytes = b"message"
    data: bytes = b""
    id: bytes = b""
    retry: int | None = None


class EventReader:
    """Takes bytes as they come, and gives the events that are whole."""

    def __init__(self) -> None:
        self._held = bytearray()  # of a line whose end has not come
        self._half = b""  # a carriage return, perhaps the first half of a line's end
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that end in these bytes. What has come is looked at once, however small the pieces are."""
        self._size += len(data)
        if self._size > LARGEST:
            raise TooLargeError
        if self._half or b"\r" in data:
            data = self._half + data
            self._half = b"\r" if data.endswith(b"\r") else b""
            data = data[: len(data) - len(self._half)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in data:
            self._held += data
            return []
        first, *lines = data.split(b"\n")
        rest = lines.pop()
        lines.insert(0, bytes(self._held) + first)
        self._held = bytearray(rest)
        found: list[Event] = []
        for line in lines:
            if line:
                self._lines.append(line)
            elif self._lines:
                found.append(_event(self._lines))
                self._lines = []
                self._size = len(rest)
        if len(self._lines) > _LINES:
            raise TooLargeError
        return found


def _event(lines: list[bytes]) -> Event:
    event = Event()
    data: list[bytes] = []
    for line in lines:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event.kind = value
        elif name == b"id":
            event.id = value
        elif name == b"retry" and value.isdigit():
            event.retry = int(value)
    event.data = b"\n".join(data)
    return event
