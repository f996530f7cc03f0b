"""People, invitations, and keys of programs."""

from typing import Annotated

import msgspec
from fastapi import Request, Response
from msgspec import Struct
from pydantic import Field

from toolcrib.core.errors import Denied
from toolcrib.faces import visits
from toolcrib.faces.http.asked import Cursor, Form, IfMatch, Limit, Number, Page, Yes, etag, house_of, me, paged, seen
from toolcrib.faces.http.routing import Operations, answer, nothing
from toolcrib.services.people.invitations import DAYS, MOST_DAYS
from toolcrib.services.people.keys import MOST_DAYS as MOST_KEY_DAYS
from toolcrib.services.people.principal import Role
from toolcrib.services.people.values import LONGEST_PASSWORD, NAME_MOST, ApiKey, Invitation, Person

operations = Operations("people", "people")
Name = Annotated[str, Field(min_length=1, max_length=NAME_MOST)]
Password = Annotated[str, Field(min_length=1, max_length=LONGEST_PASSWORD)]


class Shown(Struct, kw_only=True):
    """A person, without what is secret of them."""

    id: str
    name: str
    role: Role
    closed: bool
    made: float
    made_by: str
    revision: int
    signs_in_with: str  # password, provider, or nothing


class ChangedPerson(Form):
    """What is to change; what is null or left out stays."""

    name: Name | None = None
    role: Role | None = None
    closed: Yes | None = None


class NewPassword(Form):
    """Another password. `old` is needed for one's own."""

    password: Password
    old: Annotated[str, Field(max_length=LONGEST_PASSWORD)] = ""


class NewInvitation(Form):
    """A link with which one person signs up."""

    role: Role = Role.VIEWER
    label: Annotated[str, Field(max_length=80)] = ""
    days: Annotated[Number, Field(gt=0, le=MOST_DAYS)] = DAYS


class Invited(Struct, kw_only=True):
    """A new invitation with its link, which is shown this once."""

    invitation: Invitation
    token: str
    link: str


class NewKey(Form):
    """A key of one's own for a program. Without scopes it may do all that its role may; without agents, act as any."""

    name: Annotated[str, Field(min_length=1, max_length=80)]
    role: Role = Role.OPERATOR
    scopes: Annotated[list[str], Field(max_length=20)] | None = None
    agents: Annotated[list[str], Field(max_length=1000)] | None = None
    days: Annotated[Number, Field(gt=0, le=MOST_KEY_DAYS)] | None = None


class KeyMade(Struct, kw_only=True):
    """A new key with its secret, which is shown this once."""

    key: ApiKey
    secret: str


