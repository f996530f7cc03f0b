"""How figures are taken and written."""

import gc
import time
from collections.abc import Awaitable, Callable
from typing import Any

Figure = dict[str, Any]


def figure(bench: str, name: str, value: float, unit: str, floor: float | None = None) -> Figure:
    """One line. `ratio` is value over floor."""
    return {
        "bench": bench,
        "figure": name,
        "value": round(value, 4),
        "unit": unit,
        "floor": None if floor is None else round(floor, 4),
        "ratio": None if not floor else round(value / floor, 3),
    }


def best(run: Callable[[], object], times: int, repeats: int = 7) -> float:
    """The best mean of several rounds, in seconds: the round that the rest of the machine disturbed least."""
    low = float("inf")
    gc.collect()
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(times):
            run()
        low = min(low, (time.perf_counter() - began) / times)
    return low


async def best_by_turns(*runs: Callable[[], Awaitable[object]], times: int = 500, rounds: int = 60) -> list[float]:
    """The same for several that are compared, in short rounds by turns: what disturbs one disturbs them all."""
    low = [float("inf")] * len(runs)
    for i in [*range(len(runs))] * rounds:
        low[i] = min(low[i], await best_async(runs[i], times, 1))
    return low


async def best_async(run: Callable[[], Awaitable[object]], times: int, repeats: int = 7) -> float:
    """The same for what is awaited."""
    low = float("inf")
    gc.collect()
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(times):
            await run()
        low = min(low, (time.perf_counter() - began) / times)
    return low
