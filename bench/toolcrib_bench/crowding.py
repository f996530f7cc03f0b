"""Two hundred MCP clients of fifty agents, at all that clients do: errors that are no documented refusal, and memory.

It takes TOOLCRIB_BENCH_SECONDS (30 unless it says otherwise; the proof takes 600).
"""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct, field

from toolcrib_bench.figures import Figure, figure
from toolcrib_bench.gateway import free_port, served, started
from toolcrib_bench.mcp_load import Wire, begin, decode, memory, message

CLIENTS, AGENTS, PAUSE = 200, 50, 0.6
CONFIG = """
mcpServers:
  echo: {{url: "http://127.0.0.1:{echo}/mcp", type: http, at_once: 64}}
  large: {{url: "http://127.0.0.1:{large}/mcp", type: http}}
limits: {{rate: 100000000}}
confirm: [destructive]
agents:
{agents}
"""
KINDS = ("also_allow: [think]", "deny: [mcp_large_tool_7]", "tool_limit: 40", "toolboxes: [all]")
REFUSALS = {
    -32602: "a tool that the agent does not hold",
    "not_issued": "a tool that is denied",
    "invalid_args": "arguments that do not fit",
}
DELETE = b"DELETE %b HTTP/1.1\r\nHost: 127.0.0.1\r\n%b\r\n"


class Tally(Struct):
    """What came of it."""

    delays: list[float] = field(default_factory=list[float])
    told: Counter[str] = field(default_factory=Counter[str])
    errors: Counter[str] = field(default_factory=Counter[str])
    memory: list[float] = field(default_factory=list[float])


def run() -> Iterator[Figure]:
    """One run."""
    seconds = float(os.environ.get("TOOLCRIB_BENCH_SECONDS", "30"))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        echo, large, port = (free_port() for _ in range(3))
        for one, more in ((echo, "1"), (large, "200")):
            stack.enter_context(started([sys.executable, "-m", "toolcrib_bench.mcp_echo", str(one), more], one))
        groups = 'tools: ["group:mcp:echo", "group:mcp:large"]'
        agents = "\n".join(f"  a{i}: {{{groups}, {KINDS[i % len(KINDS)]}}}" for i in range(AGENTS))
        config = CONFIG.format(echo=echo, large=large, agents=agents)
        pid, key, _ = stack.enter_context(served(folder / "home", port, config))
        tally = Tally()
        asyncio.run(crowd(port, key, pid, seconds, tally))
    fifth = max(1, len(tally.memory) // 5)
    yield figure("crowd", f"requests in {seconds:.0f} s", len(tally.delays), "requests")
    yield figure("crowd", "errors that are no documented refusal", tally.errors.total(), "errors")
    yield figure("crowd", "delay of a request, median", median(tally.delays) * 1e3, "ms")
    yield figure("crowd", "delay of a request, p99", quantiles(tally.delays, n=100)[98] * 1e3, "ms")
    yield figure("crowd", "memory at the end", tally.memory[-1], "MiB", tally.memory[fifth])
    for kind, times in tally.told.most_common():
        yield figure("crowd", f"answers: {kind}", times, "answers")
    for error, times in tally.errors.most_common(5):
        yield {"bench": "crowd", "error": error, "times": times}


async def crowd(port: int, key: str, pid: int, seconds: float, tally: Tally) -> None:
    """All of them, and somebody who looks at the memory."""
    until = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as group:
        clients = [group.create_task(client(number, port, key, until, tally)) for number in range(CLIENTS)]
        while not all(one.done() for one in clients):
            tally.memory.append(memory(pid))
            await asyncio.sleep(1)


async def client(number: int, port: int, key: str, until: float, tally: Tally) -> None:
    """One client, from one session to the next."""
    path, turn = f"/mcp/a{number % AGENTS}", number
    await asyncio.sleep(PAUSE * number / CLIENTS)
    while time.perf_counter() < until:
        try:
            headers = await begin(port, path, key)
            wire = await Wire(port, path, headers).open()
            for _ in range(20):
                turn += 1
                began = time.perf_counter()
                head, body = await wire.ask(wire.frame(request(turn)))
                tally.delays.append(time.perf_counter() - began)
                judged(head, decode(body), tally)
                await asyncio.sleep(PAUSE)
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
            wire.writer.write(DELETE % (path.encode(), lines))
            await wire.reader.readuntil(b"\r\n\r\n")
            wire.close()
        except (OSError, AssertionError, EOFError) as error:
            tally.errors[f"{type(error).__name__}: {error}"[:200]] += 1
            await asyncio.sleep(PAUSE)


def request(turn: int) -> bytes:
    """What a client asks in its turn."""
    calls: dict[int, tuple[str, dict[str, Any]]] = {
        1: ("mcp_large_tool_3", {"text": "x"}),
        2: ("mcp_large_tool_7", {"text": "x"}),
        5: ("no_such_tool", {}),
        6: ("think", {"thought": "x"}),
        3: ("mcp_echo_echo", {"text": 1}),
        4: ("mcp_echo_echo", {"text": "word " * 4000}),
    }
    kind = turn % 10
    if kind == 0:
        return message("tools/list", {})
    if kind == 9:
        return message("ping", {})
    name, arguments = calls.get(kind, ("mcp_echo_echo", {"text": f"hello {turn}"}))
    return message("tools/call", {"name": name, "arguments": arguments})


def judged(head: bytes, answer: dict[str, Any], tally: Tally) -> None:
    """Count an answer: as what was asked for, as a refusal that is documented, or as an error."""
    if not head.startswith(b"HTTP/1.1 200"):
        tally.errors[head[:80].decode("latin-1")] += 1
    elif "error" in answer:
        told = REFUSALS.get(answer["error"]["code"])
        (tally.told if told else tally.errors)[told or str(answer["error"])[:200]] += 1
    elif answer["result"].get("isError"):
        code = answer["result"].get("_meta", {}).get("toolcrib/error", {}).get("code")
        (tally.told if code in REFUSALS else tally.errors)[REFUSALS.get(code, str(answer["result"])[:200])] += 1
    else:
        tally.told["results"] += 1
