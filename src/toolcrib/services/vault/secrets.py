"""Secrets and values by key, and who may do what with them.

A row is a secret or not. What a person or the system set is theirs: an agent uses it and changes nothing about it. An
agent changes and deletes secrets that it made itself. What is no secret belongs to the whole team.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.services.vault.book import Book, Check
from toolcrib.services.vault.faults import bad_name, no_secret, protected, secret_exists
from toolcrib.services.vault.values import LONGEST_NAME, LONGEST_VALUE, Facts, Kind, Place, Secret, secret_of

PERSON = ""
_ODD = frozenset("{}|")
_HOST = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?|\[?[0-9a-f:.]{2,45}\]?")


class Wanted(Struct, frozen=True, kw_only=True):
    """What is to be kept under a key. None leaves what is there."""

    value: str | None = None
    description: str | None = None
    tools: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None


class Secrets:
    """The keys and values of the vault."""

    def __init__(self, book: Book, *, reveals: bool = True) -> None:
        """`reveals` says whether an agent may be given a secret's value."""
        self.book = book
        self.reveals = reveals

    async def get(self, key: str, *, team: str = "") -> Secret:
        """A secret with its value. Raises `secret_not_found`."""
        found = await self.find(key, team=team)
        if found is None:
            raise no_secret(key)
        return found

    async def find(self, key: str, *, team: str = "") -> Secret | None:
        """The same; None when there is none."""
        found = await self.book.get(_place(team, key))
        return None if found is None else secret_of(found[0], found[1].decode())

    async def create(self, key: str, wanted: Wanted, *, team: str = "", by: str = PERSON) -> Secret:
        """A new secret. Raises `secret_exists`."""

        def check(old: Facts | None) -> None:
            if old is not None:
                raise secret_exists(key)

        return await self._put(_facts(team, key, wanted, by=by), wanted, check)

    async def update(self, key: str, wanted: Wanted, *, team: str = "", by: str = PERSON) -> Secret:
        """Another value for a secret that is there, or another word about it. Its owner stays."""
        found = await self.book.get(_place(team, key))
        if found is None:
            raise no_secret(key)
        old, value = found
        _own(old, by)
        whole = Wanted(
            value=value.decode() if wanted.value is None else wanted.value,
            description=old.about if wanted.description is None else wanted.description,
            tools=old.tools if wanted.tools is None else wanted.tools,
            hosts=old.hosts if wanted.hosts is None else wanted.hosts,
        )

        def check(now: Facts | None) -> None:
            if now is None:
                raise no_secret(key)
            _own(now, by)
            if now.version != old.version:
                raise _changed_meanwhile(key)

        return await self._put(_facts(team, key, whole, by=old.by, secret=old.secret), whole, check)

    async def set(self, key: str, wanted: Wanted, *, team: str = "") -> Secret:
        """What a person or the system keeps: new, or instead of what is there. It belongs to them from then on.

        Without a word on description, tools and hosts, those that are there stay.
        """
        old = await self.book.said(_place(team, key))
        whole = wanted
        if old is not None:
            whole = Wanted(
                value=wanted.value,
                description=old.about if wanted.description is None else wanted.description,
                tools=old.tools if wanted.tools is None else wanted.tools,
                hosts=old.hosts if wanted.hosts is None else wanted.hosts,
            )
        return await self._put(_facts(team, key, whole, by=PERSON), whole, lambda _: None)

    async def put_value(self, key: str, value: str, *, team: str = "", by: str = PERSON) -> Secret:
        """A value that is no secret, new or instead of the last one. Raises `secret_protected`."""

        def check(old: Facts | None) -> None:
            if old is not None and old.secret:
                raise protected(key)

        wanted = Wanted(value=value)
        return await self._put(_facts(team, key, wanted, by=by, secret=False), wanted, check)

    async def delete(self, key: str, *, team: str = "", by: str = PERSON) -> bool:
        """Delete; whether it was there."""

        def check(old: Facts | None) -> None:
            if old is not None and old.secret:
                _own(old, by)

        return await self.book.drop(_place(team, key), check) is not None

    async def search(self, query: str = "", *, prefix: str = "", team: str = "") -> list[Secret]:
        """Keys whose name or description has the words. Of a secret no value is told."""
        words = query.casefold().split()
        found: list[Secret] = []
        for facts in await self.book.facts(team, Kind.SECRET):
            text = f"{facts.place.name} {facts.about}".casefold()
            if facts.place.name.startswith(prefix) and all(word in text for word in words):
                found.append(secret_of(facts) if facts.secret else await self.get(facts.place.name, team=team))
        return found

    async def _put(self, facts: Facts, wanted: Wanted, check: Check) -> Secret:
        value = wanted.value if wanted.value is not None else ""
        _check_value(facts.place.name, value, secret=facts.secret)
        stored = await self.book.put(facts, value.encode(), check)
        return secret_of(stored)


def check_name(what: str, name: str) -> None:
    """Raise `bad_secret_name` for what cannot be written down everywhere."""
    if not (0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()) or _ODD & set(name):
        raise bad_name(what, name)
    if not name.isascii() and name.encode("utf-8", "replace").decode() != name:
        raise bad_name(what, name)


def _place(team: str, key: str) -> Place:
    check_name("secret", key)
    return Place(team, Kind.SECRET, key)


def _facts(team: str, key: str, wanted: Wanted, *, by: str, secret: bool = True) -> Facts:
    about = (wanted.description or "").encode("utf-8", "replace").decode()
    return Facts(
        place=_place(team, key),
        secret=secret,
        about=" ".join(about.split())[:500],
        tools=tuple(sorted(wanted.tools or ())),
        hosts=_hosts(wanted.hosts or ()),
        by=by,
    )


def _hosts(hosts: Sequence[str]) -> tuple[str, ...]:
    named = sorted({host.strip().lower() for host in hosts})
    if wrong := [host for host in named if not _HOST.fullmatch(host)]:
        raise ToolFailed(
            f"The secret was not stored: {wrong[0][:60]!r} is no host.",
            code="bad_host",
            hint="Write api.example.org, or *.example.org for all below it; without port and path.",
        )
    return tuple(named)


def _check_value(key: str, value: str, *, secret: bool) -> None:
    if secret and not value:
        raise ToolFailed(f"{key!r} was not stored: its value is empty.", code="secret_empty", hint="Give it a value.")
    if len(value) > LONGEST_VALUE:
        raise ToolFailed(
            f"{key!r} was not stored: its value has {len(value):,} characters, and {LONGEST_VALUE:,} is the most.",
            code="secret_too_long",
            hint="Keep a file as an attachment of an entry instead: toolcrib vault attach.",
        )
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ToolFailed(f"{key!r} was not stored: its value is not text.", code="secret_not_text") from None


def _own(facts: Facts, by: str) -> None:
    """A person may change everything; an agent what it made."""
    if by not in (PERSON, facts.by):
        raise protected(facts.place.name)


def _changed_meanwhile(key: str) -> ToolFailed:
    return ToolFailed(
        f"{key!r} was changed by somebody else meanwhile; nothing was stored.", code="secret_changed", retryable=True
    )
