"""Servers that hang, die and come back, behind the gateway: the others do not notice, and nothing runs twice."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.gateways import ERAS, Person, everything, free_port, over_http, reached, until, up
from toolcrib.services.mcp.servers import Server, Transport

CODES = {"unknown_outcome", "server_gone"}


@contextmanager
def silent() -> Generator[Server]:
    """A server that accepts whoever comes, and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield Server(name="silent", transport=Transport.HTTP, url=f"http://127.0.0.1:{one.getsockname()[1]}/mcp")


def pid_of(gateway: Any, server: str) -> int:
    return gateway.servers.keeping._shared[server]._speaking.wire._transport.get_pid()


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_never_answers_holds_nobody_up(era: str):
    with silent() as hangs:
        async with up(hangs, everything("ev", "new"), wait=("ev",)) as gateway:
            began = time.monotonic()
            async with Person().client(f"{gateway.base}/a", era) as client:
                tools = {one.name for one in (await client.list_tools()).tools}
                assert "mcp_ev_sum_up" in tools
                assert time.monotonic() - began < 1.0
                called = time.monotonic()
                assert (await client.call_tool("mcp_ev_sum_up", {"a": 1, "b": 2})).content[0].text == "3"
                assert time.monotonic() - called < 0.5
                assert len((await client.list_resources()).resources) == 3


async def test_a_child_that_is_killed_among_a_hundred_calls_comes_back_and_no_call_runs_twice(tmp_path: Path):
    notes = tmp_path / "notes"
    notes.touch()
    async with up(everything("ev", "new")) as gateway, Person().client(f"{gateway.base}/a", "old") as client:
        async with asyncio.TaskGroup() as group:
            calls = [
                group.create_task(client.call_tool("mcp_ev_write_down", {"file": str(notes), "line": str(n)}))
                for n in range(100)
            ]
            await until(lambda: len(notes.read_text().splitlines()) >= 10)
            killed = time.monotonic()
            os.kill(pid_of(gateway, "ev"), signal.SIGKILL)
        results = [call.result() for call in calls]
        failed = [one.meta["toolcrib/error"]["code"] for one in results if one.is_error]
        assert set(failed) <= CODES
        lines = notes.read_text().splitlines()
        assert len(lines) == len(set(lines))
        done = [n for n, one in enumerate(results) if not one.is_error]
        assert set(map(str, done)) <= set(lines)
        assert not (await client.call_tool("mcp_ev_sum_up", {"a": 1, "b": 2})).is_error
        assert time.monotonic() - killed < 2


async def test_a_server_over_http_that_is_started_anew_is_used_again():
    port = free_port()
    server = Server(name="ev", transport=Transport.HTTP, url=f"http://127.0.0.1:{port}/mcp")
    with over_http("old", port) as (_, kill):
        async with up(server) as gateway, Person().client(f"{gateway.base}/a", "old") as client:
            assert not (await client.call_tool("mcp_ev_sum_up", {"a": 1, "b": 2})).is_error
            kill()
            gone = await client.call_tool("mcp_ev_sum_up", {"a": 1, "b": 2})
            assert gone.meta["toolcrib/error"]["code"] in CODES
            with over_http("old", port):
                reached(port)
                back = time.monotonic()
                told = gone
                for _ in range(100):
                    told = await client.call_tool("mcp_ev_sum_up", {"a": 1, "b": 2})
                    if not told.is_error:
                        break
                    await asyncio.sleep(0.02)
                assert not told.is_error
                assert time.monotonic() - back < 2
