"""An MCP server that wants a token, and the authorization server that gives one.

python oauth_server.py PORT
"""

import json
import sys
from typing import Any
from urllib.parse import urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

PORT = int(sys.argv[1])
BASE = f"http://127.0.0.1:{PORT}"
TOKEN = "token-that-nobody-may-read-1234567890"
given: list[str] = []


async def mcp(request: Request) -> Response:
    if request.headers.get("authorization") != f"Bearer {TOKEN}":
        said = f'Bearer resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"'
        return Response(status_code=401, headers={"www-authenticate": said})
    message = json.loads(await request.body())
    results: dict[str, Any] = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "o"}},
        "tools/list": {"tools": [{"name": "who", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": f"known by {TOKEN}"}]},
    }
    if "id" not in message:
        return Response(status_code=202)
    result = results.get(message["method"])
    body = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], **body})


async def resource(_: Request) -> Response:
    return JSONResponse({"resource": f"{BASE}/mcp", "authorization_servers": [BASE]})


async def metadata(_: Request) -> Response:
    return JSONResponse(
        {
            "issuer": BASE,
            "authorization_endpoint": f"{BASE}/authorize",
            "token_endpoint": f"{BASE}/token",
            "registration_endpoint": f"{BASE}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }
    )


async def register(request: Request) -> Response:
    return JSONResponse({**json.loads(await request.body()), "client_id": "c1"}, status_code=201)


async def authorize(request: Request) -> Response:
    asked = request.query_params
    given.append(asked["code_challenge"])
    return RedirectResponse(f"{asked['redirect_uri']}?{urlencode({'code': 'yes', 'state': asked['state']})}", 302)


async def token(_: Request) -> Response:
    return JSONResponse({"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "again"})


app = Starlette(
    routes=[
        Route("/mcp", mcp, methods=["POST"]),
        Route("/.well-known/oauth-protected-resource/mcp", resource),
        Route("/.well-known/oauth-authorization-server", metadata),
        Route("/register", register, methods=["POST"]),
        Route("/authorize", authorize),
        Route("/token", token, methods=["POST"]),
    ]
)

if __name__ == "__main__":
    uvicorn.run(app, port=PORT, log_level="warning")
