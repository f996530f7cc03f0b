"""The endpoint as programs meet it: who may come in, sessions, streams that go on, and messages that are none."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.mcp.conftest import crib_with, plain
from tests.mcp.gateways import Up, everything, up
from toolcrib import tool
from toolcrib.faces.mcp.door import Rules
from toolcrib.faces.mcp.gateway import Gateway
from toolcrib.faces.mcp.peers import BYTES_KEPT, Place, Session
from toolcrib.faces.mcp.upstream import NoServers
from toolcrib.services.people.keys import ApiKeys
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.principal import Role
from toolcrib.services.people.values import Person
from toolcrib.stores.inprocess.people import MemoryPeople

BOTH = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@tool(effect="read")
async def look(at: str) -> str:
    """Look at something."""
    return f"{at} looks fine"


def message(method: str, params: Any = None, number: Any = 1) -> dict[str, Any]:
    told = {"jsonrpc": "2.0", "id": number, "method": method}
    return told if params is None else {**told, "params": params}


class Client:
    """Speaks HTTP, and nothing of the protocol by itself."""

    def __init__(self, gateway: Up, http: httpx2.AsyncClient) -> None:
        self.gateway, self.http = gateway, http
        self.url = f"{gateway.base}/a"
        self.headers = dict(BOTH)

    async def post(self, body: Any, **headers: str) -> httpx2.Response:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.post(self.url, content=data, headers={**self.headers, **given})

    async def begin(self, **more: Any) -> dict[str, Any]:
        answer = await self.post(message("initialize", {**HELLO, **more}))
        self.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        return answer.json()["result"]

    async def modern(self, method: str, params: Any = None, **headers: str) -> httpx2.Response:
        named = {"mcp_name": params["name"]} if params and "name" in params else {}
        given = {"mcp_protocol_version": "2026-07-28", "mcp_method": method, **named, **headers}
        return await self.post(message(method, {**(params or {}), "_meta": META}), **given)


@asynccontextmanager
async def at(*servers: Any, **more: Any) -> AsyncGenerator[Client]:
    given: dict[str, Any] = {"own": (look,), "agents": {"a": ["look", "group:mcp"], "b": []}, **more}
    async with up(*servers, **given) as gateway, httpx2.AsyncClient(timeout=20) as http:
        yield Client(gateway, http)


def code(answer: httpx2.Response) -> tuple[int, int]:
    return answer.status_code, answer.json()["error"]["code"]


async def keys() -> tuple[ApiKeys, Any]:
    rows = MemoryPeople()
    persons = Persons(rows)
    ada = await persons.add(Person(id="", name="Ada", role=Role.ADMIN))
    made = ApiKeys(rows, persons, lambda: ("a", "b"))

    async def make(**limits: Any) -> str:
        given: dict[str, Any] = {"name": "key", "person": ada.id, "role": Role.OPERATOR, **limits}
        return (await made.make(**given)).secret

    return made, make


async def test_an_address_without_an_agent_says_what_to_write():
    async with at() as client:
        client.url = client.gateway.base
        answer = await client.post(message("initialize", HELLO))
        assert answer.status_code == 404
        assert "/mcp/<agent>" in answer.json()["error"]["message"]


async def test_without_a_key_nobody_comes_in_and_the_answer_says_how():
    tokens, make = await keys()
    rules = Rules(knows=lambda _: True, tokens=tokens, servers=("https://login.example.org",))
    async with at(rules=rules) as client:
        for headers in ({}, {"authorization": "Bearer tcb_nope_nope"}, {"authorization": "Basic x"}):
            answer = await client.post(message("tools/list"), **headers)
            assert answer.status_code == 401
            said = answer.headers["www-authenticate"]
            assert said.startswith("Bearer ")
            assert "/.well-known/oauth-protected-resource/mcp/a" in said
            assert ("not known here" in answer.json()["error"]["message"]) == ("nope" in str(headers))
        where = f"{client.gateway.base.removesuffix('/mcp')}/.well-known/oauth-protected-resource/mcp/a"
        told = (await client.http.get(where)).json()
        assert told["resource"] == client.url
        assert told["authorization_servers"] == ["https://login.example.org"]
        client.headers["authorization"] = f"Bearer {await make()}"
        assert (await client.begin())["serverInfo"]["name"] == "toolcrib"


@pytest.mark.parametrize(
    "limits", [{"agents": ["b"]}, {"scopes": ["tools"]}, {"role": Role.VIEWER}], ids=["agent", "scope", "role"]
)
async def test_a_key_may_be_too_small(limits: dict[str, Any]):
    tokens, make = await keys()
    async with at(rules=Rules(knows=lambda _: True, tokens=tokens)) as client:
        answer = await client.post(message("initialize", HELLO), authorization=f"Bearer {await make(**limits)}")
        assert answer.status_code == 403


async def test_a_session_belongs_to_who_began_it():
    tokens, make = await keys()
    async with at(rules=Rules(knows=lambda _: True, tokens=tokens)) as client:
        client.headers["authorization"] = f"Bearer {await make()}"
        await client.begin()
        client.url = f"{client.gateway.base}/b"
        assert (await client.post(message("ping"))).status_code == 404


@pytest.mark.parametrize(
    "header",
    [
        {"host": "evil.example.org"},
        {"origin": "http://evil.example.org"},
        {"origin": "null"},
        {"origin": "http://6.6.6.6"},
    ],
)
async def test_a_page_of_another_site_gets_nothing(header: dict[str, str]):
    async with at() as client:
        assert (await client.post(message("initialize", HELLO), **header)).status_code in {403, 421}


async def test_an_agent_that_is_not_there_is_not_found():
    async with at() as client:
        client.url = f"{client.gateway.base}/lok"
        answer = await client.post(message("initialize", HELLO))
        assert (answer.status_code, "no agent 'lok'" in answer.text) == (404, True)


async def test_a_server_that_is_not_there_cannot_be_shown_alone():
    async with crib_with({"s": plain()}) as crib:
        gateway = Gateway(crib, crib.mcp or NoServers())
        try:
            assert gateway.why_not("s") == gateway.why_not("S") == gateway.why_not("") == ""
            assert gateway.why_not("nosuch") == "there is no MCP server 'nosuch'"
            assert crib.mcp is not None
            await crib.mcp.servers.add("new", {"command": "x"}, by="me")
            await crib.refresh()
            assert gateway.why_not("new") == "server new is pending approval"
        finally:
            await gateway.close()


async def test_answers_that_can_be_fetched_again_are_kept_within_bounds():
    session = Session(Place("a", None, ""), "2025-11-25", {}, {})
    for number in range(40):
        stream = session.stream()
        stream.put(b"x" * 1_000_000)
        stream.close()
        assert sum(one.size for one in session.streams.values()) < BYTES_KEPT + 2_000_000, number
    assert len(session.streams) > 1
    assert session.stream().name in session.streams


async def test_a_session_ends_when_its_client_says_so():
    async with at() as client:
        await client.begin()
        assert (await client.post(message("ping"))).json()["result"] == {}
        assert (await client.http.delete(client.url, headers=client.headers)).status_code == 200
        assert (await client.post(message("ping"))).status_code == 404
        client.headers.pop("mcp-session-id")
        assert (await client.post(message("ping"))).status_code == 400


@pytest.mark.parametrize(
    ("version", "agreed"), [("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")]
)
async def test_the_version_is_agreed_on(version: str, agreed: str):
    async with at() as client:
        assert (await client.begin(protocolVersion=version))["protocolVersion"] == agreed


async def test_several_messages_at_once():
    async with at() as client:
        await client.begin(protocolVersion="2025-03-26")
        call = {"name": "look", "arguments": {"at": "it"}}
        batch = [
            message("ping", number=1),
            {"jsonrpc": "2.0", "method": "notifications/x"},
            message("tools/call", call, 2),
        ]
        answers = (await client.post(batch)).json()
        assert [one["id"] for one in answers] == [1, 2]
        assert answers[1]["result"]["content"][0]["text"] == "it looks fine"


@pytest.mark.parametrize(
    ("body", "number"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b'"x"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
    ],
)
async def test_what_is_no_message_is_refused(body: bytes, number: int):
    async with at() as client:
        await client.begin()
        assert code(await client.post(body)) == (400, number)
        assert (await client.post(message("ping"))).json()["result"] == {}


@pytest.mark.parametrize(
    ("method", "params", "number"),
    [
        ("nothing/like/this", {}, -32601),
        ("server/discover", {}, -32601),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", [], -32602),
        ("tools/list", {"cursor": "17"}, -32602),
        ("tools/list", {"cursor": 5}, -32602),
        ("logging/setLevel", {"level": "loud"}, -32602),
        ("prompts/get", {"name": "none"}, -32602),
        ("resources/read", {}, -32602),
        ("resources/read", {"uri": "none://here"}, -32602),
        ("completion/complete", {"ref": {}}, -32602),
    ],
)
async def test_requests_that_mean_nothing_are_answered(method: str, params: Any, number: int):
    async with at() as client:
        await client.begin()
        assert code(await client.post(message(method, params))) == (200, number)


@pytest.mark.parametrize(
    ("headers", "number"),
    [
        ({"mcp_method": "tools/call"}, -32020),
        ({"mcp_method": ""}, -32020),
        ({"mcp_protocol_version": "2030-01-01"}, -32020),
    ],
)
async def test_headers_that_say_something_else_are_refused(headers: dict[str, str], number: int):
    async with at() as client:
        assert code(await client.modern("tools/list", **headers)) == (400, number)


@pytest.mark.meets("gateway:body:decides")
async def test_a_name_in_the_header_must_be_the_one_in_the_body():
    async with at() as client:
        call = {"name": "look", "arguments": {"at": "it"}}
        assert code(await client.modern("tools/call", call, mcp_name="wipe")) == (400, -32020)
        assert code(await client.modern("tools/call", {}, mcp_name="wipe")) == (400, -32602)
        assert (await client.modern("tools/call", call)).json()["result"]["resultType"] == "complete"


async def test_the_wrong_kind_of_request_is_told_so():
    async with at() as client:
        assert (await client.post(message("ping"), content_type="text/plain")).status_code == 415
        assert (await client.post(message("ping"), accept="text/html")).status_code == 406
        assert (await client.http.put(client.url)).status_code == 405
        assert (await client.http.get(client.url, headers={"accept": "text/html"})).status_code == 406
        assert (await client.post(b" " * ((16 << 20) + 1))).status_code == 413


async def test_an_answer_that_was_cut_off_is_fetched_later():
    async with at(everything("ev", "new")) as client:
        await client.begin()
        call = {"name": "mcp_ev_test_tool_with_logging", "arguments": {}}
        data = json.dumps(message("tools/call", call, 9)).encode()
        seen = ""
        async with client.http.stream("POST", client.url, content=data, headers=client.headers) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("id:"):
                    seen = line.removeprefix("id:").strip()
                if "Tool execution started" in line:
                    break
        headers = {**client.headers, "last-event-id": seen}
        async with asyncio.timeout(10), client.http.stream("GET", client.url, headers=headers) as answer:
            lines = [line async for line in answer.aiter_lines()]
        told = [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data: {")]
        assert [one.get("method") for one in told] == ["notifications/message", "notifications/message", None]
        assert told[-1]["id"] == 9
        assert told[-1]["result"]["content"][0]["text"] == "The tool with logging has run."


async def test_state_that_a_client_made_up_is_refused():
    async with at(everything("ev", "old")) as client:
        call = {"name": "mcp_ev_sum_up", "arguments": {"a": 1, "b": 2}}
        able = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        body = message("tools/call", {**call, "requestState": "tcb-made-up", "inputResponses": {}, "_meta": able})
        named = {"mcp_protocol_version": "2026-07-28", "mcp_method": "tools/call", "mcp_name": "mcp_ev_sum_up"}
        assert code(await client.post(body, **named)) == (400, -32602)


async def test_a_waiting_call_is_bound_to_what_was_asked():
    async with at(everything("ev", "old")) as client:
        able = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
        named = {
            "mcp_protocol_version": "2026-07-28",
            "mcp_method": "tools/call",
            "mcp_name": "mcp_ev_test_elicitation",
        }

        async def ask(words: str, **more: Any) -> httpx2.Response:
            call = {"name": "mcp_ev_test_elicitation", "arguments": {"message": words}, "_meta": able, **more}
            return await client.post(message("tools/call", call), **named)

        first = (await ask("who?")).json()["result"]
        assert first["resultType"] == "input_required"
        ((key, question),) = first["inputRequests"].items()
        assert question["method"] == "elicitation/create"
        more = {
            "requestState": first["requestState"],
            "inputResponses": {key: {"action": "accept", "content": {"username": "ada", "email": "a@b.c"}}},
        }
        assert code(await ask("somebody else?", **more)) == (400, -32602)
        again = (await ask("who?", requestState=first["requestState"])).json()["result"]
        assert again["requestState"] != first["requestState"]
        done = (await ask("who?", **{**more, "requestState": again["requestState"]})).json()["result"]
        assert "a@b.c" in done["content"][0]["text"]
        assert code(await ask("who?", **{**more, "requestState": again["requestState"]})) == (400, -32602)
