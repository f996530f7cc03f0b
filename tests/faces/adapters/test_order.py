"""Calls that a framework starts all at once run as calls of one step do."""

import asyncio

import pytest

from toolcrib.faces.adapters.order import Order


class Room:
    """Who is at the counter, and what happened there."""

    def __init__(self, at_once: int = 10) -> None:
        self.order = Order(at_once)
        self.inside: set[str] = set()
        self.seen: list[set[str]] = []

    async def visit(self, name: str, *, parallel: bool) -> None:
        async with self.order.place(parallel=parallel):
            self.inside.add(name)
            self.seen.append(set(self.inside))
            await asyncio.sleep(0)
            self.inside.discard(name)


async def test_parallel_calls_go_together_and_others_alone_in_order():
    room = Room()
    plan = [("a", True), ("b", True), ("c", False), ("d", True), ("e", False), ("f", False)]
    await asyncio.gather(*(room.visit(name, parallel=parallel) for name, parallel in plan))
    assert room.seen == [{"a"}, {"a", "b"}, {"c"}, {"d"}, {"e"}, {"f"}]


async def test_no_more_go_together_than_may():
    room = Room(at_once=2)
    await asyncio.gather(*(room.visit(name, parallel=True) for name in "abcde"))
    assert max(map(len, room.seen)) == 2
    assert len(room.seen) == 5


async def test_one_that_is_stopped_while_it_waits_holds_up_nobody():
    room = Room()
    first = asyncio.ensure_future(room.visit("a", parallel=False))
    second = asyncio.ensure_future(room.visit("b", parallel=False))
    third = asyncio.ensure_future(room.visit("c", parallel=True))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await asyncio.gather(first, third)
    assert room.seen == [{"a"}, {"c"}]


async def test_one_that_is_stopped_as_its_turn_comes_gives_it_back():
    room = Room()

    async def leave_and_stop_the_next() -> None:
        async with room.order.place(parallel=False):
            await asyncio.sleep(0)
        second.cancel()  # it was let in just now, and has not woken up yet

    first = asyncio.ensure_future(leave_and_stop_the_next())
    second = asyncio.ensure_future(room.visit("b", parallel=False))
    third = asyncio.ensure_future(room.visit("c", parallel=False))
    await asyncio.gather(first, third)
    assert second.cancelled()
    assert room.seen == [{"c"}]
