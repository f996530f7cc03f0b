import asyncio
import gzip
import os
import time
import tracemalloc
import zlib
from asyncio import StreamWriter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.machine.webserver import Asked, Server, answer, redirect, serving
from toolcrib.core.errors import TimedOut, ToolError
from toolcrib.machine.http import LocalHttp
from toolcrib.machine.http.bodies import Unpacker
from toolcrib.services.http import Incoming, Network, Outgoing

pytestmark = pytest.mark.meets("net:limits:size-time")
MEGABYTE = 1024 * 1024


async def fetched(server: Server, **request: Any) -> Incoming:
    http = LocalHttp(Network(allow_private=("127.0.0.1",)))
    try:
        return await http.send(Outgoing(url=server.url(), **request))
    finally:
        await http.close()


async def failing(server: Server, **request: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await fetched(server, **request)
    return caught.value.as_fault().code


async def test_a_body_is_read_to_its_limit_and_no_further():
    sent = 0

    async def endless(writer: StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            sent += 65536
            await writer.drain()

    async with serving(lambda _: endless) as server:
        came = await fetched(server, limit=MEGABYTE)
    assert (len(came.body), came.cut) == (MEGABYTE, True)
    assert sent < 64 * MEGABYTE


async def test_a_body_of_just_the_limit_is_whole():
    async with serving(answer(b"x" * 1000)) as server:
        came = await fetched(server, limit=1000)
    assert (len(came.body), came.cut) == (1000, False)


@pytest.mark.parametrize("packing", ["gzip", "x-gzip", "deflate", "raw"])
async def test_a_packed_body_is_unpacked(packing: str):
    plain = b"words " * 5000
    raw = zlib.compressobj(wbits=-15)
    packed = {"deflate": zlib.compress(plain), "raw": raw.compress(plain) + raw.flush()}.get(
        packing, gzip.compress(plain)
    )
    async with serving(answer(packed, Content_Encoding=packing.replace("raw", "deflate"))) as server:
        assert (await fetched(server)).body == plain


async def test_a_body_packed_in_two_parts_is_whole():
    async with serving(answer(gzip.compress(b"one ") + gzip.compress(b"two"), Content_Encoding="gzip")) as server:
        assert (await fetched(server)).body == b"one two"


async def test_a_bomb_is_unpacked_to_the_limit_only():
    bomb = gzip.compress(b"\0" * 200 * MEGABYTE, 9)
    assert len(bomb) < MEGABYTE
    began = time.process_time()
    async with serving(answer(bomb, Content_Encoding="gzip")) as server:
        came = await fetched(server, limit=MEGABYTE)
    assert (len(came.body), came.cut) == (MEGABYTE, True)
    assert time.process_time() - began < 1


def test_packed_nothing_without_end_is_left_too():
    unpacker = Unpacker("gzip", 1000)
    empty = gzip.compress(b"") * 1000
    fed = 0
    while not unpacker.full:
        assert unpacker.feed(empty) == b""
        fed += len(empty)
    assert fed < MEGABYTE


@pytest.mark.parametrize("packing", ["deflate", "gzip"])
async def test_bombs_within_bombs_and_bombs_in_a_row_are_left_too(packing: str):
    zeros = b"\0" * 20 * MEGABYTE
    bomb = gzip.compress(zeros, 9) * 20 if packing == "gzip" else zlib.compress(zlib.compress(zeros * 2, 9), 9)
    async with serving(answer(bomb, Content_Encoding=packing)) as server:
        came = await fetched(server, limit=MEGABYTE)
    assert len(came.body) <= MEGABYTE  # what is packed twice is unpacked once


async def test_memory_stays_within_bounds_whatever_is_sent():
    bomb = gzip.compress(b"\0" * 200 * MEGABYTE, 9)

    async def endless(writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n")
        while True:
            writer.write(b"x" * MEGABYTE)
            await writer.drain()

    async with serving(answer(bomb, Content_Encoding="gzip")) as packed, serving(lambda _: endless) as long:
        await fetched(packed, limit=MEGABYTE)
        tracemalloc.start()
        try:
            for server in (packed, long):
                assert (await fetched(server, limit=MEGABYTE)).cut
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert most < 16 * MEGABYTE


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip", "nonsense"])
async def test_a_packing_that_was_not_asked_for_is_refused(packing: str):
    async with serving(answer(os.urandom(100), Content_Encoding=packing)) as server:
        assert await failing(server) == "bad_response"


async def test_what_is_not_packed_as_it_says_is_refused():
    async with serving(answer(b"plain words", Content_Encoding="gzip")) as server:
        assert await failing(server) == "bad_response"


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 999999 OK\r\n\r\n",
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"",
    ],
)
async def test_an_answer_that_lies_about_itself_is_a_coded_error(said: bytes):
    async def lying(writer: StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    async with serving(lambda _: lying) as server:
        assert await failing(server) == "bad_response"


async def test_more_than_was_announced_is_not_taken_for_the_next_answer():
    async def talking(writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake")
        await writer.drain()
        await asyncio.Event().wait()

    async with serving(lambda asked: talking if asked.target == "/" else answer("real")) as server:
        http = LocalHttp(Network(allow_private=("127.0.0.1",)))
        assert (await http.send(Outgoing(url=server.url()))).body == b"ok"
        assert (await http.send(Outgoing(url=server.url("/next")))).body == b"real"
        await http.close()


async def test_the_time_is_for_all_redirects_together():
    def rule(asked: Asked) -> Callable[[StreamWriter], Awaitable[None]]:
        async def slow(writer: StreamWriter) -> None:
            await asyncio.sleep(0.1)
            writer.write(redirect(f"{asked.target}x"))
            await writer.drain()

        return slow

    async with serving(rule) as server:
        began = time.monotonic()
        with pytest.raises(TimedOut):
            await fetched(server, seconds=0.25)
        assert time.monotonic() - began < 2
    assert len(server.asked) < 5


@pytest.mark.parametrize("to", ["/" + "x" * 90_000, "http://a b/", "//user:pw@example.com/", "http://[::1", "\xff\xfe"])
async def test_a_redirect_to_what_is_no_address_is_a_coded_error(to: str):
    async with serving(redirect(to).replace("\xff\xfe".encode(), b"\xff\xfe")) as server:
        assert await failing(server) in {"url_refused", "bad_response", "too_many_redirects"}
    assert len(server.asked) <= 6


async def test_headers_without_end_are_left():
    async def headers(writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X-Filler: " + b"x" * 8000 + b"\r\n")
            await writer.drain()

    async with serving(lambda _: headers) as server:
        assert await failing(server) == "bad_response"


async def dripping(writer: StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def dripping_headers(writer: StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def endless_hints(writer: StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)


async def tiny_chunks(writer: StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1;extension=x\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)


async def silent(_: StreamWriter) -> None:
    await asyncio.Event().wait()


Slow = Callable[[StreamWriter], Awaitable[None]]


@pytest.mark.parametrize("rule", [dripping, dripping_headers, endless_hints, tiny_chunks, silent])
async def test_an_answer_that_takes_too_long_is_left(rule: Slow):
    async with serving(lambda _: rule) as server:
        began = time.monotonic()
        with pytest.raises(TimedOut, match=r"took longer than 0\.2 seconds|stopped answering"):
            await fetched(server, seconds=0.2)
        assert time.monotonic() - began < 2


async def test_a_name_that_is_never_looked_up_does_not_hold_anybody_up():
    async def never(_: str) -> list[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(TimedOut):
        await LocalHttp(dns=never).send(Outgoing(url="http://a.example/", seconds=0.1))


@pytest.mark.parametrize(
    "headers",
    [
        (("X", "a\r\nY: b"),),
        (("X", "a\nb"),),
        (("X", "a\x00b"),),
        (("X", "\u00e9"),),
        (("X Y", "a"),),
        (("X:", "a"),),
        (("", "a"),),
        (("Host", "other.example"),),
        (("content-length", "0"),),
        (("Transfer-Encoding", "chunked"),),
        (("Connection", "close"),),
        (("X", "x" * 40_000),),
        tuple((f"X-{i}", "") for i in range(65)),
    ],
)
@pytest.mark.meets("net:url:strict")
async def test_headers_that_could_smuggle_are_refused_before_anything_is_sent(headers: tuple[tuple[str, str], ...]):
    async with serving(answer("x")) as server:
        assert await failing(server, headers=headers) == "bad_header"
    assert server.connections == 0


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "GET /x", "", "G\r\nX: y"])
async def test_other_methods_are_refused(method: str):
    async with serving(answer("x")) as server:
        assert await failing(server, method=method) == "bad_method"
    assert server.connections == 0


async def test_a_cancelled_request_lets_go_of_its_connection():
    arrived = asyncio.Event()

    async def waiting(_: StreamWriter) -> None:
        arrived.set()
        await asyncio.Event().wait()

    async with serving(lambda _: waiting) as server:
        http = LocalHttp(Network(allow_private=("127.0.0.1",)))
        sending = asyncio.ensure_future(http.send(Outgoing(url=server.url())))
        await arrived.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        server.rule = lambda _: answer("fine")
        assert (await http.send(Outgoing(url=server.url()))).body == b"fine"
        await http.close()
