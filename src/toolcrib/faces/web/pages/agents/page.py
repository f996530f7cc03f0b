"""Agents: who there is, what each holds, and what each has done."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.core.resolver import Seat
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import answering, done, house, principal, render, service
from toolcrib.faces.web.links import agent_link
from toolcrib.faces.web.pages.agents import policy, tools
from toolcrib.faces.web.pages.agents.one import facts, save
from toolcrib.faces.web.places import Page
from toolcrib.services.advice.holding import holding
from toolcrib.services.agents import Agents
from toolcrib.services.mcp.clients import CLIENTS, config_for
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.record.audit import Query
from toolcrib.services.toolboxes import Toolboxes

PAGE = Page(title="Agents", icon="bot", path="/agents", group="Agents", order=1, scope="agents")
RUNS = 50


@allows(Role.VIEWER, "agents")
async def index(request: Request) -> Response:
    """Every agent."""
    await house(request).crib.refresh()
    resolver = house(request).crib.resolver
    found = await service(request, Agents).all()
    rows = [(one, holding(resolver, Seat(agent=one.name))) for one in found if one.name in resolver.grants.agents]
    return await render(request, "agents/list.html", title="Agents", rows=rows)


@allows(Role.OPERATOR, "agents")
@answering
async def new(request: Request) -> Response:
    """The form for a new one."""
    await house(request).crib.refresh()
    boxes = await service(request, Toolboxes).all()
    return await render(request, "agents/new.html", title="New agent", boxes=boxes)


@allows(Role.OPERATOR, "agents")
@answering
async def create(request: Request) -> Response:
    """Make one."""
    filled = await form(request)
    definition: dict[str, object] = {}
    if about := filled.text("description"):
        definition["description"] = about
    if boxes := filled.many("boxes"):
        definition["toolboxes"] = list(boxes)
    made = await service(request, Agents).create(
        filled.needed("name", "The name"), definition, by=principal(request).name
    )
    return done(request, agent_link(made.name, "tools"), f"{made.name} is there. Tick what it may use.")


@allows(Role.VIEWER, "agents")
@answering
async def overview(request: Request) -> Response:
    """One agent."""
    known = await facts(request)
    page = await house(request).crib.store.audit.entries(Query(agent=known["one"].name, limit=6))
    held = holding(known["resolver"], Seat(agent=known["one"].name))
    address = house(request).address or str(request.base_url)
    pastes = [(title, config_for(client, known["one"].name, address)) for client, title in CLIENTS.items()]
    return await render(
        request,
        "agents/overview.html",
        **known,
        held=held,
        entries=page.entries,
        pastes=pastes,
        signs_in=house(request).auth,
    )


@allows(Role.OPERATOR, "agents")
@answering
async def describe(request: Request) -> Response:
    """Change what is said about it."""
    filled = await form(request)
    await save(request, filled, {"description": filled.text("description") or None})
    return done(request, agent_link(request.path_params["name"]), "Saved.")


@allows(Role.OPERATOR, "agents")
@answering
async def delete(request: Request) -> Response:
    """Take it away."""
    gone = await service(request, Agents).delete(request.path_params["name"])
    return done(request, "/agents", f"{gone.name} is deleted; its calls stay on record.")


@allows(Role.VIEWER, "record")
@answering
async def runs(request: Request) -> Response:
    """Its record."""
    known = await facts(request)
    cursor = request.query_params.get("cursor", "")
    if cursor and not cursor.isdigit():
        raise ToolFailed("That is no place in the record.", code="bad_cursor")
    query = Query(agent=known["one"].name, limit=RUNS, cursor=int(cursor) if cursor else None)
    page = await house(request).crib.store.audit.entries(query)
    return await render(request, "agents/runs.html", **known, entries=page.entries, cursor=page.cursor)


ROUTES = [
    Route("/agents", index, methods=["GET"]),
    Route("/agents", create, methods=["POST"]),
    Route("/new-agent", new, methods=["GET"]),
    *tools.ROUTES,
    *policy.ROUTES,
    Route("/agents/{name:path}/runs", runs, methods=["GET"]),
    Route("/agents/{name:path}/delete", delete, methods=["POST"]),
    Route("/agents/{name:path}", overview, methods=["GET"]),
    Route("/agents/{name:path}", describe, methods=["POST"]),
]
