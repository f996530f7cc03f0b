"""Load on loopback: one JSON-RPC request after the other over kept connections, the same for everything compared."""

import asyncio
import time
from pathlib import Path

import msgspec
from msgspec import Struct

TICK = 100  # clock ticks a second, as /proc counts them
encode, decode = msgspec.json.encode, msgspec.json.decode
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Taken(Struct):
    """What a run took."""

    p50: float  # milliseconds, one request at a time
    p99: float
    rate: float  # requests a second, 32 at a time
    cpu_one: float  # milliseconds of the server's CPU for a request, one at a time
    cpu_many: float  # the same, 32 at a time


def better(one: Taken, other: Taken) -> Taken:
    """The best of two runs, figure by figure."""
    return Taken(
        min(one.p50, other.p50),
        min(one.p99, other.p99),
        max(one.rate, other.rate),
        min(one.cpu_one, other.cpu_one),
        min(one.cpu_many, other.cpu_many),
    )


class Wire:
    """One kept connection."""

    def __init__(self, port: int, path: str, headers: dict[str, str]) -> None:
        self.port, self.path = port, path
        self.headers = headers
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def open(self) -> "Wire":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        return self

    def frame(self, body: bytes) -> bytes:
        lines = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        )
        return head.encode() + body

    async def ask(self, frame: bytes) -> tuple[bytes, bytes]:
        """The head and the body of an answer."""
        self.writer.write(frame)
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b"text/event-stream" in head:
            return head, await self._event()
        size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or b"0")
        return head, await self.reader.readexactly(size) if size else b""

    async def _event(self) -> bytes:
        """The answer in a stream of events, sent in chunks."""
        found = b""
        while (size := int(await self.reader.readline(), 16)) > 0:
            found += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return next(line[5:].strip() for line in found.splitlines() if line.startswith(b"data:") and len(line) > 7)

    def close(self) -> None:
        self.writer.close()


def message(method: str, params: object) -> bytes:
    return encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


async def begin(port: int, path: str, key: str) -> dict[str, str]:
    """The headers of a session."""
    headers = {"Authorization": f"Bearer {key}"}
    wire = await Wire(port, path, headers).open()
    head, body = await wire.ask(wire.frame(message("initialize", HELLO)))
    assert b'"result"' in body, body
    name = head.lower().partition(b"mcp-session-id:")[2].partition(b"\r\n")[0].strip()
    at = head.lower().find(name) if name else -1
    if at >= 0:
        headers["Mcp-Session-Id"] = head[at : at + len(name)].decode()
    headers["Mcp-Protocol-Version"] = "2025-11-25"
    wire.close()
    return headers


async def measured(wires: list[Wire], body: bytes, pid: int, *, times: int, seconds: float) -> Taken:
    """One at a time, then as many as there are connections."""
    first = wires[0]
    frame = first.frame(body)
    answer = b""
    for _ in range(min(200, times)):
        _, answer = await first.ask(frame)
    assert b'"result"' in answer, answer[:500]
    assert b'"isError":true' not in answer, answer[:500]
    took: list[float] = []
    before = cpu(pid)
    for _ in range(times):
        began = time.perf_counter()
        await first.ask(frame)
        took.append(time.perf_counter() - began)
    one = (cpu(pid) - before) / times
    took.sort()
    before, began, done = cpu(pid), time.perf_counter(), [0]

    async def work(wire: Wire, number: int) -> None:
        mine = wire.frame(body.replace(b'"id":1,', b'"id":%d,' % number, 1))  # peers mix up two requests of one id
        while time.perf_counter() - began < seconds:
            await wire.ask(mine)
            done[0] += 1

    async with asyncio.TaskGroup() as group:
        for number, wire in enumerate(wires, 2):
            group.create_task(work(wire, number))
    rate = done[0] / (time.perf_counter() - began)
    many = (cpu(pid) - before) / done[0]
    return Taken(took[times // 2] * 1e3, took[times * 99 // 100] * 1e3, rate, one * 1e3, many * 1e3)


def cpu(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory(pid: int) -> float:
    """MiB that a process holds."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0
