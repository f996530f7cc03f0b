"""Programs under way: what they print is kept within bounds, and those in the background belong to their caller.

A `Job` follows one program from its start to its end. `Processes` keeps the jobs in the background, by agent, team, user
and session: nobody sees another's. It owns the tasks that follow them, and ends them all when the crib is closed.
"""

import time
from collections.abc import Callable
from contextlib import suppress

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.services.commands import Ended, Running

KEPT_OF_JOB = 262_144  # bytes
MARGIN = 8_192  # bytes that are looked at before what is shown, so that no secret is cut where it begins
LINGER = 0.3  # seconds for what a program printed last, when something that it started holds its output open
QUIET = 0.2  # seconds after which a line without an end is taken for a question
OVER = 10  # ended jobs that are kept, of one owner
LETS_GO = 5.0  # seconds that are waited for the last of a program that was ended
ALL = 64  # jobs of all owners together
Owner = tuple[str, str, str, str]
Scrub = Callable[[str], str]


class Kept:
    """The newest bytes of an output."""

    def __init__(self, most: int) -> None:
        self.total = 0
        self._most = most
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        self._bytes += data
        if len(self._bytes) > 2 * self._most:
            del self._bytes[: -self._most]

    @property
    def first(self) -> int:
        """The place of the first byte that is still here."""
        return self.total - len(self._bytes)

    def since(self, start: int, end: int | None = None) -> bytes:
        """The bytes from one place to another; those that are gone are left out."""
        return bytes(self._bytes[max(0, start - self.first) : None if end is None else max(0, end - self.first)])


class Job:
    """A program that was started, and what it has printed."""

    def __init__(self, id: str, command: str, running: Running, scrub: Scrub) -> None:  # noqa: A002 - as elsewhere
        self.id = id
        self.command = command
        self.where = ""
        self.watched = False  # it was asked about when it was started, so its input is judged too
        self.running = running
        self.began = time.monotonic()
        self.ended: Ended | None = None
        self.kept = Kept(KEPT_OF_JOB)
        self.told = 0  # how far its owner has read
        self._last = self.began
        self._scrub = scrub
        self._over = heavy("asyncio").Event()
        self._moved = heavy("asyncio").Event()
        self._following = heavy("asyncio").ensure_future(self._follow())

    @property
    def state(self) -> str:
        """One or two words."""
        if self.ended is None:
            return "running"
        if self.ended.why == "exit":
            return f"exit code {self.ended.code}"
        return f"signal {self.ended.signal}" if self.ended.why == "signal" else self.ended.why

    async def over(self) -> Ended:
        """Wait for its end."""
        await self._over.wait()
        if self.ended is None:  # following it broke: say why
            await self._following
        return self.ended or Ended(why="stopped")

    async def stop(self, grace: float = 1.0) -> None:
        """End it and all that it started, and let go of it."""
        if self.ended is None:
            with suppress(ToolFailed, TimeoutError):
                await self.running.stop(grace=grace)
        await heavy("asyncio").wait([self._following], timeout=LETS_GO)

    def shown(self, start: int, end: int | None = None) -> str:
        """A part of the output as it may be seen: scrubbed together with what stands before it."""
        before = self.kept.since(max(0, start - MARGIN), start)
        whole = self._scrub(_text(before + self.kept.since(start, end)))
        lead = self._scrub(_text(before)) if before else ""
        return whole[_alike(lead, whole) :]

    def tail(self, most: int) -> tuple[str, int]:
        """The last of the output, and how many bytes before it are not shown."""
        start = max(0, self.kept.total - most)
        if start:
            line = self.kept.since(start, start + 2000).find(b"\n") + 1
            start += line if line < most else 0
        return self.shown(start), start

    def news(self) -> tuple[str, int]:
        """What was printed since it was last asked for, in whole lines while it runs, and how much of that is gone."""
        start, end = max(self.told, self.kept.first), self._end_of_news()
        lost, self.told = start - self.told, end
        return self.shown(start, end), lost

    async def moved(self, seconds: float) -> None:
        """Wait until there is something new to tell, or it has ended; not longer than that."""
        asyncio, until = heavy("asyncio"), time.monotonic() + seconds
        while self.ended is None and self._end_of_news() <= self.told and (left := until - time.monotonic()) > 0:
            self._moved.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), min(left, QUIET))

    def _end_of_news(self) -> int:
        """How far there is something to tell."""
        if self.ended is not None or time.monotonic() - self._last >= QUIET:
            return self.kept.total
        start = max(self.told, self.kept.first)
        return start + self.kept.since(start).rfind(b"\n") + 1

    async def _follow(self) -> None:
        asyncio = heavy("asyncio")
        reading = asyncio.ensure_future(self._read())
        try:
            ended = await self.running.wait()
            await asyncio.wait([reading], timeout=LINGER)
            self.ended = ended
        finally:
            reading.cancel()
            self._over.set()
            self._moved.set()

    async def _read(self) -> None:
        while data := await self.running.read():
            self._last = time.monotonic()
            self.kept.add(data)
            self._moved.set()


