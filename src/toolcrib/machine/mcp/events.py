"""Reading a stream of server-sent events, piece by piece."""

from msgspec import Struct

LARGEST = 32 * 1024 * 1024  # bytes of one message, however it comes


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
        self._rest = b""
        self._lines: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that end in these bytes."""
        self._size += len(data)
        if self._size > LARGEST:
            raise TooLargeError
        if b"\r" in data or self._rest.endswith(b"\r"):
            joined = self._rest + data
            held = b"\r" if joined.endswith(b"\r") else b""  # perhaps the first half of a line's end
            joined = joined[: len(joined) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        else:
            joined, held = self._rest + data, b""
        *lines, rest = joined.split(b"\n")
        self._rest = rest + held
        found: list[Event] = []
        for line in lines:
            if line:
                self._lines.append(line)
            elif self._lines:
                found.append(_event(self._lines))
                self._lines = []
                self._size = len(self._rest)
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
