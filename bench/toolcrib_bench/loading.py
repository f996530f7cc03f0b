"""Two hundred watch the events while fifty calls a second are made: errors, delays, and whether memory stays flat.

It takes TOOLCRIB_BENCH_SECONDS (30 unless it says otherwise; the proof takes 300).
"""

import asyncio
import json
import os
import time
from collections.abc import Iterator
from statistics import median, quantiles

from msgspec import Struct

from toolcrib_bench.figures import Figure, figure
from toolcrib_bench.server import Server, home, serving

WATCHERS, RATE = 200, 50
BODY = json.dumps({"agent": "helper", "tool": "think", "arguments": {"thought": "a thought"}}).encode()


class Tally(Struct):
    """What came of it."""

    delays: list[float] = []
    errors: list[str] = []
    events: int = 0
    memory: list[float] = []


def run() -> Iterator[Figure]:
    """One run."""
    seconds = float(os.environ.get("TOOLCRIB_BENCH_SECONDS", "30"))
    with home() as place, serving(place) as server:
        tally = Tally()
        asyncio.run(_load(server, server.key(), seconds, tally))
    calls = len(tally.delays)
    yield figure("load", f"calls in {seconds:.0f} s", calls, "calls")
    yield figure("load", "errors", len(tally.errors), "errors")
    yield figure(
        "load", "events that reached a watcher, of those that should", tally.events / (calls * WATCHERS), "share"
    )
    yield figure("load", "delay of a call, median", median(tally.delays) * 1e3, "ms")
    yield figure("load", "delay of a call, p99", quantiles(tally.delays, n=100)[98] * 1e3, "ms")
    fifth = max(1, len(tally.memory) // 5)
    yield figure("load", "memory at the end", tally.memory[-1], "MiB", tally.memory[fifth])
    for error in sorted(set(tally.errors))[:5]:
        yield {"bench": "load", "error": error}


async def _load(server: Server, key: str, seconds: float, tally: Tally) -> None:
    head = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {key}\r\n"
    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        watching = [group.create_task(_watch(server.port, head, ready, tally)) for _ in range(WATCHERS)]
        for _ in range(WATCHERS):
            await ready.acquire()
        asking = group.create_task(_ask(server.port, head, seconds, tally))
        while not asking.done():
            tally.memory.append(server.memory())
            await asyncio.sleep(1)
        await asyncio.sleep(2)
        for one in watching:
            one.cancel()


async def _watch(port: int, head: str, ready: asyncio.Semaphore, tally: Tally) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET /api/v1/events?kinds=call HTTP/1.1\r\n{head}\r\n".encode())
    try:
        while line := await reader.readline():
            if line.startswith(b"event: hello"):
                ready.release()
            elif line.startswith(b"event: call"):
                tally.events += 1
            elif line.startswith(b"event: bye"):
                break
        tally.errors.append("a stream ended")
    except ConnectionError as error:
        tally.errors.append(f"stream: {error}")
        ready.release()
    finally:
        writer.close()


async def _ask(port: int, head: str, seconds: float, tally: Tally) -> None:
    """So many calls a second, over a few kept connections."""
    idle: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _ in range(20):
        idle.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    sent = f"POST /api/v1/calls HTTP/1.1\r\n{head}Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(int(seconds * RATE)):
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
            group.create_task(_one(idle, sent.encode() + BODY, tally))
    while not idle.empty():
        idle.get_nowait()[1].close()


async def _one(
    idle: "asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]", sent: bytes, tally: Tally
) -> None:
    reader, writer = await idle.get()
    began = time.perf_counter()
    writer.write(sent)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
    )
    body = json.loads(await reader.readexactly(length))
    tally.delays.append(time.perf_counter() - began)
    if not head.startswith(b"HTTP/1.1 200") or body.get("status") != "done":
        tally.errors.append(f"{head[:20]!r} {body.get('code') or body.get('status')}")
    idle.put_nowait((reader, writer))
