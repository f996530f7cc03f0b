"""Ten concurrency-safe calls as one batch, beside a bare `asyncio.gather` of ten coroutines."""

import asyncio
from collections.abc import Iterator

from toolcrib import Crib
from toolcrib.core.call import Request
from toolcrib_bench.calling import RAW, add, config
from toolcrib_bench.figures import Figure, best_async, figure

TIMES = 2_000


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
    gathered = await best_async(lambda: asyncio.gather(*[add(a=17, b=25) for _ in range(10)]), TIMES)
    napped = await best_async(lambda: asyncio.gather(*[nap(a=17, b=25) for _ in range(10)]), TIMES)
    return [
        ("10 calls, all guards on", await best_async(lambda: turn.batch(quick), TIMES), gathered),
        ("10 calls that wait, all guards on", await best_async(lambda: turn.batch(waits), TIMES), napped),
    ]
