"""MCP servers: where tools of others come from."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.faces.web.frame import house, render
from toolcrib.faces.web.places import Page
from toolcrib.services.people.principal import Role, allows

PAGE = Page(title="MCP servers", icon="plug", path="/mcp-servers", group="Connections", order=1, scope="mcp")


@allows(Role.VIEWER, "mcp")
async def index(request: Request) -> Response:
    """Every server that tools come from."""
    tools = house(request).crib.resolver.registry.tools
    found: dict[str, int] = {}
    for tool in tools:
        if tool.source == "mcp":
            found[tool.origin] = found.get(tool.origin, 0) + 1
    return await render(request, "mcp_servers/list.html", title="MCP servers", servers=sorted(found.items()))


ROUTES = [Route("/mcp-servers", index, methods=["GET"])]
