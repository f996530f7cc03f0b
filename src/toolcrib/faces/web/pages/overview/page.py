"""The start: what to do next, what waits, and what happened last."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from toolcrib.faces.web.counters import counters
from toolcrib.faces.web.frame import bare, house, principal, render
from toolcrib.faces.web.places import Page
from toolcrib.services.advice.lint import lint
from toolcrib.services.advice.setup import State, checklist
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.record.audit import Query

PAGE = Page(title="Overview", icon="layout-dashboard", path="/", order=0, role=Role.VIEWER)
WHERE = {
    "sign-in": "/people",
    "agent": "/new-agent",
    "toolbox": "/agents",
    "call": "/tools",
    "approval": "/approvals",
    "secret": "/vault",
}


@allows(Role.VIEWER)
async def index(request: Request) -> Response:
    """The start page."""
    crib = house(request).crib
    await crib.refresh()
    grants = crib.resolver.grants
    page = await crib.store.audit.entries(Query(limit=8))
    refused = await crib.store.audit.entries(Query(limit=5, status="refused"))
    answered = await crib.approvals.list(state=None, limit=50)
    secrets = await crib.vault.secrets.search() if await crib.vault.book.exists() else []
    state = State(
        agents=len(grants.agents),
        with_tools=sum(bool(one.toolboxes or one.tools) for one in grants.agents.values()),
        calls=len(page.entries),
        answered=sum(bool(one.choice) for one in answered),
        secrets=len(secrets),
        signed_in=principal(request).via != "off",
    )
    steps = checklist(state)
    return await render(
        request,
        "overview/overview.html",
        title="Overview",
        steps=steps,
        next=next((one for one in steps if not one.done and not one.optional), None),
        where=WHERE,
        agents=len(grants.agents),
        tools=len(crib.resolver.registry),
        boxes=len(grants.toolboxes),
        entries=page.entries,
        refused=refused.entries,
        findings=list(lint(crib.resolver)),
        trouble=crib.store.audit.trouble,
    )


@allows(Role.VIEWER)
async def counter(request: Request) -> Response:
    """One counter, as it is now."""
    found = await counters(house(request), principal(request))
    name = request.path_params["name"]
    if name not in found:
        return PlainTextResponse("There is no such counter.\n", status_code=404)
    return await bare(request, "counter.html", name=name, number=found[name])


ROUTES = [
    Route("/", index, methods=["GET"]),
    Route("/counters/{name}", counter, methods=["GET"]),
]