@operations.add("GET", "/people", Role.VIEWER, Page[Shown])
async def list_people(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List the people, the first one first."""
    found = await house_of(request).people.persons.all()
    return answer(paged(map(shown, found), lambda one: one.id, limit, cursor))


@operations.add("GET", "/people/{person}", Role.VIEWER, Shown, headers={"ETag": "Its revision."})
async def get_person(request: Request, person: str) -> Response:
    """Show one person."""
    found = await house_of(request).people.persons.get(person)
    return answer(shown(found), 200, etag(found.revision))


@operations.add("PATCH", "/people/{person}", Role.ADMIN, Shown, refuses=(412, 428), headers={"ETag": "Its revision."})
async def change_person(request: Request, person: str, body: ChangedPerson, if_match: IfMatch = None) -> Response:
    """Rename a person, give them another role, or close their account."""
    house = house_of(request)
    await house.people.persons.get(person)
    saved = await house.people.persons.change(
        person, name=body.name, role=body.role, closed=body.closed, revision=seen(if_match)
    )
    if saved.closed:
        await house.people.signin.leave_all(person)
    told = {name: value for name, value in body.model_dump().items() if value is not None}
    house.note(me(request).name, "people.change", {"person": saved.name, **told})
    return answer(shown(saved), 200, etag(saved.revision))


@operations.add("PUT", "/people/{person}/password", Role.VIEWER, status=204, refuses=(401, 429))
async def set_password(request: Request, person: str, body: NewPassword) -> Response:
    """Give oneself another password, or as an admin somebody else. All their visits end."""
    house, who = house_of(request), me(request)
    if who.via == "key":
        raise Denied("A key changes no passwords.", hint="Sign in.")
    if person == who.id:
        await house.people.signin.change_password(person, body.old, body.password, address=visits.address_of(request))
    elif who.may(Role.ADMIN):
        await house.people.signin.reset(person, body.password)
    else:
        raise Denied("Only an admin gives somebody else another password.")
    house.note(who.name, "people.password", {"person": person})
    return nothing()


@operations.add("GET", "/invitations", Role.ADMIN, Page[Invitation])
async def list_invitations(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List the invitations, the oldest first."""
    return answer(paged(await house_of(request).people.invitations.all(), lambda one: one.id, limit, cursor))


@operations.add("POST", "/invitations", Role.ADMIN, Invited, status=201)
async def invite(request: Request, body: NewInvitation) -> Response:
    """Make a link with which one person signs up, once."""
    house = house_of(request)
    made = await house.people.invitations.make(by=me(request).name, role=body.role, label=body.label, days=body.days)
    house.note(me(request).name, "people.invite", {"invitation": made.invitation.id, "role": body.role})
    link = f"{house.people.invitations.link}{made.secret}"
    return answer(Invited(invitation=made.invitation, token=made.secret, link=link), 201)


@operations.add("DELETE", "/invitations/{invitation}", Role.ADMIN, Invitation)
async def withdraw_invitation(request: Request, invitation: str) -> Response:
    """Make an invitation's link useless."""
    house = house_of(request)
    gone = await house.people.invitations.withdraw(invitation)
    house.note(me(request).name, "people.withdraw", {"invitation": gone.id})
    return answer(gone)


@operations.add("GET", "/keys", Role.VIEWER, Page[ApiKey], scope="keys")
async def list_keys(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List one's keys, as an admin everybody's."""
    who = me(request)
    found = await house_of(request).people.keys.all(person=None if who.may(Role.ADMIN) else who.id)
    return answer(paged(found, lambda one: one.id, limit, cursor))


@operations.add("POST", "/keys", Role.VIEWER, KeyMade, status=201, scope="keys")
async def make_key(request: Request, body: NewKey) -> Response:
    """Make a key for a program of one's own. Its secret is in this answer and nowhere else."""
    house, who = house_of(request), me(request)
    if who.via == "key":
        raise Denied("A key makes no keys.", hint="Sign in.")
    made = await house.people.keys.make(
        name=body.name, person=who.id, role=body.role, scopes=body.scopes, agents=body.agents, days=body.days
    )
    told = msgspec.structs.asdict(made.key)
    house.note(who.name, "keys.make", {name: told[name] for name in ("id", "name", "role", "scopes", "agents")})
    return answer(KeyMade(key=made.key, secret=made.secret), 201, {"Cache-Control": "no-store"})


@operations.add("DELETE", "/keys/{key}", Role.VIEWER, ApiKey, scope="keys")
async def revoke_key(request: Request, key: str) -> Response:
    """End a key of one's own, as an admin anybody's."""
    house, who = house_of(request), me(request)
    known = await house.people.keys.get(key)
    if known.person != who.id and not who.may(Role.ADMIN):
        raise Denied("This is somebody else's key.")
    ended = await house.people.keys.revoke(key)
    house.note(who.name, "keys.revoke", {"id": key, "name": known.name})
    return answer(ended)


def shown(person: Person) -> Shown:
    """A person as others see them."""
    way = "provider" if person.subject else "password" if person.password else "nothing"
    return Shown(
        id=person.id,
        name=person.name,
        role=person.role,
        closed=person.closed,
        made=person.made,
        made_by=person.made_by,
        revision=person.revision,
        signs_in_with=way,
    )
