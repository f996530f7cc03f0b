"""What a server or a client does that means harm, or does not know better: the others go on."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.mcp.conftest import PLAIN, called, crib_with, listed, until
from tests.mcp.test_endpoint import Client, at, code, message
from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.faces.mcp.parked import Held, Parking
from toolcrib.machine.mcp.keeping import Keeping
from toolcrib.services.mcp.names import name_of, other_name
from toolcrib.services.mcp.servers import Server, Transport

Answer = Callable[[JsonObject, asyncio.StreamWriter], Awaitable[None]]
READ = {"name": "read", "arguments": {}}


async def as_it_is(server: Server, _identity: str) -> Server:
    return server


async def nobody_asks(_server: str, _tools: list[JsonObject]) -> None: ...


def child(noted: Path, **more: Any) -> Server:
    return Server(name="s", command=sys.executable, args=(str(PLAIN), "good", str(noted)), **more)


@asynccontextmanager
async def kept(*servers: Server) -> AsyncGenerator[Keeping]:
    keeping = Keeping(as_it_is, nobody_asks)
    await keeping.use(servers, connect=False)
    try:
        yield keeping
    finally:
        await keeping.close()


def slow(seconds: float) -> JsonObject:
    return {"name": "slow", "arguments": {"seconds": seconds}}


async def test_a_call_that_waits_while_its_server_is_taken_away_does_not_start_it_again(tmp_path: Path):
    noted = tmp_path / "noted"
    async with kept(child(noted, at_once=1)) as keeping:
        session = await keeping.get("s")
        running = asyncio.ensure_future(session.request("tools/call", slow(30)))
        await until(noted.exists)
        waiting = asyncio.ensure_future(session.request("tools/call", slow(0)))
        await asyncio.sleep(0)
        await keeping.use([])
        told = await asyncio.gather(running, waiting, return_exceptions=True)
        assert [isinstance(one, ToolError) for one in told] == [True, True]
        assert len(noted.read_text().splitlines()) == 1


async def test_a_session_that_is_wanted_while_the_old_one_ends_has_the_new_settings(tmp_path: Path):
    old, new = child(tmp_path / "old"), child(tmp_path / "new", seconds=7)
    async with kept(old) as keeping:
        session = await keeping.get("s")
        running = asyncio.ensure_future(session.request("tools/call", slow(30)))
        await until((tmp_path / "old").exists)
        using = asyncio.ensure_future(keeping.use([new], connect=False))
        await asyncio.sleep(0)
        early = await keeping.get("s")
        await asyncio.gather(using, running, return_exceptions=True)
        assert await keeping.get("s") is early
        await early.request("tools/call", slow(0))
        assert (tmp_path / "new").exists()


async def test_many_who_come_at_once_find_room_and_each_identity_has_one_session(tmp_path: Path):
    async with kept(child(tmp_path / "noted")) as keeping:
        for n in range(64):
            session = await keeping.get("s", f"user:{n}")
            if n in {0, 1, 2}:
                await session.request("ping", {})
        for n in range(3, 64):
            keeping._own["s", f"user:{n}"].used = time.monotonic()
        made = await asyncio.gather(*(keeping.get("s", f"user:{n}") for n in (70, 70, 71, 72)))
        assert made[0] is made[1]
        assert len(keeping._own) <= 64


async def test_a_session_at_work_is_not_ended_to_make_room_for_another(tmp_path: Path):
    async with kept(child(tmp_path / "noted")) as keeping:
        session = await keeping.get("s", "user:first")
        running = asyncio.ensure_future(session.request("tools/call", slow(0.5)))
        await until((tmp_path / "noted").exists)
        for n in range(64):
            await keeping.get("s", f"user:{n}")
        assert (await running)["content"]
        assert len(keeping._own) == 64


@asynccontextmanager
async def over_http(answer: Answer) -> AsyncGenerator[Server]:
    """A server of the older era by hand: it shakes hands, and what follows is the test's."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                body = json.loads(await reader.readexactly(length) or b"{}")
                if head.startswith(b"get"):
                    writer.write(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")
                elif "id" not in body or "method" not in body:
                    writer.write(b"HTTP/1.1 202 Yes\r\ncontent-length: 0\r\n\r\n")
                elif body["method"] == "server/discover":
                    writer.write(plainly({"id": body["id"], "error": {"code": -32601, "message": "No."}}))
                elif body["method"] == "initialize":
                    told = {"protocolVersion": "2025-11-25", "capabilities": {"completions": {}}, "serverInfo": {}}
                    writer.write(plainly({"id": body["id"], "result": told}))
                else:
                    await answer(body, writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield Server(name="s", transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp", seconds=3)
    finally:
        listening.close()


def plainly(told: JsonObject, status: str = "200 OK") -> bytes:
    data = json.dumps({"jsonrpc": "2.0", **told}).encode()
    return b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        status.encode(),
        len(data),
        data,
    )


async def test_a_call_that_was_answered_with_503_may_have_run_and_is_not_sent_again():
    came: list[JsonObject] = []

    async def answer(body: JsonObject, writer: asyncio.StreamWriter) -> None:
        came.append(body)
        writer.write(b"HTTP/1.1 503 Upstream reset\r\ncontent-length: 0\r\n\r\n")

    async with over_http(answer) as server, kept(server) as keeping:
        with pytest.raises(ToolError):
            await (await keeping.get("s")).request("tools/call", READ)
        assert len(came) == 1


async def test_what_a_server_never_answers_gives_its_place_back():
    async def answer(body: JsonObject, writer: asyncio.StreamWriter) -> None:
        if body["method"] != "completion/complete":
            writer.write(plainly({"id": body["id"], "result": {"content": []}}))

    async with over_http(answer) as server, kept(replace(server, at_once=1, seconds=0.2)) as keeping:
        session = await keeping.get("s")
        with pytest.raises(ToolError):
            async with asyncio.timeout(3):
                await session.request("completion/complete", {})
        assert await session.request("tools/call", READ) == {"content": []}


async def test_a_head_without_an_end_is_given_up():
    async def answer(_body: JsonObject, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while not writer.is_closing():
            writer.write(b"x: %b\r\n" % (b"y" * 1000) * 100)
            await writer.drain()

    async with over_http(answer) as server, kept(server) as keeping:
        session = await keeping.get("s")
        with pytest.raises(ToolError, match="longer"):
            await session.request("tools/call", READ, seconds=2)


async def test_a_server_that_answers_twice_does_not_mix_up_its_connections():
    async def answer(body: JsonObject, writer: asyncio.StreamWriter) -> None:
        writer.write(plainly({"id": body["id"], "result": {"n": body["params"]["n"]}}) * 2)

    async with over_http(answer) as server, kept(server) as keeping:
        session = await keeping.get("s")
        for n in range(0, 20, 2):
            told = await asyncio.gather(*(session.request("tools/call", {"n": n + i}, seconds=2) for i in (0, 1)))
            assert told == [{"n": n}, {"n": n + 1}]


async def test_a_flood_of_questions_is_bounded():
    at_once = 0

    async def answer(body: JsonObject, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        for n in range(3000):
            writer.write(b'data: {"jsonrpc":"2.0","id":%d,"method":"ping"}\n\n' % n)
        await writer.drain()
        end = json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": {"content": []}})
        writer.write(f"data: {end}\n\n".encode())
        await writer.drain()
        writer.close()

    async with over_http(answer) as server, kept(server) as keeping:
        session = await keeping.get("s")
        asking = asyncio.ensure_future(session.request("tools/call", READ, seconds=10))
        while not asking.done():
            speaking = session._speaking
            at_once = max(at_once, 0 if speaking is None else len(speaking._asked))
            await asyncio.sleep(0)
        assert (await asking) == {"content": []}
        assert 0 < at_once <= 100


async def test_a_question_whose_number_is_none_does_not_take_the_answers_after_it(tmp_path: Path):
    server = tmp_path / "server.py"
    server.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    one = json.loads(line)\n"
        "    if 'id' not in one: continue\n"
        "    told = {'protocolVersion': '2025-11-25', 'capabilities': {}, 'serverInfo': {}}\n"
        "    if one['method'] == 'server/discover':\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': one['id'], 'error': {'code': -32601, 'message': 'No'}}), flush=True)\n"
        "        continue\n"
        "    odd = [{'id': {'a': 1}, 'method': 'ping'}, {'id': [], 'method': 'ping'},\n"
        "           {'method': 'notifications/cancelled', 'params': {'requestId': []}}]\n"
        "    print('\\n'.join(json.dumps({'jsonrpc': '2.0', **x}) for x in [*odd, {'id': one['id'], 'result': told}]), flush=True)\n"
    )
    bad = Server(name="s", command=sys.executable, args=(str(server),))
    async with kept(bad) as keeping:
        session = await keeping.get("s")
        assert (await session.request("tools/call", READ, seconds=2))["capabilities"] == {}


async def test_a_flood_of_changes_is_told_to_each_client_once_in_a_while(tmp_path: Path):
    async with at(child(tmp_path / "noted")) as client:
        await client.begin()
        gateway, (session,) = client.gateway.gateway, _sessions(client)
        for _ in range(1000):
            gateway._heard("s", "notifications/tools/list_changed", {})
            gateway._heard("s", "notifications/prompts/list_changed", {})
        await until(lambda: session.own._kept)
        assert len(session.own._kept) == 2
        gateway._heard("s", "notifications/tools/list_changed", {})
        await until(lambda: len(session.own._kept) == 3)


def test_no_tool_has_a_name_that_is_the_other_form_of_another():
    pairs = [("a", "x"), ("a", "_x"), ("a", "__x"), ("a_b", "x"), ("a", "b__x"), ("a_", "x"), ("a", "b_x")]
    taken = set[str]()
    for server, tool in pairs:
        taken.add(name_of(server, tool, taken))
    assert not taken & {other for server, tool in pairs for other in other_name(server, tool)}


async def test_a_denial_by_the_other_form_holds_whatever_the_server_lists(tmp_path: Path):
    server = tmp_path / "server.py"
    server.write_text(PLAIN.read_text().replace("tools = [\n", 'tools = [tool("_echo", "Drawn to this."),\n', 1))
    agents = {"helper": {"tools": ["group:mcp"], "deny": ["mcp_s__echo"]}}
    async with crib_with({"s": {"command": sys.executable, "args": [str(server)]}}, agents=agents) as crib:
        await listed(crib, "s")
        done = await called(crib, "mcp_s_echo", {"text": "x"})
        assert done.error is not None
        assert done.error.code == "not_issued"


UNREADABLE = [
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\xff"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\xff"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\xc2\xb2"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"%b"}}' % (b"9" * 5000),
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"\xff"}}',
]


@pytest.mark.parametrize("body", UNREADABLE)
async def test_parameters_that_cannot_be_read_are_refused_in_words(body: bytes):
    async with at() as client:
        await client.begin()
        assert code(await client.post(body))[1] == -32602


@pytest.mark.parametrize("place", [b"own_\xb2", b"own_" + b"9" * 5000, b"own_--5"])
async def test_a_place_in_a_stream_that_is_none_is_passed_over(place: bytes):
    async with at() as client:
        await client.begin()
        headers = [(name.encode(), value.encode()) for name, value in client.headers.items()]
        given = [*headers, (b"last-event-id", place)]
        async with client.http.stream("GET", client.url, headers=given) as answer:
            assert answer.status_code == 200


async def test_an_answer_that_cannot_be_read_is_refused_in_words():
    async with at() as client:
        await client.begin(capabilities={"elicitation": {}})
        session = next(iter(_sessions(client)))
        asked = asyncio.ensure_future(session.asks.ask(lambda _: None, "roots/list", {}))
        await asyncio.sleep(0)
        assert code(await client.post(b'{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}'))[1] == -32602
        assert (await client.post(message("ping"))).status_code == 200
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


def _sessions(client: Client) -> list[Any]:
    return [watcher.peer for watcher in client.gateway.gateway.changes._watchers]


async def test_an_agent_does_not_hand_our_environment_to_the_server_of_a_person():
    async with crib_with({}) as crib:
        assert crib.mcp is not None
        desk, said = crib.mcp.servers, {"command": sys.executable, "args": [str(PLAIN)], "env": {"A": "${MINE}"}}
        await desk.add("s", said, by="ann", approve=True)
        with pytest.raises(ToolError, match="variables of our environment"):
            await desk.update("s", {"env": {"A": "${MINE}", "B": "${OTHER}"}}, by="helper", origin="agent")
        await desk.update("s", {"env": {"A": "${MINE}", "B": "plain"}}, by="helper", origin="agent")
        assert not (await desk.entry("s")).usable


async def test_one_who_parks_many_calls_does_not_push_out_those_of_others():
    parking = Parking()

    async def asks(held: Held) -> bytes:
        await held.ask("elicitation/create", {})
        return b"{}"

    async def parked(who: str) -> str:
        held = Held((who, "a"))
        held.start(asks(held))
        return json.loads(await parking.result(held))["requestState"]

    mine = await parked("ann")
    theirs = [await parked("bob") for _ in range(1100)]
    parking.claim(mine, ("ann", "a")).stop()
    parking.claim(theirs[-1], ("bob", "a")).stop()
    with pytest.raises(ToolError):
        parking.claim(theirs[0], ("bob", "a"))
    await parking.close()
