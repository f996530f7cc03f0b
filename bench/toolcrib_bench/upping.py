"""What `toolcrib up` costs: from its start to the first 200 of /readyz, and what it uses while nobody asks."""

import time
from collections.abc import Iterator

from toolcrib_bench.figures import Figure, figure
from toolcrib_bench.server import home, serving

IDLE = 10.0
STARTS = 5


def run() -> Iterator[Figure]:
    """The best of several warm starts; then ten idle seconds."""
    with home() as place:
        starts: list[float] = []
        ends: list[float] = []
        with serving(place) as server:
            first = server.ready
            server.key()
        for _ in range(STARTS):
            with serving(place) as server:
                starts.append(server.ready)
                ends.append(server.end())
        yield figure("up", "first start on a new home, to /readyz", first, "s")
        yield figure("up", "warm start, to /readyz (target 2.5)", min(starts), "s")
        yield figure("up", "told to end, to its end", min(ends), "s")
        with serving(place) as server:
            time.sleep(2)
            before = server.cpu()
            time.sleep(IDLE)
            yield figure("up", "idle CPU (target 2)", (server.cpu() - before) / IDLE * 100, "%")
            yield figure("up", "idle memory (target 160)", server.memory(), "MiB")
