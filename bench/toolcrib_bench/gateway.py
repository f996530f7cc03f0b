"""The gateway beside a bare pass-through, and beside what peers of it there are on this machine.

All of it runs on loopback, bounded in count and time. FastMCP's proxy is measured too where TOOLCRIB_BENCH_FASTMCP names
a Python that has it, and npm's mcp-proxy where TOOLCRIB_BENCH_NPM names a folder with it.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from toolcrib_bench.figures import Figure, figure
from toolcrib_bench.mcp_load import Taken, Wire, begin, better, measured, memory, message

MANY, TIMES, SECONDS = 32, 3000, 3.0
ROUNDS = 3  # by turns; of each figure the best counts, for the floor as for the others: what disturbs only adds
CALL = {"arguments": {"text": "hello"}}
CONFIG = """
mcpServers:
  echo: {{url: "http://127.0.0.1:{echo}/mcp", type: http, at_once: 64}}
  large: {{url: "http://127.0.0.1:{large}/mcp", type: http}}
agents:
  bench: {{tools: ["group:mcp:echo"]}}
  reader: {{tools: ["group:mcp:large"]}}
limits: {{rate: 100000000}}
flow: {{mode: ask}}
confirm: [destructive]
"""
ALONE = "agents: {bench: {}}\n"
FASTMCP = (
    "import sys; from fastmcp.server import create_proxy; "
    "create_proxy(sys.argv[1]).run(transport='http', port=int(sys.argv[2]), host='127.0.0.1', show_banner=False)"
)


class Peer:
    """Something that is measured."""

    def __init__(
        self, name: str, port: int, path: str, tool: str = "echo", *, pid: int, key: str = "tcb_bench"
    ) -> None:
        self.name, self.port, self.path, self.tool, self.pid, self.key = name, port, path, tool, pid, key
        self.best: Taken | None = None


def run() -> Iterator[Figure]:
    """The same calls through all of them, by turns."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        echo, large, bare, ours, alone = (free_port() for _ in range(5))
        stack.enter_context(started([sys.executable, "-m", "toolcrib_bench.mcp_echo", str(echo)], echo))
        stack.enter_context(started([sys.executable, "-m", "toolcrib_bench.mcp_echo", str(large), "1000"], large))
        passing = [sys.executable, "-m", "toolcrib_bench.passthrough", str(bare), str(echo)]
        floor = Peer("pass-through", bare, "/mcp", pid=stack.enter_context(started(passing, bare)))
        idle, _, _ = stack.enter_context(served(folder / "alone", alone, ALONE))
        pid, key, child = stack.enter_context(served(folder / "home", ours, CONFIG.format(echo=echo, large=large)))
        gateway = Peer("gateway", ours, "/mcp/bench", "mcp_echo_echo", pid=pid, key=key)
        peers = [floor, gateway, *others(stack, echo)]
        asyncio.run(compared(peers))
        yield from told(peers, floor, gateway)
        first, after = asyncio.run(listing(Peer("", ours, "/mcp/reader", pid=pid, key=key)))
        yield figure("gateway", "tools/list of 1,000 tools, the first", first, "ms")
        yield figure("gateway", "tools/list of 1,000 tools, after the first", after, "ms")
        yield figure(
            "gateway", "memory after the load, over a server without downstreams", memory(pid) - memory(idle), "MiB"
        )
        yield figure("gateway", "memory of a server without downstreams", memory(idle), "MiB")
        del child


def told(peers: Sequence[Peer], floor: Peer, gateway: Peer) -> Iterator[Figure]:
    """The figures of each, beside the floor."""
    low = floor.best
    for peer in peers:
        if (took := peer.best) is not None and low is not None:
            yield figure("gateway", f"{peer.name}: p50, one at a time", took.p50, "ms", low.p50)
            yield figure("gateway", f"{peer.name}: p99, one at a time", took.p99, "ms", low.p99)
            yield figure("gateway", f"{peer.name}: calls a second, {MANY} at a time", took.rate, "1/s", low.rate)
            yield figure("gateway", f"{peer.name}: CPU a call, one at a time", took.cpu_one, "ms", low.cpu_one)
            yield figure("gateway", f"{peer.name}: CPU a call, {MANY} at a time", took.cpu_many, "ms", low.cpu_many)
    del gateway


