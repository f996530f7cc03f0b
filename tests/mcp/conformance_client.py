"""What the official conformance suite runs as a client: our sessions against the suite's servers.

mcp_conformance_client.sh "python tests/mcp/conformance_client.py" OUT
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.machine.mcp.keeping import Keeping
from toolcrib.machine.mcp.origin import Network
from toolcrib.machine.mcp.signing import OAuth
from toolcrib.services.mcp.servers import Server, Transport

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
CIMD = "https://conformance-test.local/client-metadata.json"


class Wallet:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    async def get(self, what: str) -> str:
        return self.texts.get(what, "")

    async def put(self, what: str, text: str) -> None:
        self.texts[what] = text


class Headless:
    """Agrees to everything, as a browser without a person would."""

    back = "http://localhost:3000/callback"

    def __init__(self) -> None:
        self.found: Mapping[str, str] = {}

    async def open(self, url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=False) as http:
            answer = await http.get(url)
        self.found = dict(parse_qsl(urlsplit(answer.headers["location"]).query))

    async def came_back(self) -> Mapping[str, str]:
        return self.found


class Yes:
    """A client that accepts each form with its defaults."""

    owner = "suite"
    extra: JsonObject = {}  # noqa: RUF012 - never changed
    takes_input_required = False
    capabilities: JsonObject = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}  # noqa: RUF012

    def hold(self) -> None:
        pass

    def notify(self, method: str, params: JsonObject) -> None:
        pass

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        if method == "elicitation/create":
            fields = params.get("requestedSchema", {}).get("properties", {})
            return {"action": "accept", "content": {k: f["default"] for k, f in fields.items() if "default" in f}}
        if method == "roots/list":
            return {"roots": []}
        return {"role": "assistant", "model": "none", "content": {"type": "text", "text": "yes"}}


async def main() -> None:
    url = sys.argv[-1]
    oauth = {key: CONTEXT[key] for key in ("client_id", "client_secret") if CONTEXT.get(key)}
    if SCENARIO == "auth/pre-registration":
        oauth["token_endpoint_auth_method"] = "client_secret_basic"
    server = Server(
        name="suite",
        transport=Transport.HTTP,
        url=url,
        auth="oauth",
        seconds=20,
        oauth={**oauth, "client_metadata_url": CIMD},
    )
    listed: asyncio.Future[list[JsonObject]] = asyncio.get_running_loop().create_future()
    wallet, person = Wallet(), Headless()

    async def prepare(known: Server, _identity: str) -> Server:
        return known

    async def tell(_name: str, tools: list[JsonObject]) -> None:
        if not listed.done():
            listed.set_result(tools)

    def sign(known: Server, _identity: str, network: Network) -> Any:
        return OAuth(known, network, wallet, person)

    keeping = Keeping(prepare, tell, sign=sign)
    await keeping.use([server], connect=False)
    try:
        session = await keeping.get("suite")
        await session.ready()
        async with asyncio.timeout(15):
            tools = await listed
        await work(session, tools)
    except (ToolError, TimeoutError) as error:
        print(f"{SCENARIO}: {error!r}", file=sys.stderr)
        raise SystemExit(1) from None
    finally:
        for line in keeping.log("suite").lines:
            print(line[1], file=sys.stderr)
        await keeping.close()


async def work(session: Any, tools: list[JsonObject]) -> None:
    async def call(name: str, arguments: JsonObject) -> None:
        try:
            await session.request("tools/call", {"name": name, "arguments": arguments}, link=Yes())
        except ToolError as error:
            print(f"{name}: {error!r}", file=sys.stderr)

    if SCENARIO == "tools_call":
        await call("add_numbers", {"a": 5, "b": 3})
    elif SCENARIO == "http-custom-headers":
        for one in CONTEXT.get("toolCalls", []):
            await call(one["name"], one.get("arguments", {}))
    elif SCENARIO not in {"initialize", "json-schema-ref-no-deref"}:
        for tool in tools:
            await call(tool["name"], {})
        if SCENARIO == "http-standard-headers":
            for resource in (await session.request("resources/list", {}))["resources"]:
                await session.request("resources/read", {"uri": resource["uri"]})
            for prompt in (await session.request("prompts/list", {}))["prompts"]:
                await session.request("prompts/get", {"name": prompt["name"]})


asyncio.run(main())
