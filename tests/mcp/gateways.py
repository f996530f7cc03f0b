"""A gateway on loopback, before servers that are spoken to for real."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn
from mcp.client.client import Client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

from toolcrib import Crib
from toolcrib.core.call import Caller, JsonObject
from toolcrib.core.tool import Tool
from toolcrib.faces.mcp.door import Door, Rules
from toolcrib.faces.mcp.gateway import Gateway
from toolcrib.faces.mcp.http import Endpoint
from toolcrib.machine.mcp.keeping import Keeping
from toolcrib.services.config.values import Config
from toolcrib.services.mcp.downstream import Downstream, Heard, ServerFacts
from toolcrib.services.mcp.names import name_of
from toolcrib.services.mcp.servers import Pin, Server, Transport
from toolcrib.sources.mcp import mcp_tool

ROOT = Path(__file__).parents[2]
ERAS = {"old": {"MCP_OLD": "1"}, "new": {}}


def everything(name: str, era: str) -> Server:
    """The server with everything, as a child."""
    return Server(
        name=name,
        transport=Transport.STDIO,
        command=sys.executable,
        args=("-m", "tests.mcp_everything", "stdio"),
        cwd=str(ROOT),
        env=ERAS[era],
    )


@contextmanager
def over_http(era: str, port: int = 0) -> Generator[tuple[str, Callable[[], None]]]:
    """The server with everything, over HTTP: its address, and how it is killed."""
    port = port or free_port()
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.mcp_everything", "http", str(port)],
        cwd=ROOT,
        env={**os.environ, **ERAS[era]},
        stderr=subprocess.DEVNULL,
    )
    try:
        reached(port)
        yield f"http://127.0.0.1:{port}/mcp", child.kill
    finally:
        child.kill()
        child.wait()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def reached(port: int, seconds: float = 20) -> None:
    """Wait until something listens there."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.5):
            return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on {port}")


async def until(holds: Callable[[], object], seconds: float = 10) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to be so"
        await asyncio.sleep(0.01)


class Servers:
    """The sessions of a gateway under test, and the tools that its servers have."""

    def __init__(self) -> None:
        self.tools: dict[str, list[JsonObject]] = {}
        self.keeping = Keeping(self._prepare, self._listed)
        self.servers: dict[str, Server] = {}
        self.crib: Crib | None = None

    async def _prepare(self, server: Server, _identity: str) -> Server:
        return server

    async def _listed(self, server: str, tools: list[JsonObject]) -> None:
        self.tools[server] = tools
        if self.crib is not None:
            self.crib.use(self.made())

    def made(self) -> list[Tool]:
        """What the crib holds of them."""
        return [
            mcp_tool(
                self.servers[name],
                Pin(server=name, tool=one["name"], name=name_of(name, one["name"]), definition=one),
                self.keeping,
                lambda _: "",
            )
            for name, tools in self.tools.items()
            for one in tools
        ]

    async def session(self, server: str, caller: Caller) -> Downstream:
        del caller
        return await self.keeping.get(server)

    def facts(self, server: str) -> ServerFacts | None:
        kept = self.keeping._shared.get(server)
        return kept.facts if kept is not None and kept.facts.version else None

    def unlisted(self) -> tuple[str, ...]:
        return tuple(name for name in self.servers if name not in self.tools)

    async def listed(self, server: str) -> None:
        await until(lambda: server in self.tools, 30)

    def listen(self, heard: Heard) -> Callable[[], None]:
        return self.keeping.listen(heard)


class Up:
    """A gateway that is up."""

    def __init__(self, base: str, crib: Crib, gateway: Gateway, servers: Servers) -> None:
        self.base, self.crib, self.gateway, self.servers = base, crib, gateway, servers


@asynccontextmanager
async def up(
    *servers: Server,
    agents: Mapping[str, Any] | None = None,
    config: Config | None = None,
    own: tuple[Any, ...] = (),
    wait: tuple[str, ...] | None = None,
    rules: Rules | None = None,
    **more: Any,
) -> AsyncGenerator[Up]:
    """A gateway before these servers; `wait` are those whose tools have to be there first."""
    known = Servers()
    known.servers = {server.name: server for server in servers}
    await known.keeping.use(servers)
    expected = tuple(known.servers) if wait is None else wait
    await until(lambda: set(expected) <= set(known.tools), 30)
    groups = [f"group:mcp:{name}" for name in known.tools]
    crib = Crib([*own, *known.made()], agents or {"a": groups}, config=config, **more)
    known.crib = crib
    crib.mcp = None  # the servers are those of the test
    gateway = Gateway(crib, known)
    endpoint = Endpoint(gateway, Door(rules or Rules(knows=lambda host: host.startswith("127.0.0.1"))))
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(endpoint, host="127.0.0.1", port=port, log_level="error", lifespan="off", ws="none")
    )
    server.capture_signals = _no_signals
    serving = asyncio.ensure_future(server.serve())
    try:
        await until(lambda: server.started)
        yield Up(f"http://127.0.0.1:{port}/mcp", crib, gateway, known)
    finally:
        endpoint.close()
        await gateway.close()
        server.should_exit = server.force_exit = True
        await serving
        await known.keeping.close()
        await crib.close()


@contextmanager
def _no_signals() -> Generator[None]:
    yield


class Person:
    """Whoever sits at a client: what was asked, and what came by itself."""

    def __init__(self, action: str = "accept", content: Mapping[str, Any] | None = None) -> None:
        self.asked: list[Any] = []
        self.logs: list[Any] = []
        self.told: list[Any] = []
        self.progress: list[tuple[float, float | None]] = []
        self.action, self.content = action, content

    async def elicit(self, context: Any, params: Any) -> Any:
        self.asked.append(params)
        content = dict(self.content or {"username": "ada", "email": "ada@example.org"})
        return ElicitResult(action=self.action, content=content if self.action == "accept" else None)  # type: ignore[arg-type]

    async def sample(self, context: Any, params: Any) -> Any:
        self.asked.append(params)
        return CreateMessageResult(role="assistant", content=TextContent(text="forty-two"), model="none")

    async def roots(self, context: Any) -> Any:
        return ListRootsResult(roots=[Root(uri="file:///work")])  # type: ignore[arg-type]

    async def log(self, params: Any) -> None:
        self.logs.append(params)

    async def hear(self, message: Any) -> None:
        self.told.append(message)

    async def goes_on(self, done: float, total: float | None, _words: str | None) -> None:
        self.progress.append((done, total))

    def client(self, url: Any, era: str, **more: Any) -> Any:
        """The official client of an era."""
        return Client(
            url,
            mode="legacy" if era == "old" else "auto",
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
            logging_callback=self.log,
            message_handler=self.hear,
            log_level="debug" if era == "new" else None,
            **more,
        )