async def compared(peers: Sequence[Peer]) -> None:
    """Rounds by turns: what disturbs one disturbs them all."""
    for _ in range(ROUNDS):
        for peer in peers:
            headers = await begin(peer.port, peer.path, peer.key)
            wires = [await Wire(peer.port, peer.path, headers).open() for _ in range(MANY)]
            await listed(wires[0], peer.tool)
            body = message("tools/call", {"name": peer.tool, **CALL})
            slow = peer.name not in {"pass-through", "gateway"}
            took = await measured(wires, body, peer.pid, times=TIMES // 10 if slow else TIMES, seconds=SECONDS)
            peer.best = took if peer.best is None else better(took, peer.best)
            for wire in wires:
                wire.close()


async def listed(wire: Wire, tool: str) -> None:
    """Wait until what is behind it was connected."""
    frame = wire.frame(message("tools/list", {}))
    for _ in range(200):
        _, body = await wire.ask(frame)
        if f'"{tool}"'.encode() in body:
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(f"there is no tool {tool}")


async def listing(peer: Peer) -> tuple[float, float]:
    """Milliseconds for the first list, and for those that follow."""
    headers = await begin(peer.port, peer.path, peer.key)
    wire = await Wire(peer.port, peer.path, headers).open()
    await listed(wire, "mcp_large_echo")
    wire = await Wire(peer.port, f"{peer.path}/large", await begin(peer.port, f"{peer.path}/large", peer.key)).open()
    frame = wire.frame(message("tools/list", {}))
    took: list[float] = []
    body = b""
    for _ in range(50):
        began = time.perf_counter()
        _, body = await wire.ask(frame)
        took.append((time.perf_counter() - began) * 1e3)
    assert body.count(b'"inputSchema"') == 1000
    wire.close()
    return took[0], sorted(took[1:])[24]


def others(stack: ExitStack, echo: int) -> Iterator[Peer]:
    """Peers that are there."""
    fastmcp, npm = os.environ.get("TOOLCRIB_BENCH_FASTMCP"), os.environ.get("TOOLCRIB_BENCH_NPM")
    if fastmcp:
        port = free_port()
        pid = stack.enter_context(started([fastmcp, "-c", FASTMCP, f"http://127.0.0.1:{echo}/mcp", str(port)], port))
        yield Peer("FastMCP proxy", port, "/mcp", pid=pid)
    program = Path(npm or "", "node_modules", ".bin", "mcp-proxy")
    if npm and program.exists():
        port = free_port()
        line = [str(program), "--port", str(port), "--server", "stream", "--"]
        child = [sys.executable, "-m", "toolcrib_bench.mcp_echo", "stdio"]
        yield Peer("mcp-proxy (npm)", port, "/mcp", pid=stack.enter_context(started([*line, *child], port)))


@contextmanager
def started(line: Sequence[str], port: int) -> Generator[int]:
    """A program that listens there; its process id."""
    child = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        reached(port)
        yield child.pid
    finally:
        child.terminate()
        child.wait()


@contextmanager
def served(home: Path, port: int, config: str) -> Generator[tuple[int, str, "subprocess.Popen[str]"]]:
    """A server of ours: its process id, and a key."""
    home.mkdir()
    (home / "toolcrib.yaml").write_text(config, encoding="utf-8")
    line = [sys.executable, "-m", "toolcrib_bench.gateway_server", str(home), str(port)]
    child = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    try:
        said = child.stdout.readline() if child.stdout else ""
        yield child.pid, json.loads(said)["key"], child
    finally:
        child.terminate()
        child.wait()


def reached(port: int) -> None:
    """Wait until something listens."""
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on {port}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
