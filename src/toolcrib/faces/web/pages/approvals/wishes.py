"""Agents that ask for tools: granted for once, a session, a time or for good, or denied."""

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import answering, done, house, principal
from toolcrib.services.access import Lifetime
from toolcrib.services.people.principal import Role, allows


@allows(Role.OPERATOR, "approvals")
@answering
async def decide(request: Request) -> Response:
    """Grant some of the tools, or none."""
    filled, access = await form(request), house(request).crib.store.access
    approve = filled.many("tools") if filled.text("answer") == "grant" else ()
    try:
        lifetime = Lifetime(filled.text("lifetime", "once"))
    except ValueError:
        raise ToolFailed("Choose how long it holds.", code="bad_lifetime") from None
    if filled.text("answer") == "grant" and not approve:
        raise ToolFailed("Tick at least one tool, or deny the request.", code="nothing_ticked")
    seconds = filled.number("seconds", "The time")
    until = time.time() + (seconds or 0) if lifetime is Lifetime.UNTIL else None
    made = await access.decide(
        request.path_params["id"], by=principal(request).name, approve=approve, lifetime=lifetime, until=until
    )
    said = f"{made.agent} may use {', '.join(made.granted)}." if made.granted else f"{made.agent} was told no."
    return done(request, "/approvals", said)


@allows(Role.OPERATOR, "approvals")
@answering
async def revoke(request: Request) -> Response:
    """End a grant."""
    gone = await house(request).crib.store.access.revoke(request.path_params["grant"], by=principal(request).name)
    return done(request, "/approvals/grants", f"{gone.agent} has {gone.tool} no more.")


ROUTES = [
    Route("/approvals/wishes/{id}", decide, methods=["POST"]),
    Route("/approvals/grants/{grant}/revoke", revoke, methods=["POST"]),
]
