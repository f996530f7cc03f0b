"""People and keys: who signs in, whom one has invited, and what programs show instead of a password."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.faces import visits
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import answering, done, house, principal, render
from toolcrib.faces.web.pages.people import keys
from toolcrib.faces.web.pages.people.tabs import role_of, tabs
from toolcrib.faces.web.places import Page
from toolcrib.services.people.invitations import PATH
from toolcrib.services.people.principal import Role, allows

PAGE = Page(title="People and keys", icon="users-round", path="/people", group="House", order=1, scope="people")


async def _facts(request: Request) -> dict[str, Any]:
    people = house(request).people
    return {
        "title": "People and keys",
        "tabs": tabs(principal(request)),
        "roles": list(Role),
        "people": await people.persons.all(),
        "auth": house(request).auth,
    }


@allows(Role.VIEWER, "people")
async def index(request: Request) -> Response:
    """Everybody."""
    return await render(request, "people/people.html", **await _facts(request))


@allows(Role.ADMIN, "people")
@answering
async def change(request: Request) -> Response:
    """Give somebody another role, or close or open their account."""
    filled, person = await form(request), request.path_params["id"]
    closed = {"close": True, "open": False}.get(filled.text("account"))
    role = role_of(filled.text("role")) if filled.text("role") else None
    changed = await house(request).people.persons.change(
        person, role=role, closed=closed, revision=filled.number("revision", "The revision")
    )
    if closed:
        await house(request).people.signin.leave_all(person)
    return done(
        request, "/people", f"Saved: {changed.name} is {'closed out' if changed.closed else changed.role.value}."
    )


@allows(Role.ADMIN, "people")
@answering
async def reset(request: Request) -> Response:
    """Give somebody a new password; their visits end."""
    filled = await form(request)
    changed = await house(request).people.signin.reset(request.path_params["id"], filled.raw("password"))
    return done(request, "/people", f"{changed.name} has a new password, and has to sign in again.")


@allows(Role.ADMIN, "people")
async def invitations(request: Request) -> Response:
    """Whom one has invited."""
    found = await house(request).people.invitations.all()
    return await render(request, "people/invitations.html", invitations=list(reversed(found)), **await _facts(request))


@allows(Role.ADMIN, "people")
@answering
async def invite(request: Request) -> Response:
    """Make an invitation: its link is shown once."""
    filled = await form(request)
    made = await house(request).people.invitations.make(
        by=principal(request).name,
        role=role_of(filled.text("role", "viewer")),
        label=filled.text("label"),
        days=filled.number("days", "How many days") or 7,
    )
    address = house(request).address or f"{request.url.scheme}://{request.url.netloc}"
    link = f"{address}{PATH}{made.secret}"
    return await render(
        request,
        "people/once.html",
        part="people/shown.html",
        title="Invitation",
        what="invitation",
        secret=link,
        more="",
    )


@allows(Role.ADMIN, "people")
@answering
async def withdraw(request: Request) -> Response:
    """Make a link useless."""
    await house(request).people.invitations.withdraw(request.path_params["id"])
    return done(request, "/people/invitations", "The link does not hold any more.")


@allows(Role.VIEWER, "people")
@answering
async def me(request: Request) -> Response:
    """One's own account."""
    who = principal(request)
    visits_of = await house(request).people.signin.visits(who.id) if house(request).auth else ()
    return await render(request, "people/me.html", visits=visits_of, **await _facts(request))


@allows(Role.VIEWER, "people")
@answering
async def change_password(request: Request) -> Response:
    """Another password of one's own; every visit ends."""
    filled = await form(request)
    if filled.raw("new") != filled.raw("again"):
        raise ToolFailed("The two new passwords are not the same.", code="bad_password")
    await house(request).people.signin.change_password(
        principal(request).id, filled.raw("old"), filled.raw("new"), address=visits.address_of(request)
    )
    return done(request, "/login")


ROUTES = [
    Route("/people", index, methods=["GET"]),
    Route("/people/invitations", invitations, methods=["GET"]),
    Route("/people/invitations", invite, methods=["POST"]),
    Route("/people/invitations/{id}/withdraw", withdraw, methods=["POST"]),
    Route("/people/me", me, methods=["GET"]),
    Route("/people/me", change_password, methods=["POST"]),
    *keys.ROUTES,
    Route("/people/{id}", change, methods=["POST"]),
    Route("/people/{id}/password", reset, methods=["POST"]),
]
