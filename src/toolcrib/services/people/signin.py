"""Signing in and out, the first visit, and signing up with an invitation."""

import time
from secrets import token_urlsafe

import msgspec
from msgspec.structs import replace

from toolcrib.core.errors import ToolError, ToolFailed
from toolcrib.services.drawers import key_of
from toolcrib.services.people.invitations import Invitations
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.ports import Kind, Passwords, PeopleRows, Row
from toolcrib.services.people.principal import Principal, Role
from toolcrib.services.people.throttle import Throttle
from toolcrib.services.people.values import (
    Invitation,
    MadeSession,
    Person,
    Session,
    checked_password,
    clean_name,
    digest,
    new_secret,
)

DAYS = 14.0


class WrongPassword(ToolError):
    """The name or the password is wrong. It does not say which."""

    code = "wrong_password"


class SignIn:
    """Visits of people. What a cookie holds is random; only its hash is kept."""

    def __init__(
        self,
        rows: PeopleRows,
        persons: Persons,
        invitations: Invitations,
        passwords: Passwords,
        throttle: Throttle | None = None,
    ) -> None:
        self._rows = rows
        self._persons = persons
        self._invitations = invitations
        self._passwords = passwords
        self._throttle = throttle or Throttle()
        self._first = ""

    def first_run(self) -> str:
        """A new secret with which the first admin is made. It holds while this process runs, and once."""
        secret = new_secret()
        self._first = digest(secret)
        return secret

    def may_begin(self, secret: str) -> bool:
        """Whether this is the secret of the first visit."""
        return bool(self._first) and digest(secret) == self._first

    async def begin(self, secret: str, name: str, password: str, *, client: str = "") -> MadeSession:
        """The first visit: make the admin, and sign them in."""
        if not self.may_begin(secret):
            raise ToolFailed(
                "This link does not hold: it was used, or the server was started again.",
                code="bad_first_run",
                hint="`toolcrib up` prints a new one while there is no admin.",
            )
        kept = await self._passwords.hashed(checked_password(password, clean_name(name)))
        person = Person(id="", name=name, role=Role.ADMIN, password=kept)
        made = await self._persons.add(person, first=True)
        self._first = ""
        return await self._opened(made, client)

    async def join(self, secret: str, name: str, password: str, *, client: str = "") -> MadeSession:
        """Sign up with an invitation, and sign in."""
        invitation: Invitation = await self._invitations.opened(secret)
        if await self._persons.named(clean_name(name)) is not None:
            raise ToolFailed(f"There is somebody named {name!r} already.", code="name_taken")
        kept = await self._passwords.hashed(checked_password(password, name))
        await self._invitations.accept(secret, clean_name(name))
        person = Person(id="", name=name, role=invitation.role, password=kept, made_by=invitation.made_by)
        return await self._opened(await self._persons.add(person), client)

    async def enter(self, name: str, password: str, *, address: str = "", client: str = "") -> MadeSession:
        """Sign in with a password. An unknown name takes as long as a wrong password, and says the same."""
        key = key_of(name)
        self._throttle.check(key, address)
        person = await self._persons.named(name)
        open_ = person is not None and not person.closed and bool(person.password)
        kept = person.password if person is not None and open_ else ""
        right = await self._passwords.fits(kept, password)
        if person is None or not (right and open_):
            self._throttle.failed(key, address)
            raise WrongPassword("The name or the password is wrong.", hint="Try again, or ask an admin to reset it.")
        self._throttle.passed(key, address)
        if self._passwords.stale(person.password):
            person = await self._persons.set_password(person.id, password, self._passwords)
        return await self._opened(person, client)

    async def trusted(self, person: Person, *, client: str = "") -> MadeSession:
        """Sign somebody in whom the sign-in provider has vouched for."""
        if person.closed:
            raise WrongPassword(f"The account of {person.name} is closed.", hint="Ask an admin to open it.")
        return await self._opened(person, client, via="oidc")

    async def leave(self, secret: str) -> None:
        """Sign out: the cookie is worth nothing from now on."""
        await self._rows.remove(Kind.SESSION, digest(secret))

    async def leave_all(self, person: str) -> int:
        """End every visit of a person."""
        rows = await self._rows.all(Kind.SESSION, person=person)
        for row in rows:
            await self._rows.remove(Kind.SESSION, row.id)
        return len(rows)

    async def visits(self, person: str) -> tuple[Session, ...]:
        """The visits of a person that have not ended."""
        now = time.time()
        found = [_session(row) for row in await self._rows.all(Kind.SESSION, person=person)]
        return tuple(one for one in found if now < one.expires)

    async def visitor(self, secret: str) -> tuple[Principal, Session] | None:
        """Who holds this cookie, or None."""
        row = await self._rows.get(Kind.SESSION, digest(secret))
        if row is None:
            return None
        visit = _session(row)
        if time.time() >= visit.expires:
            await self._rows.remove(Kind.SESSION, visit.id)
            return None
        owner = await self._rows.get(Kind.PERSON, visit.person)
        person = None if owner is None else await self._persons.get(visit.person)
        if person is None or person.closed:
            return None
        return Principal(id=person.id, name=person.name, role=person.role, via=visit.via), visit

    async def change_password(self, person: str, old: str, new: str, *, address: str = "") -> Person:
        """Give oneself another password; every visit ends."""
        known = await self._persons.get(person)
        key = key_of(known.name)
        self._throttle.check(key, address)
        if known.password and not await self._passwords.fits(known.password, old):
            self._throttle.failed(key, address)
            raise WrongPassword("The old password is wrong.")
        return await self.reset(person, new)

    async def reset(self, person: str, new: str) -> Person:
        """Give somebody another password; every visit of theirs ends."""
        changed = await self._persons.set_password(person, new, self._passwords)
        await self.leave_all(person)
        return changed

    async def _opened(self, person: Person, client: str, *, via: str = "session") -> MadeSession:
        now, secret = time.time(), new_secret()
        await self._rows.sweep(Kind.SESSION, now)
        made = Session(
            id=digest(secret),
            person=person.id,
            csrf=token_urlsafe(24),
            made=now,
            expires=now + DAYS * 86_400,
            client=client[:200],
            via=via,
        )
        body = msgspec.json.encode(made).decode()
        row = Row(id=made.id, mark=made.id, body=body, person=person.id, until=made.expires, made=now)
        await self._rows.add(Kind.SESSION, row)
        return MadeSession(session=made, person=replace(person, password=""), secret=secret)


def _session(row: Row) -> Session:
    return msgspec.json.decode(row.body, type=Session)
