"""Puts the faces that are there behind the door.

Each face is a module with one or more of these: `routes()`, a list of Starlette routes whose endpoints say who may use
them with `@allows`; `in_front(house, knows, behind)`, an application that takes its own paths before the door, checks
for itself who comes, and hands all others on; `lifespan(house)`, an asynchronous context in which it works. A face that
is not there is not mounted.
"""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import Any, cast

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from toolcrib.app.house import House
from toolcrib.core.heavy import heavy
from toolcrib.faces.http import application as http
from toolcrib.faces.http.repeats import Repeats
from toolcrib.faces.serving.door import Door, Part
from toolcrib.faces.serving.hosts import Hosts
from toolcrib.faces.serving.metrics import Metrics
from toolcrib.faces.serving.refusals import Refusals

WEB, MCP = "toolcrib.faces.web", "toolcrib.faces.mcp"
Lifespan = Callable[[House], AbstractAsyncContextManager[None]]


class Composition:
    """The application of a house, and what its faces need while it runs."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._lifespans: list[Lifespan] = []
        web, mcp = _face(WEB), _face(MCP)
        api = http.application(house)
        metrics = Metrics(house)
        parts = [
            self._part("metrics", [*metrics.routes()]),
            Part(name="http", routes=http.routes(api), app=Repeats(api)),
        ]
        if web is not None:
            parts.append(self._part("web", self._web(web)))
        server = house.config.server
        hosts = Hosts(server.hosts, house.settings.url, house.settings.host)
        self.door = Door(house, parts, hosts, Refusals(page=web is not None), metrics.requested)
        trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1,::1")
        self.app: ASGIApp = cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", self.door), trusted))
        if mcp is not None:
            self._begin(mcp)
            self.app = mcp.in_front(house, hosts.knows, self.app)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Everything that the faces need, for as long as it is entered."""
        async with AsyncExitStack() as stack:
            for lifespan in self._lifespans:
                await stack.enter_async_context(lifespan(self.house))
            yield

    def _web(self, face: Any) -> list[BaseRoute]:  # noqa: ANN401 - a module
        self._begin(face)
        return list(face.routes())

    def _begin(self, face: Any) -> None:  # noqa: ANN401 - a module
        if hasattr(face, "lifespan"):
            self._lifespans.append(face.lifespan)

    def _part(self, name: str, routes: list[BaseRoute]) -> Part:
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False
        app.state.house = self.house
        return Part(name=name, routes=routes, app=app)


def _face(name: str) -> Any:  # noqa: ANN401 - a module
    """A face, if it is there and does something."""
    if find_spec(name) is None:
        return None
    face = heavy(name)
    return face if hasattr(face, "routes") or hasattr(face, "in_front") else None
