"""Ten concurrency-safe calls as one batch, beside a bare `asyncio.gather` of ten coroutines."""

import asyncio
from collections.abc import Iterator

from toolcrib import Crib
from toolcrib.core.call import Request
from toolcrib_bench.calling import RAW, add, config
from toolcrib_bench.figures import Figure, best_by_turns, figure

TIMES = 100


def run() -> Iterator[Figure]:
    """A tool that never waits, and one that waits once."""
    for name, ours, floor in asyncio.run(_figures()):
        yield figure("batch", name, ours * 1e6, "us", floor * 1e6)


async def _figures() -> list[tuple[str, float, float]]:
    async def nap(a: int, b: int) -> int:
        """Add after a wait."""
        await asyncio.sleep(0)
        return a + b

    from toolcrib import tool

    slow = tool(effect="read", parallel=True)(nap)
    crib = Crib([add, slow], {"clerk": ["add", "nap"]}, config=config())
    turn = await crib.turn("clerk", session="s1")
    quick, waits = [Request("add", RAW)] * 10, [Request("nap", RAW)] * 10
    for _ in range(3):
        await turn.batch(quick)
    ours, waited, gathered, napped = await best_by_turns(
        lambda: turn.batch(quick),
        lambda: turn.batch(waits),
        lambda: asyncio.gather(*[add(a=17, b=25) for _ in range(10)]),
        lambda: asyncio.gather(*[nap(a=17, b=25) for _ in range(10)]),
        times=TIMES,
    )
    return [
        ("10 calls, all guards on", ours, gathered),
        ("10 calls that wait, all guards on", waited, napped),
    ]
