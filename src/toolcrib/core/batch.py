"""The calls of one model step: side by side where that is safe, one after the other where it is not.

A run of consecutive calls whose tools are concurrency-safe is one batch; every other call is alone. Results come back
in call order, and every call is answered, also after a stop.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from toolcrib.core.call import Caller, Outcome, Request, Status
from toolcrib.core.errors import Cancelled
from toolcrib.core.heavy import heavy
from toolcrib.core.resolver import View
from toolcrib.core.run import Line

AT_ONCE = 10
QUIET_ENOUGH = 16  # calls without a wait, after which a tool needs no task of its own
One = Callable[[Request], Awaitable[Outcome]]


def batches(view: View, requests: Sequence[Request]) -> Iterator[list[Request]]:
    """The requests in order, cut into what may run together."""

    def together(request: Request) -> bool:
        tool = view.registry.get(request.tool)
        return tool is not None and tool.traits.parallel

    for parallel, group in groupby(requests, together):
        if parallel:
            yield list(group)
        else:
            yield from ([request] for request in group)


class Stop:
    """A person's stop: what has not begun stays undone, what runs is cancelled, and every call is answered."""

    def __init__(self) -> None:
        self.asked = False
        self._cancels: list[Callable[[], object]] = []

    def __call__(self) -> None:
        """Stop the batch."""
        self.asked = True
        for cancel in self._cancels:
            cancel()

    def then(self, cancel: Callable[[], object]) -> None:
        """What to do on a stop."""
        self._cancels.append(cancel)


async def run_batch(
    view: View,
    caller: Caller,
    requests: Sequence[Request],
    one: One,
    *,
    at_once: int = AT_ONCE,
    stop: Stop | None = None,
    skip: Callable[[Request], Outcome],
) -> list[Outcome]:
    """Answer all requests, in order. `skip` answers, and records, a call that a stop kept from running."""
    lines = _lines(view, caller)
    if stop is None and all([_quiet(lines, request) for request in requests]):  # noqa: C419 - half the time of a generator
        return [await one(request) for request in requests]  # in order, as every cut of them would be
    answers: list[Outcome] = []
    for batch in batches(view, requests):
        if stop is not None and stop.asked:
            answers.extend(skip(request) for request in batch)
        elif len(batch) == 1 and stop is None:
            answers.append(await one(batch[0]))
        else:
            answers.extend(await _side_by_side(lines, batch, one, skip, _Bounds(at_once, stop)))
    return answers


def _lines(view: View, caller: Caller) -> dict[str, Line]:
    return view.team_lines if caller.team else view.lines


class _Bounds(Struct):
    """How many at once, and what may end them all."""

    at_once: int
    stop: Stop | None


async def _side_by_side(
    lines: dict[str, Line], batch: Sequence[Request], one: One, skip: Callable[[Request], Outcome], bounds: _Bounds
) -> list[Outcome]:
    """One task for each call that may wait.

    A tool whose last calls never waited is called straight: a task would cost more than the call, and there is
    nothing to overlap.
    """
    stop = bounds.stop
    waits = [stop is not None or not _quiet(lines, request) for request in batch]
    if not any(waits):
        return [await one(request) for request in batch]
    asyncio = heavy("asyncio")
    turn = asyncio.Semaphore(bounds.at_once)
    answers: dict[int, Outcome] = {}

    async def in_turn(i: int) -> None:
        async with turn:
            if stop is None or not stop.asked:
                answers[i] = _cut_off(batch[i])  # stands if the call is cancelled; its record is written by itself
                answers[i] = await one(batch[i])

    tasks = [asyncio.ensure_future(in_turn(i)) for i, wait in enumerate(waits) if wait]
    if stop is not None:
        stop.then(lambda: [task.cancel() for task in tasks])
    try:
        await asyncio.sleep(0)  # the ones that wait begin first
        for i, wait in enumerate(waits):
            if not wait:
                answers[i] = await one(batch[i])
        await asyncio.gather(*tasks, return_exceptions=stop is not None)
    finally:
        for task in tasks:
            task.cancel()
    return [answers.get(i) or skip(request) for i, request in enumerate(batch)]


def _cut_off(request: Request) -> Outcome:
    """The answer of a call that a stop ended midway."""
    fault = Cancelled(f"{request.tool} was stopped before it ended.").as_fault()
    return Outcome(id=request.id, tool=request.tool, status=Status.CANCELLED, text=fault.message, error=fault)


def _quiet(lines: dict[str, Line], request: Request) -> bool:
    line = lines.get(request.tool)
    return line is not None and line.quiet >= QUIET_ENOUGH
