"""Signing in and out, for programs that hold a cookie."""

from typing import Annotated

from fastapi import Body, Request, Response
from msgspec import Struct

from toolcrib.faces import visits
from toolcrib.faces.http.routing import Operations, answer, nothing
from toolcrib.services.people.principal import Role
from toolcrib.services.people.values import LONGEST_PASSWORD, NAME_MOST, MadeSession

operations = Operations("session", "")
Name = Annotated[str, Body(min_length=1, max_length=NAME_MOST)]
Token = Annotated[str, Body(min_length=1, max_length=200)]
Password = Annotated[str, Body(min_length=1, max_length=LONGEST_PASSWORD)]


class Me(Struct, kw_only=True):
    """Who is signed in. `csrf` goes into the header X-CSRF-Token of whatever changes something."""

    id: str
    name: str
    role: Role
    via: str
    csrf: str = ""
    scopes: list[str] | None = None
    agents: list[str] | None = None


@operations.add("POST", "/session", None, Me, status=201, refuses=(401, 422, 429))
async def sign_in(request: Request, name: Name, password: Password) -> Response:
    """Sign in with a name and a password. The answer sets the cookie of the visit."""
    made = await request.app.state.house.people.signin.enter(
        name, password, address=visits.address_of(request), client=visits.browser_of(request)
    )
    return entered(request, made)


@operations.add("POST", "/setup", None, Me, status=201, refuses=(409, 422))
async def set_up(request: Request, token: Token, name: Name, password: Password) -> Response:
    """Make the first admin with the token of the first-run link, and sign in."""
    made = await request.app.state.house.people.signin.begin(token, name, password, client=visits.browser_of(request))
    return entered(request, made)


@operations.add("POST", "/join", None, Me, status=201, refuses=(409, 422))
async def join(request: Request, token: Token, name: Name, password: Password) -> Response:
    """Sign up with an invitation, and sign in."""
    made = await request.app.state.house.people.signin.join(token, name, password, client=visits.browser_of(request))
    return entered(request, made)


@operations.add("GET", "/session", Role.VIEWER, Me)
async def whoami(request: Request) -> Response:
    """Say who is signed in."""
    me = request.state.principal
    return answer(
        Me(
            id=me.id,
            name=me.name,
            role=me.role,
            via=me.via,
            csrf=request.state.csrf,
            scopes=None if me.scopes is None else sorted(me.scopes),
            agents=None if me.agents is None else sorted(me.agents),
        )
    )


@operations.add("DELETE", "/session", Role.VIEWER, status=204)
async def sign_out(request: Request) -> Response:
    """End this visit."""
    await request.app.state.house.people.signin.leave(visits.secret_of(request))
    response = nothing()
    visits.forget(response, request)
    return response


def entered(request: Request, made: MadeSession) -> Response:
    """The answer to a sign-in."""
    person = made.person
    response = answer(
        Me(id=person.id, name=person.name, role=person.role, via=made.session.via, csrf=made.session.csrf), 201
    )
    visits.remember(response, request, made)
    return response
