"""The tabs Policy and Toolkits: what narrows an agent's tools, and what it may load while it works."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.resolver import Seat
from toolcrib.faces.web.forms import Form, form
from toolcrib.faces.web.frame import answering, done, render
from toolcrib.faces.web.links import agent_link
from toolcrib.faces.web.pages.agents.one import facts, save
from toolcrib.services.people.principal import Role, allows

NUMBERS = {
    "tool_limit": "How many tools the prompt shows",
    "tool_tokens": "How many tokens its tools may cost",
    "rate": "Calls an hour and session",
    "max_spawn_depth": "How deep it may spawn",
}


@allows(Role.VIEWER, "agents")
@answering
async def policy(request: Request) -> Response:
    """What narrows it, and what each step takes out."""
    known = await facts(request)
    view = known["resolver"].view(Seat(agent=known["one"].name))
    names = view.registry.names_of
    steps = [(step, names(step.mask)) for step in view.steps if step.mask]
    return await render(
        request,
        "agents/policy.html",
        **known,
        steps=steps,
        held=len(view),
        numbers=NUMBERS,
        policy=known["resolver"].grants.policy,
    )


@allows(Role.OPERATOR, "agents")
@answering
async def keep_policy(request: Request) -> Response:
    """Save it."""
    filled = await form(request)
    changed: dict[str, object] = {
        "allow": list(filled.lines("allow")) if filled.ticked("allows") else None,
        "deny": list(filled.lines("deny")) or None,
        "also_allow": list(filled.lines("also_allow")) or None,
        "deny_paths": list(filled.lines("deny_paths")) or None,
        "workspace": filled.text("workspace") or None,
        **_numbers(filled),
    }
    saved = await save(request, filled, changed)
    return done(request, agent_link(saved.name, "policy"), f"Saved: {saved.name} holds {saved.tools} tools.")


def _numbers(filled: Form) -> dict[str, object]:
    return {name: filled.number(name, words) for name, words in NUMBERS.items()}


@allows(Role.VIEWER, "agents")
@answering
async def toolkits(request: Request) -> Response:
    """What it may load."""
    known = await facts(request)
    kits = sorted(known["resolver"].grants.toolkits.values(), key=lambda kit: kit.name)
    return await render(request, "agents/toolkits.html", **known, kits=kits)


@allows(Role.OPERATOR, "agents")
@answering
async def keep_toolkits(request: Request) -> Response:
    """Save it."""
    filled = await form(request)
    allowed, initial = filled.many("allowed"), filled.many("initial")
    both = list(dict.fromkeys((*allowed, *initial)))
    saved = await save(request, filled, {"allowed_toolkits": both or None, "initial_toolkits": list(initial) or None})
    return done(request, agent_link(saved.name, "toolkits"), "Saved. Sessions take it up with their next request.")


ROUTES = [
    Route("/agents/{name:path}/policy", policy, methods=["GET"]),
    Route("/agents/{name:path}/policy", keep_policy, methods=["POST"]),
    Route("/agents/{name:path}/toolkits", toolkits, methods=["GET"]),
    Route("/agents/{name:path}/toolkits", keep_toolkits, methods=["POST"]),
]
