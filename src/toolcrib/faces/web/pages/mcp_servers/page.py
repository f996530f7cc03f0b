"""MCP servers: added, approved, their tools pinned and compared, who may use them, and what they say."""

import shlex
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.faces.web.forms import Form, form
from toolcrib.faces.web.frame import answering, done, house, principal, render
from toolcrib.faces.web.places import Page
from toolcrib.services.mcp.servers import McpGrant, Scope
from toolcrib.services.people.principal import Role, allows

PAGE = Page(title="MCP servers", icon="plug", path="/mcp-servers", group="Connections", order=1, scope="mcp")
LIST = "/mcp-servers"
LOG_SHOWN = 200
PINS_SHOWN = 200
_ORDER = {"approved": 1, "gone": 2}  # tools that wait for somebody come first
_DONE = {
    "approve": "{} is approved, and is being connected.",
    "disable": "{} is out of use.",
    "enable": "{} may be used again, if it is approved.",
    "retry": "{} is being connected.",
}


def _desk(request: Request) -> Any:  # noqa: ANN401 - services.mcp.desk.McpServers, where this house has it
    """What knows the servers; None in a house without them."""
    mcp = getattr(house(request).crib, "mcp", None)
    return None if mcp is None else mcp.servers


def _needed(request: Request) -> Any:  # noqa: ANN401 - the same
    desk = _desk(request)
    if desk is None:
        raise ToolFailed("This house has no MCP servers.", code="not_found")
    return desk


def link(name: str, tab: str = "") -> str:
    """The page of a server."""
    return f"{LIST}/{quote(name, safe='')}" + (f"/{tab}" if tab else "")


@allows(Role.VIEWER, "mcp")
@answering
async def index(request: Request) -> Response:
    """Every server, and who asks for one."""
    desk = _desk(request)
    servers: list[Any] = await desk.all() if desk is not None else []
    waiting: list[Any] = [one for one in await desk.requests() if one.state == "pending"] if desk is not None else []
    return await render(
        request,
        "mcp_servers/list.html",
        part="mcp_servers/rows.html",
        title="MCP servers",
        servers=servers,
        requests=waiting,
        there=desk is not None,
        link=link,
    )


@allows(Role.ADMIN, "mcp")
@answering
async def new(request: Request) -> Response:
    """The form for a new one."""
    _needed(request)
    return await render(request, "mcp_servers/new.html", title="New MCP server")


@allows(Role.ADMIN, "mcp")
@answering
async def create(request: Request) -> Response:
    """Keep a new one; it is approved at once where the person says so."""
    filled, desk = await form(request), _needed(request)
    made = await desk.add(
        filled.needed("name", "The name"),
        _said(filled),
        by=principal(request).name,
        approve=filled.ticked("approve"),
    )
    return done(request, link(made.name), f"{made.name} is there.")


def _said(filled: Form) -> dict[str, Any]:
    """A server as mcp.json has it."""
    said: dict[str, Any] = {}
    where = filled.needed("target", "The command or the address")
    pairs = _pairs(filled)
    if where.startswith(("http://", "https://")):
        said["url"] = where
        if pairs:
            said["headers"] = pairs
        return said
    try:
        words = shlex.split(where)
    except ValueError as error:
        raise ToolFailed(
            f"The command cannot be read: {error}.", code="bad_command", hint="Close its quotes."
        ) from None
    said |= {"command": words[0], "args": words[1:]}
    if pairs:
        said["env"] = pairs
    return said


def _pairs(filled: Form) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in filled.raw("pairs").split("\n"):
        name, sign, value = line.partition("=")
        if line.strip() and not sign:
            raise ToolFailed(f"{line.strip()[:40]!r} has no =.", code="bad_pair", hint="Write NAME=value, one a line.")
        if line.strip():
            found[name.strip()] = value.strip()
    return found


