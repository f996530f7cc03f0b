"""Who is here, and inviting somebody."""

from typing import Annotated

from annotated_types import Interval, MaxLen
from msgspec import Struct

from toolcrib.core.call import Caller, Result, Where
from toolcrib.core.tool import Effect
from toolcrib.services.people.invitations import Invitations
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.values import Person
from toolcrib.tools.people.family import family


class User(Struct, frozen=True, kw_only=True):
    """A person as agents see them."""

    id: str
    name: str
    role: str
    closed: bool


@family.tool(Effect.READ, where=(Where.MAIN,), parallel=True)
async def list_users(persons: Persons) -> Result:
    """List the people of this installation."""
    found = [_user(one) for one in await persons.all()]
    lines = [f"{one.name} ({one.role}{', closed' if one.closed else ''}), id {one.id}" for one in found]
    return Result(text="\n".join(lines) or "Nobody has signed up yet.", structured=found)


@family.tool(Effect.READ, where=(Where.MAIN,), parallel=True)
async def get_user(persons: Persons, *, user: Annotated[str, MaxLen(64), "The id or the name of a person"]) -> Result:
    """Show one person."""
    found = _user(await persons.named(user) or await persons.get(user))
    return Result(text=f"{found.name} is {found.role}{', and closed' if found.closed else ''}.", structured=found)


@family.tool(Effect.WRITE, where=(Where.MAIN,), approval=True, reveals=True)
async def create_invitation(
    invitations: Invitations,
    me: Caller,
    *,
    label: Annotated[str, MaxLen(80), "Whom it is for"] = "",
    expires_in_days: Annotated[int, Interval(ge=1, le=90), "Days that the link holds"] = 7,
) -> Result:
    """Make a link with which one person signs up as a viewer. A person has to agree first."""
    made = await invitations.make(by=me.agent, label=label, days=expires_in_days)
    link = f"{invitations.link}{made.secret}"
    told = {"link": link, "id": made.invitation.id, "expires": made.invitation.expires}
    return Result(text=f"Send them this link; it works once, for {expires_in_days} days: {link}", structured=told)


def _user(person: Person) -> User:
    return User(id=person.id, name=person.name, role=person.role.value, closed=person.closed)
