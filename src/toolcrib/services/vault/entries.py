"""Structured entries: types with fields, entries of a type, and the files attached to them."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from toolcrib.core.call import Attachment
from toolcrib.core.errors import ToolFailed
from toolcrib.core.registry import near
from toolcrib.services.vault.book import Book
from toolcrib.services.vault.faults import entry_exists, no_entry, type_exists
from toolcrib.services.vault.secrets import check_name
from toolcrib.services.vault.values import (
    BUILT_IN,
    LONGEST_FILE,
    LONGEST_VALUE,
    MOST_FILES,
    Entry,
    EntryType,
    Facts,
    Kept,
    Kind,
    Place,
)

_BETWEEN = "|"  # of an entry and its file: no name holds it
_encode = msgspec.json.encode
_kept = msgspec.json.Decoder(Kept)
_types = msgspec.json.Decoder(EntryType)


class Listed(Struct, frozen=True, kw_only=True):
    """An entry as it is listed."""

    key: str
    entry_type: str
    attachments: tuple[str, ...] = ()


class Entries:
    """The structured part of the vault."""

    def __init__(self, book: Book) -> None:
        self.book = book

    async def types(self, *, team: str = "") -> dict[str, EntryType]:
        """Every type by its slug: the built-in ones and the team's own."""
        own = [await self.book.get(one.place) for one in await self.book.facts(team, Kind.TYPE)]
        made = [_types.decode(found[1]) for found in own if found is not None]
        return {one.slug: one for one in (*BUILT_IN, *made)}

    async def create_type(self, made: EntryType, *, team: str = "", by: str = "") -> EntryType:
        """A type of one's own. Raises `entry_type_exists` and `bad_entry_type`."""
        names = [rule.name for rule in made.fields]
        if not names or len(set(names)) < len(names):
            raise ToolFailed(
                "The type was not made: it needs fields, each with a name of its own.", code="bad_entry_type"
            )

        def check(old: Facts | None) -> None:
            if old is not None or made.slug in {one.slug for one in BUILT_IN}:
                raise type_exists(made.slug)

        check_name("type", made.slug)
        facts = Facts(place=Place(team, Kind.TYPE, made.slug), secret=False, about=made.name[:200], by=by)
        await self.book.put(facts, _encode(made), check)
        return made

    async def create(
        self, key: str, entry_type: str, value: Mapping[str, str], *, team: str = "", by: str = ""
    ) -> Listed:
        """A new entry. Raises `entry_exists`, `entry_type_not_found` and `bad_entry`."""
        check_name("entry", key)
        kinds = await self.types(team=team)
        kind = kinds.get(entry_type)
        if kind is None:
            raise ToolFailed(
                f"The entry was not made: there is no type {entry_type!r}.",
                code="entry_type_not_found",
                hint=f"Types: {', '.join(sorted(kinds))}. create_vault_type makes another.",
            )
        _fits(kind, value)

        def check(old: Facts | None) -> None:
            if old is not None:
                raise entry_exists(key)

        facts = Facts(place=Place(team, Kind.ENTRY, key), about=entry_type, by=by)
        secret = tuple(rule.name for rule in kind.fields if rule.secret)
        await self.book.put(facts, _encode(Kept(value=dict(value), secret=secret)), check)
        return Listed(key=key, entry_type=entry_type)

    async def get(self, key: str, *, team: str = "") -> tuple[Entry, EntryType]:
        """An entry with its values, and its type."""
        check_name("entry", key)
        found = await self.book.get(Place(team, Kind.ENTRY, key))
        if found is None:
            raise no_entry(key)
        facts, data = found
        names = tuple(facts.place.name.partition(_BETWEEN)[2] for facts in await self._files(team, key))
        kinds = await self.types(team=team)
        kind = kinds.get(facts.about) or EntryType(slug=facts.about, name=facts.about)
        entry = Entry(
            key=key, entry_type=facts.about, value=_kept.decode(data).value, attachments=names, version=facts.version
        )
        return entry, kind

    async def all(self, *, team: str = "") -> list[Listed]:
        """The entries, without their values."""
        found: list[Listed] = []
        for one in await self.book.facts(team, Kind.ENTRY):
            files = await self._files(team, one.place.name)
            names = tuple(file.place.name.partition(_BETWEEN)[2] for file in files)
            found.append(Listed(key=one.place.name, entry_type=one.about, attachments=names))
        return found

    async def delete(self, key: str, *, team: str = "") -> bool:
        """Delete an entry with its attachments; whether it was there."""

        def its_file(place: Place) -> bool:
            return (place.team, place.kind) == (team, Kind.FILE) and place.name.startswith(key + _BETWEEN)

        return await self.book.drop(Place(team, Kind.ENTRY, key), lambda _: None, its_file) is not None

    async def attach(self, key: str, file: Attachment, *, team: str = "", by: str = "") -> None:
        """Attach a file to an entry, or replace the one of that name."""
        check_name("attachment", file.name)
        await self.get(key, team=team)
        if len(file.data) > LONGEST_FILE:
            raise ToolFailed(
                f"{file.name!r} was not attached: it has {len(file.data):,} bytes, and {LONGEST_FILE:,} is the most.",
                code="attachment_too_long",
            )
        held = {one.place.name for one in await self._files(team, key)}
        name = key + _BETWEEN + file.name
        if name not in held and len(held) >= MOST_FILES:
            raise ToolFailed(
                f"{file.name!r} was not attached: an entry has at most {MOST_FILES} attachments.",
                code="too_many_attachments",
            )
        facts = Facts(place=Place(team, Kind.FILE, name), about=file.media_type, by=by)
        await self.book.put(facts, file.data, lambda _: None)

    async def attachment(self, key: str, name: str, *, team: str = "") -> Attachment:
        """A file of an entry. Raises `attachment_not_found`."""
        entry, _ = await self.get(key, team=team)
        found = await self.book.get(Place(team, Kind.FILE, key + _BETWEEN + name))
        if found is None:
            close = near(name, entry.attachments)
            hint = (
                f"Did you mean {' or '.join(close)}?" if close else f"It has: {', '.join(entry.attachments) or 'none'}."
            )
            raise ToolFailed(f"{key!r} has no attachment {name!r}.", code="attachment_not_found", hint=hint)
        return Attachment(name, found[0].about, found[1])

    async def _files(self, team: str, key: str) -> list[Facts]:
        files = await self.book.facts(team, Kind.FILE)
        return [one for one in files if one.place.name.startswith(key + _BETWEEN)]


def _fits(kind: EntryType, value: Mapping[str, str]) -> None:
    known = {rule.name for rule in kind.fields}
    wrong = [f"{name!r} is no field of it" for name in value if name not in known]
    wrong += [f"{rule.name!r} is missing" for rule in kind.fields if rule.required and not value.get(rule.name)]
    wrong += [f"{name!r} is longer than {LONGEST_VALUE:,}" for name, part in value.items() if len(part) > LONGEST_VALUE]
    if wrong:
        fields = ", ".join(rule.name + ("" if rule.required else "?") for rule in kind.fields)
        raise ToolFailed(
            f"The entry was not made: it does not fit the type {kind.slug}: {'; '.join(wrong)}.",
            code="bad_entry",
            hint=f"Its fields: {fields}.",
        )
