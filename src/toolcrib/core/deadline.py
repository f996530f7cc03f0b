"""A limit of time for what waits."""

from collections.abc import Callable
from typing import Any

from toolcrib.core.heavy import heavy


class Deadline:
    """Stops what runs in it after so many seconds, and raises what `late` makes. `asyncio.timeout` costs thrice as much."""

    __slots__ = ("_before", "_late", "_passed", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float, late: Callable[[], Exception]) -> None:
        self._seconds, self._late, self._passed = seconds, late, False

    def __enter__(self) -> None:
        asyncio = heavy("asyncio")
        self._task: Any = asyncio.current_task()
        self._before = self._task.cancelling()
        self._timer: Any = asyncio.get_running_loop().call_later(self._seconds, self._stop)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        if self._passed and self._task.uncancel() <= self._before and kind is heavy("asyncio").CancelledError:
            raise self._late() from None

    def _stop(self) -> None:
        self._passed = True
        self._task.cancel()
