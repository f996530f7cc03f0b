"""The Tools tab: toolboxes to tick, and at once what the agent would hold with them."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.resolver import Seat
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import answering, done, render, service
from toolcrib.faces.web.links import agent_link
from toolcrib.faces.web.pages.agents.one import facts, save
from toolcrib.services.advice.holding import Held, holding, with_agent
from toolcrib.services.advice.lint import lint
from toolcrib.services.drawers import key_of
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.toolboxes import Origin, Toolboxes

SUB = "sub"


@allows(Role.VIEWER, "agents")
@answering
async def show(request: Request) -> Response:
    """The tab; with `try`, as it would be with these ticks."""
    asked = request.query_params
    known = await facts(request)
    rules, now = known["rules"], known["resolver"]
    boxes = sorted(await service(request, Toolboxes).all(), key=lambda box: box.origin is Origin.BUILTIN)
    ticked = tuple(asked.getlist("boxes")) if "try" in asked else rules.toolboxes
    seat = Seat(agent=rules.name, depth=int(asked.get("as") == SUB))
    after = with_agent(now, rules.name, toolboxes=ticked) if ticked != rules.toolboxes else now
    held = holding(after, seat, now.view(seat))
    on = set(map(key_of, ticked))
    words = asked.get("q", "").casefold().split()
    at = f"agents.{rules.name}"
    concerned = {at, *(f"toolboxes.{name}" for name in ticked)}
    findings = [one for one in lint(after) if one.where in concerned or one.where.startswith(f"{at}.")]
    return await render(
        request,
        "agents/tools.html",
        part="agents/preview.html",
        **known,
        boxes=[(box, key_of(box.name) in on) for box in boxes],
        changed=on != set(map(key_of, rules.toolboxes)),
        sub=seat.depth > 0,
        held=held,
        groups=_fitting(held.by_domain(), words),
        q=asked.get("q", ""),
        findings=findings,
    )


def _fitting(groups: list[tuple[str, list[Held]]], words: list[str]) -> list[tuple[str, list[Held]]]:
    """The tools in whose name, words or domain all of these stand."""
    kept = [(domain, [one for one in held if _fits(one, domain, words)]) for domain, held in groups]
    return [(domain, held) for domain, held in kept if held]


def _fits(one: Held, domain: str, words: list[str]) -> bool:
    text = f"{one.tool.name} {one.tool.about} {domain} {' '.join(one.by)}".casefold()
    return all(word in text for word in words)


@allows(Role.OPERATOR, "agents")
@answering
async def keep(request: Request) -> Response:
    """Save the ticks."""
    filled = await form(request)
    saved = await save(request, filled, {"toolboxes": list(filled.many("boxes")) or None})
    return done(request, agent_link(saved.name, "tools"), f"Saved: {saved.name} holds {saved.tools} tools.")


ROUTES = [
    Route("/agents/{name:path}/tools", show, methods=["GET"]),
    Route("/agents/{name:path}/tools", keep, methods=["POST"]),
]
