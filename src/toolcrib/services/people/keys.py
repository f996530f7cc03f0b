"""Keys of programs: `tcb_<id>_<secret>`, of which only a hash is kept."""

import time
from collections.abc import Callable, Iterable, Sequence
from hmac import compare_digest
from secrets import token_hex
from typing import Any

import msgspec
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import near
from toolcrib.services.people.persons import Persons
from toolcrib.services.people.ports import Kind, PeopleRows, Row
from toolcrib.services.people.principal import Principal, Role
from toolcrib.services.people.values import KEY_PREFIX, SCOPES, ApiKey, MadeKey, digest, new_secret

FRESH = 2.0  # seconds for which a key that was looked up is believed
REMEMBERED = 1024
NOTED = 60.0  # seconds between two notes of when it was used
MOST_DAYS = 3650
_ORDER = tuple(Role)


class ApiKeys:
    """Makes, lists and revokes keys, and knows whose key it is that a program shows.

    A key that was looked up is believed for two seconds: what is revoked in another process ends with that delay,
    what is revoked here ends at once.
    """

    def __init__(
        self, rows: PeopleRows, persons: Persons, known_agents: Callable[[], Iterable[str]] = lambda: ()
    ) -> None:
        self._rows = rows
        self._persons = persons
        self._agents = known_agents
        self._known: dict[str, tuple[float, Principal | None]] = {}
        self._asking: dict[str, Any] = {}

    def forget(self) -> None:
        """Look every key up again."""
        self._known.clear()

    async def all(self, *, person: str | None = None) -> tuple[ApiKey, ...]:
        """Every key, oldest first; of one person, if one is named."""
        return tuple(_key(row) for row in await self._rows.all(Kind.KEY, person=person))

    async def get(self, key: str) -> ApiKey:
        """The key with that id. Refused with `not_found`."""
        row = await self._rows.get(Kind.KEY, key)
        if row is None:
            raise _missing(key)
        return _key(row)

    async def make(
        self,
        *,
        name: str,
        person: str,
        role: Role,
        scopes: Sequence[str] | None = None,
        agents: Sequence[str] | None = None,
        days: float | None = None,
    ) -> MadeKey:
        """Make a key of a person. It may never do more than the person."""
        owner = await self._persons.get(person)
        if _ORDER.index(Role(role)) > _ORDER.index(owner.role):
            what = f"{owner.name} is {owner.role.value}, so a key of theirs cannot be {Role(role).value}."
            raise ToolFailed(what, code="bad_role")
        if days is not None and not 0 < days <= MOST_DAYS:
            raise ToolFailed(f"A key holds for up to {MOST_DAYS} days, or until it is revoked.", code="bad_lifetime")
        now, secret = time.time(), new_secret()
        made = ApiKey(
            id=token_hex(6),
            name=" ".join(name.split())[:80] or "key",
            person=owner.id,
            role=Role(role),
            scopes=_known(scopes, SCOPES, "scope"),
            agents=_known(agents, tuple(self._agents()), "agent"),
            made=now,
            expires=0.0 if days is None else now + days * 86_400,
        )
        row = Row(id=made.id, mark=digest(secret), body=_body(made), person=owner.id, until=made.expires, made=now)
        await self._rows.add(Kind.KEY, row)
        return MadeKey(key=made, secret=f"{KEY_PREFIX}_{made.id}_{secret}")

    async def revoke(self, key: str) -> ApiKey:
        """End a key. Ending it twice changes nothing."""
        for _ in range(5):  # the note of its use may come in between
            row = await self._rows.get(Kind.KEY, key)
            if row is None:
                raise _missing(key)
            known = _key(row)
            if known.revoked:
                return known
            ended = replace(known, revoked=time.time())
            if await self._rows.put(Kind.KEY, replace(row, body=_body(ended))):
                self.forget()
                return ended
        raise ToolFailed("The key is being changed by others.", code="revision_conflict", retryable=True)

    async def principal(self, key: str) -> Principal | None:
        """Whose key this is, or None: unknown, ended or revoked."""
        mark, now = digest(key), time.monotonic()
        known = self._known.get(mark)
        if known is not None and now < known[0]:
            return known[1]
        asking = self._asking.get(mark)
        if asking is not None:  # the same program with many requests at once: one of them looks
            return await heavy("asyncio").shield(asking)
        asking = self._asking[mark] = heavy("asyncio").ensure_future(self._looked_up(key))
        try:
            found = await asking
        finally:
            self._asking.pop(mark, None)
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[mark] = (now + FRESH, found)
        return found

    async def _looked_up(self, key: str) -> Principal | None:
        prefix, _, rest = key.partition("_")
        id_, _, secret = rest.partition("_")
        if prefix != KEY_PREFIX or not id_ or not secret:
            return None
        row = await self._rows.get(Kind.KEY, id_)
        if row is None or not compare_digest(row.mark, digest(secret)):
            return None
        found, now = _key(row), time.time()
        owner = await self._rows.get(Kind.PERSON, found.person)
        if owner is None or not found.holds(now):
            return None
        person = await self._persons.get(found.person)
        if person.closed:
            return None
        if now - found.used > NOTED:
            await self._rows.put(Kind.KEY, replace(row, body=_body(replace(found, used=now))))
        return Principal(
            id=person.id,
            name=person.name,
            role=min(found.role, person.role, key=_ORDER.index),
            via="key",
            scopes=None if found.scopes is None else frozenset(found.scopes),
            agents=None if found.agents is None else frozenset(found.agents),
        )


def _known(names: Sequence[str] | None, known: Sequence[str], noun: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    for name in names:
        if name not in known:
            close = near(name, known)
            hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(known) or 'none'}."
            raise ToolFailed(f"There is no {noun} {name!r}.", code=f"bad_{noun}", hint=hint)
    return tuple(dict.fromkeys(names))


def _missing(key: str) -> ToolFailed:
    return ToolFailed(f"There is no key {key!r}.", code="not_found")


def _body(key: ApiKey) -> str:
    return msgspec.json.encode(key).decode()


def _key(row: Row) -> ApiKey:
    return msgspec.json.decode(row.body, type=ApiKey)
