"""The people of an installation: who they are and what they may do."""

import time
from collections.abc import Callable
from secrets import token_hex

import msgspec
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.services.drawers import key_of
from toolcrib.services.people.ports import Kind, Passwords, PeopleRows, Row
from toolcrib.services.people.principal import Role
from toolcrib.services.people.values import Person, checked_password, clean_name

_LAST = "There would be no admin left."


class Persons:
    """Lists and changes people."""

    def __init__(self, rows: PeopleRows, changed: Callable[[], None] = lambda: None) -> None:
        self._rows = rows
        self._changed = changed

    async def all(self) -> tuple[Person, ...]:
        """Everybody, the first one first."""
        return tuple(map(_person, await self._rows.all(Kind.PERSON)))

    async def any(self) -> bool:
        """Whether somebody is there yet."""
        return bool(await self._rows.all(Kind.PERSON))

    async def get(self, person: str) -> Person:
        """The person with that id. Refused with `not_found`."""
        row = await self._rows.get(Kind.PERSON, person)
        if row is None:
            raise no_person(person)
        return _person(row)

    async def named(self, name: str) -> Person | None:
        """The person of that name, however it is capitalised."""
        row = await self._rows.find(Kind.PERSON, key_of(name))
        return None if row is None else _person(row)

    async def of_subject(self, subject: str) -> Person | None:
        """The person whom the sign-in provider calls so."""
        return next((one for one in await self.all() if subject and one.subject == subject), None)

    async def add(self, person: Person, *, first: bool = False) -> Person:
        """Keep a new person. `first` is refused when somebody is there."""
        made = replace(person, id=token_hex(6), name=clean_name(person.name), made=time.time(), revision=1)
        if not await self._rows.add(Kind.PERSON, _row(made), first=first):
            if first:
                raise ToolFailed("Somebody has signed up already.", code="already_set_up", hint="Sign in instead.")
            raise ToolFailed(f"There is somebody named {made.name!r} already.", code="name_taken")
        self._changed()
        return made

    async def change(
        self,
        person: str,
        *,
        name: str | None = None,
        role: Role | None = None,
        closed: bool | None = None,
        revision: int | None = None,
    ) -> Person:
        """Rename a person, give them another role, or close their account. The last admin stays one."""
        known = await self.get(person)
        if revision is not None and revision != known.revision:
            raise ToolFailed(f"{known.name} was changed meanwhile. Nothing was saved.", code="revision_conflict")
        new = replace(
            known,
            name=known.name if name is None else clean_name(name),
            role=known.role if role is None else Role(role),
            closed=known.closed if closed is None else closed,
        )
        if _leads(known) and not _leads(new) and sum(map(_leads, await self.all())) == 1:
            raise ToolFailed(_LAST, code="last_admin", hint="Make somebody else an admin first.")
        return await self._put(known, new)

    async def set_password(self, person: str, password: str, passwords: Passwords) -> Person:
        """Give a person another password."""
        known = await self.get(person)
        kept = await passwords.hashed(checked_password(password, known.name))
        return await self._put(known, replace(known, password=kept))

    async def _put(self, known: Person, new: Person) -> Person:
        if new == known:
            return known
        if not await self._rows.put(Kind.PERSON, _row(new)):
            other = await self.named(new.name)
            if other is not None and other.id != new.id:
                raise ToolFailed(f"There is somebody named {new.name!r} already.", code="name_taken")
            raise ToolFailed(f"{known.name} was changed meanwhile. Nothing was saved.", code="revision_conflict")
        self._changed()
        return replace(new, revision=known.revision + 1)


def no_person(person: str) -> ToolFailed:
    """The refusal of an id that nobody has."""
    return ToolFailed(f"There is no person {person!r}.", code="not_found", hint="list_users names them.")


def _leads(person: Person) -> bool:
    return person.role is Role.ADMIN and not person.closed


def _row(person: Person) -> Row:
    body = msgspec.json.encode(person).decode()
    return Row(id=person.id, mark=key_of(person.name), body=body, made=person.made, revision=person.revision)


def _person(row: Row) -> Person:
    return replace(msgspec.json.decode(row.body, type=Person), revision=row.revision)
