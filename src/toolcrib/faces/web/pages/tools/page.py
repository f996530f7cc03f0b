"""Tools: the catalogue of all sources; one tool, who holds it, and a form to call it through every guard."""

import secrets

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.core.explain import unknown
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Tool, described
from toolcrib.faces.web.forms import arguments_of, fields_of, form
from toolcrib.faces.web.frame import answering, house, principal, render
from toolcrib.faces.web.places import Page
from toolcrib.services.advice.holding import facts_of, granting, holders
from toolcrib.services.finding.ranking import Ranking, document
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.record.audit import Query

PAGE = Page(title="Tools", icon="search", path="/tools", group="Agents", order=3, scope="tools")
SOURCES = ("native", "custom", "mcp", "plugin")


@allows(Role.VIEWER, "tools")
@answering
async def index(request: Request) -> Response:
    """The catalogue."""
    await house(request).crib.refresh()
    resolver, asked = house(request).crib.resolver, request.query_params
    source, words = asked.get("source", ""), asked.get("q", "").strip()
    tools = [tool for tool in resolver.registry.tools if source in {"", tool.source}]
    groups: dict[str, list[object]] = {}
    for tool in _ranked(tools, words) if words else tools:
        groups.setdefault("" if words else tool.domain, []).append(facts_of(resolver.registry, tool))
    counted = {name: sum(tool.source == name for tool in resolver.registry.tools) for name in SOURCES}
    later = [] if words or source else list(resolver.registry.names.reserved.values())
    return await render(
        request,
        "tools/list.html",
        part="tools/found.html",
        title="Tools",
        groups=sorted(groups.items()),
        q=words,
        source=source,
        sources=counted,
        every=len(resolver.registry),
        later=sorted((one for one in later if resolver.registry.index(one.name) is None), key=lambda one: one.name),
    )


def _ranked(tools: list[Tool], words: str) -> list[Tool]:
    named = {tool.name: tool for tool in tools}
    return [named[hit.id] for hit in Ranking(map(document, tools)).search(words, len(tools))]


def _tool(resolver: Resolver, name: str) -> Tool:
    tool = resolver.registry.get(name)
    if tool is None:
        raise ToolFailed(
            f"{unknown(resolver.registry, name).capitalize()}.", code="not_found", hint="Look in the catalogue."
        )
    return tool


@allows(Role.VIEWER, "tools")
@answering
async def one(request: Request) -> Response:
    """One tool."""
    crib = house(request).crib
    await crib.refresh()
    tool = _tool(crib.resolver, request.path_params["name"])
    page = await crib.store.audit.entries(Query(tool=tool.name, limit=8))
    holding = [one for one in holders(crib.resolver, tool.name) if principal(request).may_act_as(one.agent)]
    agent = request.query_params.get("agent", "") or next((one.agent for one in holding if one.told.issued), "")
    return await render(
        request,
        "tools/one.html",
        title=tool.name,
        tool=tool,
        facts=facts_of(crib.resolver.registry, tool),
        told=described(tool),
        undo=tool.traits.undoable,
        fields=fields_of(tool.schema),
        holders=holding,
        boxes=granting(crib.resolver, tool.name),
        agent=agent,
        session=f"page-{secrets.token_hex(4)}",
        entries=page.entries,
    )


@allows(Role.OPERATOR, "calls")
@answering
async def call(request: Request) -> Response:
    """Call it as an agent, through every guard; it may wait for an approval meanwhile."""
    crib, who = house(request).crib, principal(request)
    tool = _tool(crib.resolver, request.path_params["name"])
    filled = await form(request)
    agent = filled.needed("agent", "The agent")
    if not who.may_act_as(agent):
        raise ToolFailed(f"Your key may not act as {agent!r}.", code="forbidden")
    arguments = arguments_of(tool.schema, filled)
    session = filled.text("session") or f"page-{secrets.token_hex(4)}"
    outcome = await crib.call(tool.name, arguments, agent=agent, user=who.name, session=session)
    entry = next(iter((await crib.store.audit.entries(Query(id=outcome.id))).entries), None)
    waits = [one for one in await crib.approvals.list(agent=agent) if one.call == outcome.id]
    return await render(
        request,
        "tools/called.html",
        part="tools/outcome.html",
        title=tool.name,
        tool=tool,
        outcome=outcome,
        error=outcome.error,
        entry=entry,
        waits=waits,
        undoable=await crib.undoable(outcome.id) if tool.traits.undoable and outcome.ok else "",
    )


@allows(Role.VIEWER, "approvals")
async def waiting(request: Request) -> Response:
    """What a call from this page waits for just now."""
    crib, session = house(request).crib, request.query_params.get("session", "")
    found = [one for one in await crib.approvals.list() if session and one.session == session]
    return await render(request, "tools/waits.html", part="tools/waiting.html", title="Waiting", found=found)


ROUTES = [
    Route("/tools", index, methods=["GET"]),
    Route("/waiting", waiting, methods=["GET"]),
    Route("/tools/{name}", one, methods=["GET"]),
    Route("/tools/{name}", call, methods=["POST"]),
]
