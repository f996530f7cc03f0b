"""Answers go out in as few writes as can be, whole and in order."""

import asyncio
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from toolcrib.faces.serving.joined import LONGEST_HEAD, Joined, Protocol
from toolcrib.services.outbox import MANY, Outbox, outbox_of

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"


class Wire:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.wrote: list[bytes] = []
        self.closed = False
        self.pause_reading = self.resume_reading = self.set_protocol = self.get_extra_info = lambda *_: None

    def write(self, data: bytes) -> None:
        if self.closed:
            raise RuntimeError("the handler is closed")
        self.wrote.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    abort = close


def joined(under_way: int = 1) -> tuple[Joined, Wire]:
    wire = Wire()
    return Joined(wire, outbox_of(asyncio.get_running_loop()), range(under_way)), wire


async def turn() -> None:
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def test_a_head_and_its_body_are_one_write() -> None:
    transport, wire = joined()
    transport.write(HEAD)
    assert wire.wrote == []
    transport.write(b"body")
    assert wire.wrote == [HEAD + b"body"]  # at once: nothing else is under way
    await turn()
    assert len(wire.wrote) == 1


async def test_a_head_whose_body_does_not_come_goes_out_by_itself() -> None:
    transport, wire = joined()
    transport.write(HEAD)
    await turn()
    assert wire.wrote == [HEAD]
    transport.write(b"data: 1\n\n")
    transport.write(b"data: 2\n\n")
    assert wire.wrote[1:] == [b"data: 1\n\n", b"data: 2\n\n"]


async def test_with_much_under_way_answers_wait_for_the_end_of_the_turn() -> None:
    one, first = joined(MANY)
    two, second = joined(MANY)
    for transport in (one, two):
        transport.write(HEAD)
        transport.write(b"bo")
        transport.write(b"dy")
    assert first.wrote == second.wrote == []
    await turn()
    assert first.wrote == second.wrote == [HEAD + b"body"]


async def test_what_is_long_is_not_kept_back_and_keeps_its_place() -> None:
    transport, wire = joined(MANY)
    transport.write(HEAD)
    transport.write(b"x" * 100_000)
    transport.write(b"after")
    await turn()
    assert b"".join(wire.wrote) == HEAD + b"x" * 100_000 + b"after"


async def test_no_more_than_a_little_is_kept_back_however_small_the_pieces():
    transport, wire = joined(MANY)
    transport.write(HEAD)
    for _ in range(100):
        transport.write(b"x" * 1000)
    assert sum(map(len, wire.wrote)) > 40_000  # within one turn, so that a slow reader is noticed in it


async def test_a_head_without_an_end_is_refused() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        del scope
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    config = uvicorn.Config(app, lifespan="off", log_level="critical", http=Protocol)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Protocol(config, state, {}), "127.0.0.1", 0)
    try:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        body = b"x" * 3 * LONGEST_HEAD
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET / HTTP/1.1\r\nhost: a\r\na: " + body)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 400")
        writer.close()
    finally:
        server.close()


async def test_closing_sends_what_was_kept_back_and_aborting_drops_it() -> None:
    transport, wire = joined(MANY)
    transport.write(HEAD)
    transport.close()
    assert (wire.wrote, wire.closed) == ([HEAD], True)
    dropped, other = joined(MANY)
    dropped.write(HEAD)
    dropped.abort()
    await turn()
    assert (other.wrote, other.closed) == ([], True)


async def test_a_connection_that_was_lost_meanwhile_is_not_written_to() -> None:
    lost, gone = joined(MANY)
    kept, wire = joined(MANY)
    lost.write(HEAD)
    kept.write(HEAD)
    gone.closed = True
    await turn()
    assert (gone.wrote, wire.wrote) == ([], [HEAD])


async def test_one_that_breaks_holds_up_no_other() -> None:
    loop = asyncio.get_running_loop()
    told: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: told.append(context))
    box, done = Outbox(loop), list[int]()
    box.put(lambda: done.append(1))
    box.put(cast("Any", None))
    box.put(lambda: done.append(3))
    await turn()
    assert done == [1, 3]
    assert [type(context["exception"]) for context in told] == [TypeError]
