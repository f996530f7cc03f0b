"""The vault: what is kept in it, without values; a value only where somebody asks for it by name."""

from typing import Annotated

from fastapi import Request, Response
from pydantic import Field

from toolcrib.core.errors import Denied, ToolFailed
from toolcrib.faces.http.asked import Cursor, Form, Limit, Page, house_of, me, paged
from toolcrib.faces.http.routing import Operations, answer, nothing
from toolcrib.services.people.principal import Role
from toolcrib.services.vault.entries import Listed
from toolcrib.services.vault.faults import no_entry, no_secret
from toolcrib.services.vault.secrets import Wanted
from toolcrib.services.vault.values import LONGEST_NAME, LONGEST_VALUE, Checked, Entry, EntryType, Report, Secret

operations = Operations("vault", "vault")
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]], Field(max_length=100)]
Value = Annotated[str, Field(min_length=1, max_length=LONGEST_VALUE)]


class Kept(Form):
    """A secret. What is null or left out stays as it is; a new one needs a value."""

    value: Value | None = None
    description: Annotated[str, Field(max_length=500)] | None = None
    tools: Names | None = None
    hosts: Names | None = None


class NewEntry(Form):
    """A structured entry: its type says which fields it has."""

    key: Name
    entry_type: Name
    value: Annotated[dict[str, Annotated[str, Field(max_length=LONGEST_VALUE)]], Field(max_length=50)]


@operations.add("GET", "/secrets", Role.VIEWER, Page[Secret])
async def list_secrets(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List the secrets, without their values."""
    house = house_of(request)
    found = await house.crib.vault.secrets.search() if await house.crib.vault.book.exists() else []
    return answer(paged((_plain(one) for one in found), lambda one: one.key, limit, cursor))


@operations.add("PUT", "/secrets/{key}", Role.OPERATOR, Secret)
async def set_secret(request: Request, key: str, body: Kept) -> Response:
    """Keep a secret, or change one."""
    house = house_of(request)
    wanted = Wanted(
        value=body.value,
        description=body.description,
        tools=None if body.tools is None else tuple(body.tools),
        hosts=None if body.hosts is None else tuple(body.hosts),
    )
    saved = await house.crib.vault.secrets.set(key, wanted)
    house.note(me(request).name, "vault.set", {"key": key})
    return answer(_plain(saved))


@operations.add("DELETE", "/secrets/{key}", Role.OPERATOR, status=204)
async def delete_secret(request: Request, key: str) -> Response:
    """Delete a secret."""
    house = house_of(request)
    if not (await house.crib.vault.book.exists() and await house.crib.vault.secrets.delete(key)):
        raise no_secret(key)
    house.note(me(request).name, "vault.delete", {"key": key})
    return nothing()


@operations.add("POST", "/secrets/{key}/reveal", Role.ADMIN, Secret)
async def reveal_secret(request: Request, key: str) -> Response:
    """Give a secret with its value. It is on record who asked."""
    house = house_of(request)
    _by_person(request)
    if not await house.crib.vault.book.exists():
        raise no_secret(key)
    found = await house.crib.vault.secrets.get(key)
    house.note(me(request).name, "vault.reveal", {"key": key})
    return answer(found, 200, {"Cache-Control": "no-store"})


@operations.add("GET", "/vault/types", Role.VIEWER, dict[str, EntryType])
async def vault_types(request: Request) -> Response:
    """List the types of entries, with their fields."""
    return answer(await house_of(request).crib.vault.entries.types())


@operations.add("GET", "/vault/entries", Role.VIEWER, Page[Listed])
async def list_vault_entries(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List the entries, without their values."""
    house = house_of(request)
    found = await house.crib.vault.entries.all() if await house.crib.vault.book.exists() else []
    return answer(paged(found, lambda one: one.key, limit, cursor))


@operations.add("POST", "/vault/entries", Role.OPERATOR, Listed, status=201)
async def create_vault_entry(request: Request, body: NewEntry) -> Response:
    """Keep a structured entry."""
    house = house_of(request)
    made = await house.crib.vault.entries.create(body.key, body.entry_type, body.value)
    house.note(me(request).name, "vault.entry", {"key": body.key, "type": body.entry_type})
    return answer(made, 201)


@operations.add("DELETE", "/vault/entries/{key}", Role.OPERATOR, status=204)
async def delete_vault_entry(request: Request, key: str) -> Response:
    """Delete an entry with its attachments."""
    house = house_of(request)
    if not (await house.crib.vault.book.exists() and await house.crib.vault.entries.delete(key)):
        raise no_entry(key)
    house.note(me(request).name, "vault.delete", {"key": key})
    return nothing()


@operations.add("POST", "/vault/entries/{key}/reveal", Role.ADMIN, Entry)
async def reveal_vault_entry(request: Request, key: str) -> Response:
    """Give an entry with its values. It is on record who asked."""
    house = house_of(request)
    _by_person(request)
    if not await house.crib.vault.book.exists():
        raise no_entry(key)
    found, _ = await house.crib.vault.entries.get(key)
    house.note(me(request).name, "vault.reveal", {"key": key})
    return answer(found, 200, {"Cache-Control": "no-store"})


@operations.add("POST", "/vault/rotate", Role.ADMIN, Report)
async def rotate_vault(request: Request) -> Response:
    """Wrap every value anew, under a new key."""
    house = house_of(request)
    if not await house.crib.vault.book.exists():
        raise ToolFailed("There is no vault yet.", code="no_vault", hint="The first secret makes it.")
    done = await house.crib.vault.book.rotate()
    house.note(me(request).name, "vault.rotate", {"term": done.term})
    return answer(done)


@operations.add("GET", "/vault/check", Role.VIEWER, Checked)
async def verify_vault(request: Request) -> Response:
    """Look whether every row opens, and none was changed behind the vault's back."""
    book = house_of(request).crib.vault.book
    return answer(await book.verify() if await book.exists() else Checked(rows=0))


def _plain(secret: Secret) -> Secret:
    """A secret as it is listed: its value stays where it is."""
    return Secret(
        key=secret.key,
        description=secret.description,
        is_secret=secret.is_secret,
        allowed_tools=secret.allowed_tools,
        allowed_hosts=secret.allowed_hosts,
        created_by=secret.created_by,
        version=secret.version,
        changed=secret.changed,
    )


def _by_person(request: Request) -> None:
    """A key for agents reads no secrets, whatever its owner may."""
    if me(request).via == "key" and me(request).agents is not None:
        raise Denied("A key that acts as an agent reads no secrets.", hint="Sign in, or use a key of your own.")
