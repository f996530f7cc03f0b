"""Somebody who signs in with a browser on this machine."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Self
from urllib.parse import parse_qsl, urlsplit

_SECONDS = 300.0
_PAGE = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n\r\nYou can close this page."
)


class Browser:
    """Shows where to sign in, and waits on loopback until the browser comes back."""

    def __init__(self, say: Callable[[str], None], port: int) -> None:
        self._say = say
        self._port = port
        self._server: asyncio.Server | None = None
        self._found: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()

    @property
    def back(self) -> str:
        """The address to which the browser comes back."""
        return f"http://127.0.0.1:{self._port}/callback"

    async def open(self, url: str) -> None:
        """Show the page to the person."""
        self._say(url)

    async def came_back(self) -> Mapping[str, str]:
        """What the browser came back with; nothing when nobody signed in."""
        try:
            async with asyncio.timeout(_SECONDS):
                return await self._found
        except TimeoutError:
            return {"error": "nobody signed in in time"}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", self._port, limit=16_384)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode("latin-1").split(" ")
        parts = urlsplit(line[1] if len(line) > 1 else "")
        if parts.path == "/callback" and not self._found.done():
            self._found.set_result(dict(parse_qsl(parts.query)))
        writer.write(_PAGE)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
