"""A server on the official SDK, for both eras.

python sdk_server.py http|legacy|sse PORT
python sdk_server.py stdio
"""

import asyncio
import base64
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from pydantic import BaseModel

server = MCPServer("sdk", instructions="Mind the gap.")
NOTED = Path(sys.argv[3]) if len(sys.argv) > 3 else None
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Point(BaseModel):
    x: int
    y: int


class Sure(BaseModel):
    sure: bool


@server.tool(title="Echo it")
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def point(x: int, y: int = 2) -> Point:
    """A point."""
    return Point(x=x, y=y)


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=PICTURE, format="png")


@server.tool()
async def count(ctx: Context) -> str:
    """Tell of progress."""
    for i in range(3):
        await ctx.report_progress(i, 3)
    return "counted"


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask the person."""
    answer = await ctx.elicit("Sure?", Sure)
    return answer.action


@server.tool()
async def slow(n: int) -> str:
    """Take a while."""
    if NOTED is not None:
        with NOTED.open("a") as out:
            out.write(f"{n}\n")
    await asyncio.sleep(0.005)
    return "done"


@server.tool()
async def grow(ctx: Context) -> str:
    """Have one more tool from now on."""

    def grown() -> str:
        """Grown."""
        return "grown"

    server.add_tool(grown)
    if sys.argv[1] == "legacy":
        await ctx.session.send_tool_list_changed()
    else:
        await ctx.notify_tools_changed()
    return "done"


@server.resource("note://one")
def note() -> str:
    """A note."""
    return "noted"


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"


class NoDiscover:
    """A server of before the stateless era, which does not know what it is asked."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if headers.get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await self.app(scope, receive, send)


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "stdio":
        server.run("stdio")
    else:
        app: Any = server.sse_app() if kind == "sse" else server.streamable_http_app()
        uvicorn.run(NoDiscover(app) if kind == "legacy" else app, port=int(sys.argv[2]), log_level="warning")