class Processes:
    """The jobs in the background."""

    def __init__(self, most: int = 5) -> None:
        self._most = most
        self._jobs: dict[Owner, dict[str, Job]] = {}
        self._numbers: dict[Owner, int] = {}
        self._starting: dict[Owner, int] = {}

    def admit(self, caller: Caller) -> "Admission":
        """Room for one more, or `too_many_processes`."""
        return Admission(self, caller)

    def room(self, owner: Owner) -> None:
        """Refuse when there is none."""
        running = sum(job.ended is None for job in self._jobs.get(owner, {}).values()) + self._starting.get(owner, 0)
        everywhere = sum(job.ended is None for jobs in self._jobs.values() for job in jobs.values())
        if running < self._most and everywhere + sum(self._starting.values()) < ALL:
            return
        what = f"{running} background processes run already, and {self._most} is the most."
        if running < self._most:
            what = "Too many background processes of other agents run at the moment."
        raise ToolFailed(what, code="too_many_processes", hint="End one with the action kill, or wait for one to end.")

    def reserve(self, owner: Owner, by: int) -> None:
        """Count one that is being started."""
        self._starting[owner] = self._starting.get(owner, 0) + by
        if not self._starting[owner]:
            del self._starting[owner]

    def keep(self, owner: Owner, make: Callable[[str], Job]) -> Job:
        """Keep a job under an id of its owner; the oldest that have ended make room."""
        self._numbers[owner] = number = self._numbers.get(owner, 0) + 1
        jobs = self._jobs.setdefault(owner, {})
        job = jobs[f"p{number}"] = make(f"p{number}")
        for old in [one.id for one in jobs.values() if one.ended is not None][:-OVER]:
            del jobs[old]
        self._forget()
        return job

    def of(self, caller: Caller) -> list[Job]:
        """The caller's own, the oldest first."""
        return list(self._jobs.get(owner_of(caller), {}).values())

    def find(self, caller: Caller, id: str) -> Job:  # noqa: A002 - as elsewhere
        """One of the caller's own. Raises `process_not_found`."""
        job = self._jobs.get(owner_of(caller), {}).get(id)
        if job is None:
            known = ", ".join(self._jobs.get(owner_of(caller), {})) or "none"
            what = f"You have no background process {id[:40]!r}."
            raise ToolFailed(what, code="process_not_found", hint=f"Yours: {known}.")
        return job

    async def close(self) -> None:
        """End every one of them."""
        jobs = [job for owned in self._jobs.values() for job in owned.values()]
        self._jobs.clear()
        if jobs:
            await heavy("asyncio").gather(*(job.stop() for job in jobs), return_exceptions=True)

    def _forget(self) -> None:
        """Of all owners together only so many ended jobs are kept."""
        ended = [
            (job.began, owner, job.id)
            for owner, jobs in self._jobs.items()
            for job in jobs.values()
            if job.ended is not None
        ]
        for _, owner, id_ in sorted(ended)[: -ALL or None]:
            del self._jobs[owner][id_]


class Admission:
    """A place in the background, held while the program is started."""

    def __init__(self, processes: Processes, caller: Caller) -> None:
        self._processes = processes
        self._owner = owner_of(caller)

    def __enter__(self) -> Callable[[Callable[[str], Job]], Job]:
        self._processes.room(self._owner)
        self._processes.reserve(self._owner, 1)
        return lambda make: self._processes.keep(self._owner, make)

    def __exit__(self, *_: object) -> None:
        self._processes.reserve(self._owner, -1)


def owner_of(caller: Caller) -> Owner:
    """Whose a process is."""
    return caller.agent, caller.team, caller.user, caller.session


def _text(data: bytes) -> str:
    """Bytes as text. A character that was cut at the beginning is left out."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:  # the rest of a character
        start += 1
    return data[start:].decode("utf-8", "replace")


def _alike(first: str, second: str) -> int:
    """How many characters two texts have in common at their beginning."""
    if second.startswith(first):
        return len(first)
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if second.startswith(first[:middle]) else (low, middle - 1)
    return low
