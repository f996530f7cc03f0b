"""The endpoint in front of the other faces of a server: calls must not pay for routes that they do not take."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from toolcrib.app.house import NOBODY, House
from toolcrib.faces.mcp.door import METADATA, Door, Rules
from toolcrib.faces.mcp.gateway import Gateway
from toolcrib.faces.mcp.http import PREFIX, Endpoint
from toolcrib.faces.mcp.upstream import NoServers

App = Callable[[Any, Any, Any], Awaitable[None]]
_OPEN: WeakKeyDictionary[House, tuple[Gateway, Endpoint]] = WeakKeyDictionary()


def in_front(house: House, knows: Callable[[str], bool], behind: App) -> App:
    """Take what is the gateway's, and hand everything else on."""
    rules = Rules(
        knows=knows,
        tokens=house.tokens if house.auth else None,
        servers=(house.config.mcp.issuer,) if house.tokens is not house.people.keys else (),
        nobody=NOBODY,
        url=house.settings.url,
    )
    gateway = Gateway(house.crib, house.crib.mcp or NoServers())
    endpoint = Endpoint(gateway, Door(rules))
    _OPEN[house] = gateway, endpoint

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's own
        path = scope.get("path", "")
        if path.startswith((PREFIX, METADATA)):
            await endpoint(scope, receive, send)
        else:
            await behind(scope, receive, send)

    return app


async def _ended(house: House, endpoint: Endpoint) -> None:
    """Once the server is told to stop, end the streams that would hold it up."""
    async for _ in house.events.listen(kinds=()):
        pass
    endpoint.close()


@asynccontextmanager
async def lifespan(house: House) -> AsyncGenerator[None]:
    """While the server runs."""
    gateway, endpoint = _OPEN.pop(house)
    if house.crib.mcp is not None:
        await house.crib.mcp.start()
    ending = asyncio.ensure_future(_ended(house, endpoint))
    try:
        yield
    finally:
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
        endpoint.close()
        await gateway.close()
