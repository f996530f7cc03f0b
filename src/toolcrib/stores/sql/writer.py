"""The thread that writes the audit: it takes what was handed over, and commits it in batches."""

import asyncio
import atexit
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from toolcrib.core.call import Record
from toolcrib.services.record.lines import Mark
from toolcrib.services.store import StoreError

MOST_WAITING = 100_000  # records
BYTES_WAITING = 256 * 1024 * 1024  # of arguments, while nothing can be written
BATCH = 8192
GATHER = 0.01  # seconds between the first record of a batch and its commit
BUSY, GATHER_BUSY = range(64, 600), 0.05  # after a batch of so many records: more of them share what a commit costs
BEAT = 20.0  # seconds between two signs of life, while calls are marked as running
LONGEST_PAUSE = 5.0  # seconds between two tries, while nothing can be written
CLOSE_TRIES = 3

Job: TypeAlias = Callable[[], None]
Plan: TypeAlias = Callable[[list[Record], list[Mark], list[Record], int], Job]
Waiter: TypeAlias = tuple[int, asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Writer:
    """Takes records from any thread.

    `plan` is given a batch, the new marks, the records of later batches and a number of lost ones. It makes the job
    that commits them; the job is done again until it succeeds.
    """

    def __init__(self, plan: Plan, beat: Job, *, most: int = MOST_WAITING) -> None:
        self._plan = plan
        self._beat = beat
        self._most = self._bound = most
        self._records: list[Record] = []
        self._marks: list[Mark] = []
        self._asleep = False
        self._bell = threading.Event()
        self._hurry = threading.Event()
        self._room = threading.Event()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._done = 0  # records that left the list at its front
        self._lost = 0
        self._size = 0  # of the last batch
        self._waiters: list[Waiter] = []
        self._started = 0.0
        self._thread = threading.Thread()
        self.trouble = ""
        atexit.register(self.finish)

    @property
    def full(self) -> bool:
        """Whether a further record would be lost."""
        return bool(self.trouble) and len(self._records) >= self._bound

    @property
    def lost(self) -> int:
        """How many records were given up and stand in no gap entry yet."""
        return self._lost

    def hand(self, record: Record) -> None:
        """Take a record. This is the hot path: a list and a flag."""
        self._records.append(record)
        if self._asleep or len(self._records) >= self._bound:
            self._rouse()

    def mark(self, mark: Mark) -> None:
        """Take the mark of a call that begins."""
        self._marks.append(mark)
        if self._asleep:
            self._rouse()

    async def settled(self) -> None:
        """Return when what was handed until now is committed."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._lock:
            ticket = self._done + len(self._records)
            if ticket <= self._done and not self._marks:
                return
            if not self._thread.is_alive() and self._closing.is_set():
                raise StoreError("The audit is closed: what was handed since cannot be written.")
            self._waiters.append((ticket, loop, future))
        self._hurry.set()
        self._rouse()
        await future

    def start(self) -> None:
        """Begin to write."""
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="toolcrib-audit", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Write what waits, and stop. Raises StoreError when it could not be written."""
        atexit.unregister(self.finish)
        self._closing.set()
        self._hurry.set()
        self._bell.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._records:
            raise StoreError(f"{len(self._records)} audit records could not be written: {self.trouble}")

    def _rouse(self) -> None:
        """Wake the thread; start it again if a fault of ours ended it; wait when it is far behind."""
        self._asleep = False
        self._bell.set()
        if not self._thread.is_alive() and not self._closing.is_set() and time.monotonic() - self._started > 1:
            self.start()
        while len(self._records) >= self._bound and not self.trouble and self._thread.is_alive():
            self._hurry.set()
            self._room.clear()
            self._room.wait(0.05)
        if len(self._records) > self._bound and self.trouble:
            with self._lock:
                self._records.pop()
                self._lost += 1

    def _run(self) -> None:
        try:
            while self._wait() and self._batch():
                pass
        finally:
            if not self._closing.is_set():
                self.trouble = "the audit writer stopped on a fault of its own; see the log"
            self._asleep = True
            self._answer(StoreError(self.trouble) if self.trouble else None)

    def _wait(self) -> bool:
        """Sleep until there is something to write, then let a little more gather. False: all is written, stop."""
        while not self._records and not self._marks:
            if self._closing.is_set():
                return False
            self._asleep = True
            if not self._records and not self._marks and not self._bell.wait(BEAT):
                self._try(self._beat)
            self._asleep = False
            self._bell.clear()
        self._hurry.wait(GATHER_BUSY if self._size in BUSY else GATHER)
        self._hurry.clear()
        return True

    def _batch(self) -> bool:
        """Commit one batch, however often it has to be tried. False: the program ends, and it could not be done."""
        batch = self._records[:BATCH]  # records before marks: the mark of each is then among those taken, or known
        marks = self._marks[:]
        lost = self._lost
        job = self._plan(batch, marks, self._records[BATCH:], lost)
        pause = 0.1
        tries = 0
        while not self._try(job):
            tries += 1
            if self._closing.is_set() and tries >= CLOSE_TRIES:
                return False
            self._hold_back()
            self._closing.wait(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        with self._lock:
            del self._records[: len(batch)]
            del self._marks[: len(marks)]
            self._done += len(batch)
            self._lost -= lost
        self._size = len(batch)
        self._bound = self._most
        self._room.set()
        self._answer(None)
        return True

    def _try(self, work: Job) -> bool:
        try:
            work()
        except StoreError as error:
            self.trouble = error.message
            self._answer(error)
            return False
        self.trouble = ""
        return True

    def _hold_back(self) -> None:
        """While nothing can be written, take no more than memory can bear."""
        if sum(len(record.arguments) for record in self._records) > BYTES_WAITING:
            self._bound = min(self._bound, len(self._records))

    def _answer(self, error: StoreError | None) -> None:
        """Tell those who wait for what is done now, or all of them that it cannot be done."""
        with self._lock:
            ready = [waiter for waiter in self._waiters if error is not None or waiter[0] <= self._done]
            self._waiters = [waiter for waiter in self._waiters if waiter not in ready]
        for _, loop, future in ready:
            with suppress(RuntimeError):  # its loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_resolve, future, error)


def _resolve(future: "asyncio.Future[None]", error: StoreError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
