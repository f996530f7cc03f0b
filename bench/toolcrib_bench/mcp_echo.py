"""A downstream that costs next to nothing: MCP by hand, over a bare socket or over pipes.

`python -m toolcrib_bench.mcp_echo PORT [TOOLS]`, or `stdio` instead of a port.
"""

import asyncio
import sys
from typing import Any, cast

import msgspec
import uvloop

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
decode, encode = msgspec.json.decode, msgspec.json.encode


def tools(many: int) -> list[dict[str, Any]]:
    """An echo, and as many others as are wanted, of the size that tools have."""
    about = "Looks something up in a register and gives back what is known of it. " * 2
    more = [{"name": f"tool_{i}", "description": f"{about} ({i})", "inputSchema": SCHEMA} for i in range(many - 1)]
    return [{"name": "echo", "description": "Says it again.", "inputSchema": SCHEMA}, *more]


class Echo(asyncio.Protocol):
    """One connection. Requests come whole or in pieces, one after the other."""

    many = 1

    def __init__(self) -> None:
        self.held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.held += data
        while (end := self.held.find(b"\r\n\r\n")) >= 0:
            head = self.held[:end].lower()
            size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or b"0")
            if len(self.held) < end + 4 + size:
                return
            body, self.held = self.held[end + 4 : end + 4 + size], self.held[end + 4 + size :]
            self.transport.write(self.answer(head, body))

    def answer(self, head: bytes, body: bytes) -> bytes:
        if not head.startswith(b"post"):
            return b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
        message = decode(body)
        if "id" not in message:
            return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
        told = self.result(message["method"], message.get("params") or {})
        answer = {"jsonrpc": "2.0", "id": message["id"], **told}
        text = encode(answer)
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text)

    def result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/call":
            return {"result": {"content": [{"type": "text", "text": params["arguments"].get("text", "")}]}}
        if method == "tools/list":
            return {"result": {"tools": tools(self.many)}}
        if method == "initialize":
            info = {"name": "echo", "version": "1"}
            can = {"tools": {}}
            return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": can, "serverInfo": info}}
        if method == "ping":
            return {"result": {}}
        return {"error": {"code": -32601, "message": "Method not found"}}


async def serve(port: int, many: int) -> None:
    Echo.many = many
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", port)
    await server.serve_forever()


def talk() -> None:
    """The same, a message on each line."""
    echo = Echo()
    for line in sys.stdin.buffer:
        message = decode(line)
        if "id" in message:
            told = echo.result(message["method"], message.get("params") or {})
            sys.stdout.buffer.write(encode({"jsonrpc": "2.0", "id": message["id"], **told}) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        talk()
    else:
        uvloop.run(serve(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
