"""Explain: who holds what, and why for each cell."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.explain import explain
from toolcrib.core.resolver import Seat
from toolcrib.faces.web.frame import answering, house, render
from toolcrib.faces.web.places import Page
from toolcrib.services.advice.holding import facts_of, matrix
from toolcrib.services.people.principal import Role, allows

PAGE = Page(title="Explain", icon="circle-question-mark", path="/explain", group="Agents", order=4, scope="agents")
AGENTS_SHOWN = 24


@allows(Role.VIEWER, "agents")
@answering
async def index(request: Request) -> Response:
    """The matrix; with an agent and a tool, why."""
    crib, asked = house(request).crib, request.query_params
    await crib.refresh()
    resolver = crib.resolver
    every = sorted(resolver.grants.agents)
    agent, tool, words = asked.get("agent", ""), asked.get("tool", "").strip(), asked.get("q", "").casefold().split()
    depth = int(asked.get("as") == "sub")
    told = None
    if agent and tool:
        resolver.rules_of(agent)
        told = explain(resolver, Seat(agent=agent, depth=depth), tool)
    shown = [agent] if agent in every and not tool else every[:AGENTS_SHOWN]
    cells = matrix(resolver, shown, depth=depth)
    rows = [
        (facts, cells[facts.name])
        for facts in (facts_of(resolver.registry, one) for one in resolver.registry.tools)
        if all(word in f"{facts.name} {facts.about} {facts.domain}".casefold() for word in words)
    ]
    rows.sort(key=lambda row: (row[0].domain, row[0].name))
    return await render(
        request,
        "explain/explain.html",
        part="explain/why.html" if tool else "explain/matrix.html",
        title="Explain",
        every=every,
        shown=shown,
        more=max(0, len(every) - AGENTS_SHOWN) if not agent else 0,
        agent=agent,
        tool=tool,
        q=asked.get("q", ""),
        sub=depth > 0,
        told=told,
        rows=rows,
    )


ROUTES = [Route("/explain", index, methods=["GET"])]
