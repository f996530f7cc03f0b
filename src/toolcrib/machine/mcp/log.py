"""What a server writes to its standard error, and what is noted about it: the newest lines, within bounds."""

import time
from collections import deque

LINES = 500
LONGEST = 2000  # characters of a line


class Log:
    """A ring of lines."""

    def __init__(self) -> None:
        self._lines: deque[tuple[float, str]] = deque(maxlen=LINES)
        self._rest = b""
        self.dropped = 0

    def write(self, data: bytes) -> None:
        """Take up what came on standard error."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:LONGEST]
        for line in lines[-LINES:]:
            self.say(line[:LONGEST].decode("utf-8", "replace"))
        self.dropped += max(0, len(lines) - LINES)

    def say(self, line: str) -> None:
        """Add a line."""
        if len(self._lines) == LINES:
            self.dropped += 1
        self._lines.append((time.time(), line))

    @property
    def lines(self) -> list[tuple[float, str]]:
        """The lines that are kept, oldest first."""
        rest = [(time.time(), self._rest.decode("utf-8", "replace"))] if self._rest else []
        return [*self._lines, *rest]
