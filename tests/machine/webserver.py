"""A small web server on loopback that answers as it is told, byte by byte if need be."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Any

from msgspec import Struct


class Asked(Struct):
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    peer: tuple[str, int]


Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
Rule = Callable[[Asked], Answer]


def answer(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A whole HTTP answer."""
    data = body.encode() if isinstance(body, str) else body
    lines = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(data))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + data


def redirect(to: str, status: str = "302 Found") -> bytes:
    """An answer that leads elsewhere."""
    return answer("gone", status, Location=to)


class Server:
    """What was asked of the server, and where it stands."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.asked: list[Asked] = []
        self.connections = 0
        self.port = 0
        self.scheme = "http"
        self._talks: set[asyncio.Task[Any]] = set()

    def url(self, target: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{target}"

    @property
    def open(self) -> list[str]:
        """What a configuration has to open for the server to be reached."""
        return [f"127.0.0.1:{self.port}"]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._talks.discard(talk)

    async def end(self) -> None:
        """End every talk that still goes on: nothing may hang on them but the loop, which lets go of them."""
        talks = list(self._talks)
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(method, target, headers, body, writer.get_extra_info("peername"))
        self.asked.append(asked)
        said = self.rule(asked)
        if isinstance(said, bytes):
            writer.write(said)
            await writer.drain()
            return b"Connection: close" not in said
        await said(writer)
        return False


@asynccontextmanager
async def serving(rule: Rule | bytes, tls: SSLContext | None = None):
    """A server that runs meanwhile."""
    server = Server((lambda _: rule) if isinstance(rule, bytes) else rule)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    server.scheme = "https" if tls else "http"
    try:
        yield server
    finally:
        listening.close()
        await server.end()
