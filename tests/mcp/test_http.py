"""Sessions over HTTP, with servers on the official SDK, in both eras and over the old transport."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import called, crib_with, listed, until
from tests.mcp.sdk_server import PICTURE
from tests.mcp.test_sessions import Asker
from toolcrib.app import Crib
from toolcrib.core.errors import ToolFailed
from toolcrib.machine.mcp.connection import Connection, LostError
from toolcrib.machine.mcp.events import EventReader, TooLargeError
from toolcrib.services.mcp.downstream import LINK, ServerGone
from toolcrib.services.mcp.servers import State

SERVER = Path(__file__).parent / "sdk_server.py"
ERAS = {"http": "2026-07-28", "legacy": "2025-11-25", "sse": "2026-07-28"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(kind: str, port: int, noted: Path | None = None) -> Generator["subprocess.Popen[bytes]"]:
    """The server as a process that takes connections."""
    words = [sys.executable, str(SERVER), kind, str(port), *([str(noted)] if noted else [])]
    process = subprocess.Popen(words)
    try:
        end = time.monotonic() + 20
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end, "the server did not start"
            time.sleep(0.02)
        yield process
    finally:
        process.kill()
        process.wait()


def reached(kind: str, port: int) -> dict[str, Any]:
    path = "sse" if kind == "sse" else "mcp"
    return {"url": f"http://127.0.0.1:{port}/{path}", "type": "sse" if kind == "sse" else "http"}


@pytest.fixture(params=["http", "legacy", "sse"], scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    port = free_port()
    with running(request.param, port):
        yield request.param, port


@pytest.fixture
async def crib(server: tuple[str, int]) -> AsyncIterator[Crib]:
    async with crib_with({"s": reached(*server)}) as crib:
        await listed(crib, "s")
        yield crib


@pytest.mark.meets("mcp:transport:three")
async def test_the_era_is_found_out_and_the_server_is_spoken_to(crib: Crib, server: tuple[str, int]):
    assert crib.mcp is not None
    session = await crib.mcp.get("s")
    assert (session.facts.version, session.facts.instructions) == (ERAS[server[0]], "Mind the gap.")
    assert session.facts.info["name"] == "sdk"
    assert (await called(crib, "mcp_s_echo", {"text": "hi"})).text == "hi"


async def test_structured_results_and_pictures_come_as_they_were_sent(crib: Crib):
    done = await called(crib, "mcp_s_point", {"x": 1})
    assert done.structured == {"x": 1, "y": 2}
    wire: Any = done.wire
    assert wire["structuredContent"] == {"x": 1, "y": 2}
    shown = await called(crib, "mcp_s_picture")
    assert shown.attachments[0].data == PICTURE
    seen: Any = shown.wire
    assert seen["content"][0]["mimeType"] == "image/png"


async def test_definitions_are_kept_whole(crib: Crib):
    from toolcrib.sources.mcp import definition_of

    tool = crib.resolver.registry.get("mcp_s_echo")
    assert tool is not None
    definition = definition_of(tool)
    assert definition is not None
    assert definition["title"] == "Echo it"
    assert definition["inputSchema"] == tool.schema
    point = crib.resolver.registry.get("mcp_s_point")
    assert point is not None
    assert (definition_of(point) or {})["outputSchema"]["properties"]["x"]["type"] == "integer"


async def test_questions_and_progress_reach_whoever_asked(crib: Crib, server: tuple[str, int]):
    asker = Asker(elicitation={"form": {}})
    LINK.set(asker)
    try:
        assert (await called(crib, "mcp_s_count")).text == "counted"
        done = await called(crib, "mcp_s_ask")
    finally:
        LINK.set(None)
    assert [params["progress"] for method, params in asker.heard if method == "notifications/progress"] == [0, 1, 2]
    assert {params["progressToken"] for method, params in asker.heard if "progress" in method} == {"mine"}
    if ERAS[server[0]] == "2026-07-28":  # in the stateless era a server asks with its result: see the conformance suite
        assert done.error is not None
        assert "no back-channel" in done.error.message
    else:
        assert asker.asked == ["Sure?"]


async def test_resources_and_prompts_go_through(crib: Crib):
    assert crib.mcp is not None
    session = await crib.mcp.get("s")
    read = await session.request("resources/read", {"uri": "note://one"})
    assert read["contents"][0]["text"] == "noted"
    got = await session.request("prompts/get", {"name": "greet", "arguments": {"name": "Ann"}})
    assert "Hello, Ann!" in json.dumps(got)


@pytest.mark.parametrize("kind", ["http", "legacy"])
async def test_a_changed_list_is_followed_over_http(kind: str):
    port = free_port()
    with running(kind, port):
        async with crib_with({"s": {**reached(kind, port), "accept_new": True}}) as crib:
            await listed(crib, "s")
            await asyncio.sleep(0.2)  # its stream of changes is opened beside
            assert (await called(crib, "mcp_s_grow")).ok
            await until(lambda: "mcp_s_grown" in crib.view("helper"))
            assert (await called(crib, "mcp_s_grown")).text == "grown"


async def test_many_calls_at_once_share_the_session(crib: Crib):
    done = await asyncio.gather(*(called(crib, "mcp_s_echo", {"text": str(i)}) for i in range(64)))
    assert [one.text for one in done] == [str(i) for i in range(64)]


@pytest.mark.meets("mcp:session:stale", "gateway:recover:two-seconds")
@pytest.mark.parametrize("kind", ["http", "legacy", "sse"])
async def test_a_restarted_server_is_back_for_the_next_call(kind: str):
    port = free_port()
    with running(kind, port) as first:
        async with crib_with({"s": reached(kind, port)}) as crib:
            await listed(crib, "s")
            assert (await called(crib, "mcp_s_echo", {"text": "1"})).ok
            first.kill()
            first.wait()
            down = await called(crib, "mcp_s_echo", {"text": "2"})
            assert down.error is not None
            assert down.error.code in {"server_gone", "unknown_outcome"}
            with running(kind, port):
                began = time.monotonic()
                while not (back := await called(crib, "mcp_s_echo", {"text": "3"})).ok:
                    assert time.monotonic() - began < 2, back.error
                assert back.text == "3"


@pytest.mark.meets("gateway:kill:each-answered")
@pytest.mark.parametrize("kind", ["http", "legacy"])
async def test_kill_in_the_middle_of_a_hundred_calls_over_http(kind: str, tmp_path: Path):
    noted, port = tmp_path / "calls", free_port()
    with running(kind, port, noted) as process:
        async with crib_with({"s": {**reached(kind, port), "at_once": 100}}) as crib:
            await listed(crib, "s")
            calls = [asyncio.ensure_future(called(crib, "mcp_s_slow", {"n": i})) for i in range(100)]
            await until(lambda: noted.exists() and noted.read_text().count("\n") >= 10)
            process.kill()
            done = await asyncio.wait_for(asyncio.gather(*calls), 30)
            assert {one.error.code if one.error else "done" for one in done} <= {
                "done",
                "unknown_outcome",
                "server_gone",
            }
            ran = noted.read_text().split()
            assert len(ran) == len(set(ran)), "no call ran twice"


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/mcp",
        "http://[fd00:ec2::254]/mcp",
        "http://100.100.100.200/mcp",
        "http://0.0.0.0:9/mcp",
    ],
)
async def test_where_clouds_keep_credentials_is_never_asked(url: str):
    async with crib_with({"s": {"url": url}}) as crib:
        with pytest.raises(ServerGone, match="was not asked"):
            await listed(crib, "s")


async def test_a_server_that_is_not_there_is_said_so():
    async with crib_with({"s": {"url": f"http://127.0.0.1:{free_port()}/mcp"}}) as crib:
        assert crib.mcp is not None
        await crib.mcp.start()
        with pytest.raises(ServerGone, match="cannot be reached"):
            await listed(crib, "s")
        assert crib.mcp.state("s")[0] is State.CONNECTING


async def test_a_server_that_accepts_and_never_answers_delays_nobody():
    ended = asyncio.Event()

    async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()
            ended.set()

    silent = await asyncio.start_server(read, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    good = free_port()
    with running("http", good):
        async with crib_with({"hangs": {"url": f"http://127.0.0.1:{port}/mcp"}, "s": reached("http", good)}) as crib:
            assert crib.mcp is not None
            began = time.monotonic()
            await crib.mcp.start()
            await until(lambda: "mcp_s_echo" in crib.view("helper"), 5)
            assert time.monotonic() - began < 1
            assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok
    await ended.wait()
    silent.close()


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\nnope!", "no JSON"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}", "without the answer"),
        (b"SSH-2.0-OpenSSH_9\r\n", "does not answer in HTTP"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\nshort", "did not answer"),
        (b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n", "did not let us in"),
        (b"HTTP/1.1 307 Temporary\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n", "moved to"),
    ],
)
async def test_answers_that_are_none_are_said_so(answer: bytes, code: str):
    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
        await reader.readexactly(int(length or 0))
        writer.write(answer)
        await writer.drain()
        writer.close()

    bad = await asyncio.start_server(reply, "127.0.0.1", 0)
    port = bad.sockets[0].getsockname()[1]
    async with crib_with({"s": {"url": f"http://127.0.0.1:{port}/mcp"}}) as crib:
        with pytest.raises(ToolFailed, match=code):
            await listed(crib, "s")
    bad.close()


def test_events_are_read_in_any_pieces():
    stream = b': hello\r\n\r\nevent: message\r\nid: 7\r\ndata: {"a":\r\ndata: 1}\r\n\r\nretry: 20\ndata: x\n\ndata: y\r\rdata: cut'
    for size in range(1, 12):
        reader = EventReader()
        found = [event for i in range(0, len(stream), size) for event in reader.feed(stream[i : i + size])]
        kept = [(event.data, event.id, event.retry) for event in found if event.data]
        assert kept == [(b'{"a":\n1}', b"7", None), (b"x", b"", 20), (b"y", b"", None)], size


def test_a_long_event_in_small_pieces_costs_what_it_weighs():
    reader, began = EventReader(), time.process_time()
    reader.feed(b"data: ")
    for _ in range(250_000):
        reader.feed(b"x" * 16)
    assert [len(event.data) for event in reader.feed(b"\n\n")] == [4_000_000]
    assert time.process_time() - began < 3  # looking at all of it again each time would take minutes


def test_an_event_has_no_more_lines_than_anybody_needs():
    reader = EventReader()
    assert reader.feed(b"data:\n" * 100_000) == []
    with pytest.raises(TooLargeError):
        reader.feed(b"data:\n")


async def large(kind: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection of a server whose tool answers with a hundred megabytes."""
    facts = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "l", "version": "1"},
    }
    answers: dict[str, Any] = {
        "initialize": facts,
        "tools/list": {"tools": [{"name": "huge", "inputSchema": {"type": "object"}}]},
    }
    while head := (await reader.readuntil(b"\r\n\r\n")).lower():
        size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or b"0")
        asked = json.loads(await reader.readexactly(size) or b"{}")
        if asked.get("method") == "tools/call":
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {100 << 20}\r\n\r\n".encode())
            for _ in range(100):
                writer.write(b"x" * (1 << 20))
                await writer.drain()
            return
        found = answers.get(asked.get("method", ""))
        told = {"result": found} if found else {"error": {"code": -32601, "message": "Method not found"}}
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}).encode() if "id" in asked else b""
        status = "200 OK" if body else "202 Accepted"
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        writer.write(head + body)


@pytest.mark.meets("mcp:bad-server:bounded")
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_an_answer_of_a_hundred_megabytes_is_not_waited_for(kind: str):
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await large(kind, reader, writer)
        writer.close()

    async with await asyncio.start_server(served, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with crib_with({"s": {"url": f"http://127.0.0.1:{port}/mcp", "type": "http"}}) as crib:
            await listed(crib, "s")
            huge = await called(crib, "mcp_s_huge")
    assert huge.error is not None
    assert (huge.error.code, "longer than 32 MB" in huge.error.message) == ("unknown_outcome", True)


async def test_what_was_put_off_and_not_written_may_be_sent_again():
    async def nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    async with await asyncio.start_server(nobody, "127.0.0.1", 0) as server:
        loop = asyncio.get_running_loop()
        address = server.sockets[0].getsockname()[:2]
        for together in (True, False):
            transport, connection = await loop.create_connection(lambda: Connection(lambda _: None), *address)
            answer = connection.ask(b"POST / HTTP/1.1\r\n\r\n", None, together=together)
            connection.close()
            with pytest.raises(LostError) as lost:
                await answer
            assert lost.value.sent is not together
            transport.close()