@allows(Role.VIEWER, "mcp")
@answering
async def one(request: Request) -> Response:
    """One server: its tools as they were approved and as they are, grants, and its log."""
    desk, name = _needed(request), request.path_params["name"]
    server = await desk.get(name)
    mine, q = server.name.lower(), request.query_params.get("q", "").strip()
    pins = [pin for pin in await desk.pins(server.name) if q.lower() in f"{pin.tool} {pin.name}".lower()]
    pins.sort(key=lambda pin: _ORDER.get(pin.state, 0))
    return await render(
        request,
        "mcp_servers/one.html",
        part="mcp_servers/about.html",
        title=server.name,
        server=server,
        pins=pins[:PINS_SHOWN],
        left=max(0, len(pins) - PINS_SHOWN),
        q=q,
        grants=[one for one in await desk.grants() if one.server.lower() == mine],
        requests=[one for one in await desk.requests() if one.server.lower() == mine],
        log=list(desk.log(server.name))[-LOG_SHOWN:],
        agents=sorted(house(request).crib.resolver.grants.agents),
        link=link,
    )


@allows(Role.ADMIN, "mcp")
@answering
async def act(request: Request) -> Response:
    """Approve it, take it out of use or back, connect again, or forget it."""
    desk, filled = _needed(request), await form(request)
    name, who = request.path_params["name"], principal(request).name
    what = filled.text("act")
    if what == "approve":
        await desk.approve(name, by=who)
    elif what in {"disable", "enable"}:
        await desk.disable(name, disabled=what == "disable")
    elif what == "retry":
        house(request).crib.mcp.retry((await desk.get(name)).name)  # type: ignore[attr-defined]
    elif what == "remove":
        await desk.remove(name)
        return done(request, LIST, f"{name} is forgotten, and all that was kept about it.")
    else:
        raise ToolFailed("Choose what to do.", code="bad_act")
    return done(request, link(name), _DONE[what].format(name))


@allows(Role.ADMIN, "mcp")
@answering
async def pin(request: Request) -> Response:
    """Agree to tools as they are now; none ticked is all that wait or changed."""
    filled = await form(request)
    name = request.path_params["name"]
    await _needed(request).approve_tools(name, filled.many("tools"), by=principal(request).name)
    return done(request, link(name), "Approved as they are now.")


@allows(Role.ADMIN, "mcp")
@answering
async def decide(request: Request) -> Response:
    """Answer a request for a server."""
    filled = await form(request)
    yes = filled.text("answer") == "approve"
    made = await _needed(request).decide(request.path_params["id"], approve=yes, by=principal(request).name)
    return done(request, LIST, f"{made.holder} {'may use' if yes else 'was told no about'} {made.server}.")


@allows(Role.ADMIN, "mcp")
@answering
async def grant(request: Request) -> Response:
    """Give an agent the tools of this server, or some of them. What was granted before is replaced."""
    filled, desk = await form(request), _needed(request)
    name, holder = (await desk.get(request.path_params["name"])).name, filled.needed("holder", "The agent")
    allow = tuple(filled.text("allow").replace(",", " ").split()) or None
    made = McpGrant(server=name, scope=Scope.AGENT, holder=holder, tool_allow=allow, granted_by=principal(request).name)
    await desk.grant(made)
    return done(request, link(name), f"{holder} may use {'some of ' if allow else ''}{name}.")


@allows(Role.ADMIN, "mcp")
@answering
async def revoke(request: Request) -> Response:
    """Take a grant back."""
    filled, desk, name = await form(request), _needed(request), request.path_params["name"]
    for grant in await desk.grants():
        if (grant.server.lower(), grant.scope, grant.holder) == (
            name.lower(),
            filled.text("scope"),
            filled.text("holder"),
        ):
            await desk.revoke(grant.server, grant.scope, grant.holder)
    return done(request, link(name), f"{filled.text('holder')} has it no more.")


ROUTES = [
    Route(LIST, index, methods=["GET"]),
    Route(LIST, create, methods=["POST"]),
    Route("/new-mcp-server", new, methods=["GET"]),
    Route("/mcp-requests/{id}", decide, methods=["POST"]),
    Route(f"{LIST}/{{name}}", one, methods=["GET"]),
    Route(f"{LIST}/{{name}}", act, methods=["POST"]),
    Route(f"{LIST}/{{name}}/tools", pin, methods=["POST"]),
    Route(f"{LIST}/{{name}}/grant", grant, methods=["POST"]),
    Route(f"{LIST}/{{name}}/revoke", revoke, methods=["POST"]),
]
