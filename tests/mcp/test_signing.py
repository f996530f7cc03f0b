"""Signing in at a server with OAuth, as somebody with a browser does."""

import asyncio
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.conftest import called, crib_with, listed
from toolcrib.app.signing import Browser
from toolcrib.core.errors import ToolFailed

SERVER = Path(__file__).parent / "oauth_server.py"
TOKEN = "token-that-nobody-may-read-1234567890"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def port() -> Iterator[int]:
    port = free_port()
    process = subprocess.Popen([sys.executable, str(SERVER), str(port)])
    try:
        while True:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, "the server did not start"
        yield port
    finally:
        process.kill()
        process.wait()


async def test_somebody_signs_in_once_and_the_tokens_are_in_the_vault(port: int):
    server = {"url": f"http://127.0.0.1:{port}/mcp", "auth": "oauth"}
    agents = {"helper": {"toolboxes": ["all"], "tools": ["group:mcp"]}}
    opened: list[asyncio.Future[bytes]] = []

    def browse(url: str) -> None:
        loop = asyncio.get_running_loop()
        opened.append(loop.run_in_executor(None, lambda: urllib.request.urlopen(url, timeout=10).read()))

    async with crib_with({"s": server}, agents=agents) as crib:
        assert crib.mcp is not None
        with pytest.raises(ToolFailed, match="wants somebody to sign in"):
            await listed(crib, "s")
        async with Browser(browse, free_port()) as person:
            crib.mcp.sign_in_with(person)
            await listed(crib, "s")
            assert b"You can close this page" in await opened[0]
        done = await called(crib, "mcp_s_who")
        assert done.ok
        assert TOKEN not in done.text, "the vault's values are scrubbed"
        found = await called(crib, "search_secrets", {"query": ""})
        assert TOKEN not in found.text
        assert "token" not in found.text.lower()
        assert await crib.mcp.wallet("s").get("tokens")


async def test_without_oauth_the_refusal_says_what_to_do(port: int):
    async with crib_with({"s": {"url": f"http://127.0.0.1:{port}/mcp"}}) as crib:
        with pytest.raises(ToolFailed, match=r"did not let us in \(401\)"):
            await listed(crib, "s")
