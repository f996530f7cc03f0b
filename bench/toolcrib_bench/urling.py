"""Verdicts on web addresses: what they give on labelled rows, what they cost, and what the guarded client costs."""

import asyncio
import gc
import ipaddress
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from toolcrib.core.heavy import heavy
from toolcrib.machine.http import LocalHttp
from toolcrib.safety.addresses import fault_of, read_address
from toolcrib.safety.reach import Judged, judge
from toolcrib.services.http import Network, Outgoing
from toolcrib_bench.figures import Figure, best, figure

DATA = Path(__file__).parents[1] / "data"
TIMES, REQUESTS, ROUNDS = 2_000, 200, 5
URLS = {
    "a name": "https://docs.example.com/guide/start?page=2",
    "an IPv4 address": "http://93.184.215.14/latest/meta-data/",
    "an IPv6 address": "https://[2606:4700:4700::1111]/dns-query",
    "an international name": "https://b\u00fccher.example/\u00fc",
}


def run() -> Iterator[Figure]:
    """The rows, the speed of a verdict, and the cost of the client."""
    yield from labelled()
    for name, url in URLS.items():
        floor = best(lambda u=url: _bare(u), TIMES) * 1e6
        yield figure("url", f"verdict without look-up, {name}", best(lambda u=url: judge(u), TIMES) * 1e6, "us", floor)
    yield from spread()
    guarded, core, bare = asyncio.run(_client())
    yield figure(
        "url", "a request over a kept connection, guarded client beside httpx2", guarded * 1e6, "us", bare * 1e6
    )
    yield figure("url", "the same beside httpcore2", guarded * 1e6, "us", core * 1e6)


def spread() -> Iterator[Figure]:
    """How long a verdict takes over all rows, their answers of DNS given: the middle, and the slowest hundredth."""
    every = [*rows("internal"), *rows("public")]
    taken: list[float] = []
    gc.collect()
    for row in every:
        low = float("inf")
        for _ in range(20):
            began = time.perf_counter()
            verdict(row)
            low = min(low, time.perf_counter() - began)
        taken.append(low * 1e6)
    taken.sort()
    yield figure("url", f"verdict over {len(every)} rows, p50", taken[len(taken) // 2], "us")
    yield figure("url", f"verdict over {len(every)} rows, p99", taken[len(taken) * 99 // 100], "us")


def labelled() -> Iterator[Figure]:
    """How many internal addresses are reached, and how many public ones refused."""
    internal, public = rows("internal"), rows("public")
    reached = [row for row in internal if _reaches_inside(verdict(row))]
    refused = [row for row in public if verdict(row).verdict == "deny"]
    yield figure("url", f"internal addresses reached, of {len(internal)}", len(reached), "rows")
    yield figure("url", f"public addresses refused, of {len(public)}", len(refused), "rows")


def rows(name: str) -> list[dict[str, Any]]:
    """The labelled rows."""
    return [msgspec.json.decode(line) for line in (DATA / f"url_{name}.jsonl").read_bytes().splitlines()]


def verdict(row: dict[str, Any]) -> Judged:
    """The verdict on a row."""
    return judge(row["url"], dns=row.get("dns"), redirects=row.get("redirects", ()), allow=row.get("allow"))


def _reaches_inside(judged: Judged) -> bool:
    if judged.verdict == "deny":
        return False
    address = read_address(judged.connected)
    return address is None or bool(fault_of(address))


def _bare(url: str) -> object:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return host


async def _client() -> tuple[float, float, float]:
    """Seconds for a request: with our client, with a bare httpcore2 one and with httpx2. Rounds take turns."""
    httpx2, core = heavy("httpx2"), heavy("httpcore2")
    async with _answering() as port:
        url = f"http://127.0.0.1:{port}/"
        ours = LocalHttp(Network(allow_private=(f"127.0.0.1:{port}",)))
        low = [float("inf")] * 3
        async with httpx2.AsyncClient(trust_env=False) as theirs, core.AsyncConnectionPool() as pool:
            ways: list[Callable[[], Awaitable[object]]] = [
                lambda: ours.send(Outgoing(url=url)),
                lambda: pool.request("GET", url),
                lambda: theirs.get(url),
            ]
            for _ in range(ROUNDS):
                low = [min(before, await _round(way)) for before, way in zip(low, ways, strict=True)]
        await ours.close()
    return low[0], low[1], low[2]


async def _round(way: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    for _ in range(REQUESTS):
        await way()
    return (time.perf_counter() - began) / REQUESTS


@asynccontextmanager
async def _answering() -> AsyncGenerator[int]:
    """A server on loopback that answers everything with 2 kB."""
    body = b"x" * 2048
    said = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    class Answering(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport: Any = transport

        def data_received(self, data: bytes) -> None:
            self.transport.write(said * data.count(b"\r\n\r\n"))

    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
