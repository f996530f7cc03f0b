"""Cribs with MCP servers, real processes all of them."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from toolcrib.app import Crib
from toolcrib.core.call import Outcome
from toolcrib.services.config.reading import read_config

PLAIN = Path(__file__).parent / "plain_server.py"


def plain(mode: str = "good", noted: Path | None = None, **more: Any) -> dict[str, Any]:
    """A server over pipes, as it is configured."""
    args = [str(PLAIN), mode, *([str(noted)] if noted else [])]
    return {"command": sys.executable, "args": args, **more}


@asynccontextmanager
async def crib_with(servers: dict[str, Any] | None = None, **config: Any) -> AsyncGenerator[Crib]:
    """A crib in memory whose helper holds every MCP tool, unless said otherwise."""
    import yaml

    data = {"agents": {"helper": {"tools": ["group:mcp"]}}, "mcpServers": servers or {}, **config}
    crib = Crib(config=read_config(yaml.safe_dump(data), env=dict(os.environ)), native=True)
    await crib.checked()
    try:
        yield crib
    finally:
        await crib.close()


async def listed(crib: Crib, *servers: str) -> None:
    """Connect, and wait for the tools."""
    assert crib.mcp is not None
    for server in servers:
        await crib.mcp.listed(server)


async def called(crib: Crib, tool: str, arguments: Any = None, **who: Any) -> Outcome:
    """One call of the helper."""
    return await crib.call(tool, arguments or {}, agent="helper", **who)


async def until(holds: Callable[[], Any], seconds: float = 10) -> Any:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it did not come to be in time"
        await asyncio.sleep(0.01)
    return found
