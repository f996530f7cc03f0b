"""One guarded call, beside the least that a call can be: look-up, decode, await, str."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from toolcrib import Crib, tool
from toolcrib.core.call import Request
from toolcrib.services.config.values import CallRule, Config, FlowRules, Limits
from toolcrib_bench.figures import Figure, best_async, best_by_turns, figure

RAW = b'{"a": 17, "b": 25}'
TIMES = 20_000
decode = msgspec.json.Decoder().decode


@tool(effect="read", parallel=True, flow=["private", "untrusted"])
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS = {"add": add}


def run() -> Iterator[Figure]:
    """In memory, with every guard on; then with the record going to SQLite."""
    floor, ours, whole, refused = asyncio.run(_in_memory())
    yield figure("call", "guarded call, all guards on", ours * 1e6, "us", floor * 1e6)
    yield figure("call", "floor: look-up, msgspec decode, await, str", floor * 1e6, "us")
    yield figure("call", "guarded call with a turn of its own", whole * 1e6, "us", floor * 1e6)
    yield figure("call", "not issued, refused and recorded", refused * 1e6, "us", floor * 1e6)
    floor, durable = asyncio.run(_on_disk())
    yield figure("call", "guarded call, record committed to SQLite", durable * 1e6, "us", floor * 1e6)


def config() -> Config:
    """Every guard watches the tool: a rate for the session and the tool, a rule, and the flow guard's labels."""
    many = 100_000_000
    rule = CallRule(name="rules[0]", tool="*", where={"a": "9*"}, action="deny")
    limits = Limits(rate=many, tools={"add": many})
    return Config(limits=limits, rules=(rule,), flow=FlowRules(mode="ask"), confirm=("destroy",))


async def bare() -> str:
    """What every call has to do at least."""
    return str(await TOOLS["add"](**decode(RAW)))


async def _in_memory() -> list[float]:
    crib = Crib([add], {"clerk": ["add"], "nobody": []}, config=config(), secrets=["correct horse battery staple"])
    turn = await crib.turn("clerk", session="s1")
    other = await crib.turn("nobody", session="s2")
    await turn.call("add", RAW)
    return await best_by_turns(
        bare,
        lambda: turn.call("add", RAW),
        lambda: crib.call("add", RAW, agent="clerk", session="s1"),
        lambda: other.call("add", RAW),
    )


async def _on_disk() -> tuple[float, float]:
    """Calls and the writer's work together: the clock stops when the last record is committed."""
    from toolcrib.safety.scrub import Scrubber
    from toolcrib.stores.sql import open_store

    with TemporaryDirectory() as folder:
        scrub = Scrubber([("word", "correct horse battery staple")])
        store = open_store(f"sqlite:///{Path(folder) / 'bench.db'}", scrub=scrub)
        crib = Crib([add], {"clerk": ["add"]}, config=config(), store=store, scrub=scrub)
        turn = await crib.turn("clerk", session="s1")
        requests = [Request("add", RAW)] * TIMES

        async def round_() -> None:
            for request in requests:
                await turn.call(request.tool, request.arguments)
            await store.audit.settle()

        low, took = float("inf"), float("inf")
        for _ in range(5):
            (floor,) = await best_by_turns(bare, rounds=20)
            low, took = min(low, floor), min(took, await best_async(round_, 1, 1))
        await crib.close()
    return low, took / TIMES
