"""Work that goes on beside the calls, and ends when its owner is closed."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any


class Tasks:
    """The tasks of one owner. Each is awaited at the latest when the owner closes."""

    def __init__(self) -> None:
        self._running: set[asyncio.Future[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        """Begin a piece of work, which handles its own faults."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def ended(self) -> None:
        """Wait until everything has ended by itself: work that must not be stopped midway."""
        while self._running:
            await asyncio.wait(tuple(self._running))

    async def close(self) -> None:
        """Stop what still runs, and wait until it has ended."""
        running = [task for task in self._running if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        for task in running:
            with suppress(asyncio.CancelledError):
                await task
