"""A stop sign for work in a thread: its time is up, or the call was cancelled."""

import time
from collections.abc import Callable
from threading import Lock, Timer

from toolcrib.core.errors import Cancelled, TimedOut


class Halt:
    """Says when to stop. `bind` gives what ends a wait that cannot look at the sign."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._cancelled = False
        self._lock = Lock()
        self._end: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Stop now."""
        with self._lock:
            self._cancelled = True
            if self._end:
                self._end()

    def bind(self, end: Callable[[], None]) -> Timer:
        """Call `end` when it is time to stop. The timer that is given back is to be cancelled after the work."""
        with self._lock:
            self._end = end
            if self._cancelled:
                end()
        timer = Timer(max(0.0, self._deadline - time.monotonic()), end)
        timer.daemon = True
        timer.start()
        return timer

    def check(self) -> None:
        """Raise if it is time to stop."""
        if self._cancelled:
            raise Cancelled("The search was stopped.")
        if time.monotonic() >= self._deadline:
            raise TimedOut(
                f"The search took longer than {self._seconds:g} s and was stopped.",
                hint="Search in a smaller folder, with a glob, or for something simpler.",
            )
