"""Verdicts on web addresses: what they give on labelled rows, what they cost, and what the guarded client costs."""

import asyncio
import ipaddress
import time
from collections.abc import AsyncGenerator, Iterator
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
    guarded, bare = asyncio.run(_client())
    yield figure("url", "a request over a kept connection, guarded client", guarded * 1e6, "us", bare * 1e6)


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


async def _client() -> tuple[float, float]:
    """Seconds for a request: with our client, and with a bare httpx2 one. Rounds take turns."""
    httpx2 = heavy("httpx2")
    async with _answering() as port:
        url = f"http://127.0.0.1:{port}/"
        ours = LocalHttp(Network(allow_private=(f"127.0.0.1:{port}",)))
        guarded = bare = float("inf")
        async with httpx2.AsyncClient(trust_env=False) as theirs:
            for _ in range(ROUNDS):
                began = time.perf_counter()
                for _ in range(REQUESTS):
                    await ours.send(Outgoing(url=url))
                guarded = min(guarded, (time.perf_counter() - began) / REQUESTS)
                began = time.perf_counter()
                for _ in range(REQUESTS):
                    await theirs.get(url)
                bare = min(bare, (time.perf_counter() - began) / REQUESTS)
        await ours.close()
    return guarded, bare


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
