"""Signing in elsewhere: a provider vouches for a person, and we open a visit for them."""

import time
from collections import OrderedDict
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import Protocol

from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.principal import Role
from toolcrib.services.people.signin import SignIn
from toolcrib.services.people.values import NAME_MOST, MadeSession, Person

SECONDS, BEGUN = 600.0, 1000  # how long a sign-in may take, and how many may be under way
PATH = "/oidc/callback"


class Trip(Struct, frozen=True, kw_only=True):
    """One person on the way to the provider and back."""

    state: str
    nonce: str
    verifier: str
    back: str  # the address that the provider sends them to
    then: str  # the page that they wanted
    began: float


class Vouched(Struct, frozen=True, kw_only=True):
    """Whom the provider vouches for."""

    subject: str
    name: str


class Provider(Protocol):
    """A provider of sign-ins."""

    async def address(self, trip: Trip) -> str:
        """Where to send the person."""
        ...

    async def vouches(self, trip: Trip, code: str) -> Vouched:
        """Whom the code that they brought back stands for. Refused with `sign_in_refused`."""
        ...


class Elsewhere:
    """Sign-ins by a provider. Whoever it vouches for and is not known yet becomes a person with that role."""

    def __init__(self, provider: Provider, persons: Persons, signin: SignIn, role: Role) -> None:
        self._provider = provider
        self._persons = persons
        self._signin = signin
        self._role = role
        self._trips: OrderedDict[str, Trip] = OrderedDict()

    async def begin(self, back: str, then: str) -> tuple[str, str]:
        """Where to send a person, and the word by which they are known when they come back."""
        local = then.startswith("/") and not then.startswith(("//", "/\\"))
        trip = Trip(
            state=token_urlsafe(24),
            nonce=token_urlsafe(24),
            verifier=token_urlsafe(48),
            back=back,
            then=then if local and then.isprintable() else "/",
            began=time.monotonic(),
        )
        address = await self._provider.address(trip)
        self._trips[trip.state] = trip
        while len(self._trips) > BEGUN:
            self._trips.popitem(last=False)
        return address, trip.state

    async def finish(self, query: Mapping[str, str], state: str, *, client: str = "") -> tuple[MadeSession, str]:
        """The visit of whoever came back, and the page that they wanted. `state` is what their browser kept."""
        trip = self._trips.pop(query.get("state", ""), None)
        if trip is None or trip.state != state or time.monotonic() - trip.began > SECONDS:
            raise _refused("This sign-in was not begun here, or took too long.", "Begin again.")
        if "code" not in query:
            said = query.get("error_description") or query.get("error") or "no reason"
            raise _refused(f"The provider refused: {said[:200]}.")
        vouched = await self._provider.vouches(trip, query["code"])
        person = await self._persons.of_subject(vouched.subject) or await self._new(vouched)
        return await self._signin.trusted(person, client=client), trip.then

    async def _new(self, vouched: Vouched) -> Person:
        if not await self._persons.any():
            raise _refused("There is no admin yet.", "Open the first-run link that `toolcrib up` prints.")
        plain = " ".join(vouched.name.split())[: NAME_MOST - 5] or "somebody"
        name = plain if plain.isprintable() else "somebody"
        for number in range(2, 100):
            if await self._persons.named(name) is None:
                break
            name = f"{plain} {number}"
        person = Person(id="", name=name, role=self._role, subject=vouched.subject, made_by="sign-in provider")
        return await self._persons.add(person)


def _refused(what: str, hint: str = "") -> ToolFailed:
    return ToolFailed(what, code="sign_in_refused", hint=hint)
