"""Keys of programs: made once, shown once, narrowed to what they need."""

import time
from collections.abc import Sequence
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import answering, done, house, principal, render
from toolcrib.faces.web.pages.people.tabs import role_of, tabs
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.people.values import SCOPES

LIST = "/people/keys"


@allows(Role.VIEWER, "keys")
async def index(request: Request) -> Response:
    """One's own keys; an admin's list has everybody's."""
    who, people = principal(request), house(request).people
    every = who.may(Role.ADMIN)
    found = await people.keys.all(person=None if every else who.id)
    names = {one.id: one.name for one in await people.persons.all()}
    return await render(
        request,
        "people/keys.html",
        title="API keys",
        tabs=tabs(who),
        keys=list(reversed(found)),
        names=names,
        every=every,
        scopes=SCOPES,
        roles=[role for role in Role if who.may(role)],
        agents=sorted(house(request).crib.resolver.grants.agents),
        auth=house(request).auth,
        now=time.time(),
    )


def _use(secret: str, base: str, scopes: Sequence[str], agents: Sequence[str]) -> str:
    """A line that works with a key of these scopes."""
    header = f'"Authorization: Bearer {secret}"'
    if "mcp" in scopes:
        agent = quote(agents[0]) if agents else "AGENT"
        return f"claude mcp add --transport http toolcrib {base}/mcp/{agent} --header {header}"
    return f"curl -H {header} {base}/api/v1/{'agents' if not scopes or 'agents' in scopes else '...'}"


@allows(Role.VIEWER, "keys")
@answering
async def make(request: Request) -> Response:
    """Make one: its secret is shown once."""
    filled, who = await form(request), principal(request)
    if who.via == "key":
        raise ToolFailed("A key makes no other keys here.", code="forbidden", hint="Sign in, or use the API.")
    made = await house(request).people.keys.make(
        name=filled.needed("name", "The name"),
        person=who.id,
        role=role_of(filled.text("role")),
        scopes=filled.many("scopes") or None,
        agents=filled.many("agents") or None,
        days=filled.number("days", "How many days"),
    )
    more = _use(
        made.secret, f"{request.url.scheme}://{request.url.netloc}", filled.many("scopes"), filled.many("agents")
    )
    return await render(
        request,
        "people/once.html",
        part="people/shown.html",
        title="API key",
        what="key",
        secret=made.secret,
        more=more,
    )


@allows(Role.VIEWER, "keys")
@answering
async def revoke(request: Request) -> Response:
    """End one."""
    people, who = house(request).people, principal(request)
    known = await people.keys.get(request.path_params["id"])
    if known.person != who.id and not who.may(Role.ADMIN):
        raise ToolFailed("This key is somebody else's.", code="forbidden")
    await people.keys.revoke(known.id)
    return done(request, LIST, f"{known.name} opens nothing any more.")


ROUTES = [
    Route(LIST, index, methods=["GET"]),
    Route(LIST, make, methods=["POST"]),
    Route(f"{LIST}/{{id}}/revoke", revoke, methods=["POST"]),
]
