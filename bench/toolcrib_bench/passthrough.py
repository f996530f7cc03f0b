"""The floor of a gateway: a bare pass-through, written by hand. `python -m toolcrib_bench.passthrough PORT DOWNSTREAM_PORT`.

It does what nobody can leave out, and nothing else: it reads the request, checks a bearer and an allow set, sends the
same request on over a kept connection, and gives back what comes. No sessions, no schemas, no events, no record.
"""

import asyncio
import sys

import msgspec
import uvicorn
from starlette.types import Receive, Scope, Send

TOKEN = b"Bearer tcb_bench"
ALLOWED = frozenset({"echo", "mcp_echo_echo"})
decode, encode = msgspec.json.Decoder().decode, msgspec.json.encode
HEAD = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n"
)


class Kept:
    """Connections to the downstream, used again and again."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, body: bytes) -> bytes:
        reader, writer = self.free.pop() if self.free else await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(HEAD % len(body) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        answer = await reader.readexactly(size)
        self.free.append((reader, writer))
        return answer


class Pass:
    """The application."""

    def __init__(self, port: int) -> None:
        self.kept = Kept(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if dict(scope["headers"]).get(b"authorization") != TOKEN:
            await self.say(send, 401, b"")
            return
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        message = decode(body)
        params = message.get("params") or {}
        if message.get("method") == "tools/call":
            if params["name"] not in ALLOWED:
                error = {"code": -32602, "message": "not allowed"}
                await self.say(send, 200, encode({"jsonrpc": "2.0", "id": message["id"], "error": error}))
                return
            body = encode({**message, "params": {**params, "name": params["name"].removeprefix("mcp_echo_")}})
        await self.say(send, 200, await self.kept.ask(body))

    async def say(self, send: Send, status: int, body: bytes) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    uvicorn.run(
        Pass(int(sys.argv[2])),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        loop="uvloop",
        http="httptools",
    )
