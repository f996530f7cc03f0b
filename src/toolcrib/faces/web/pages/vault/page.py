"""The vault: names, and never a value unasked."""

import time
from secrets import token_hex
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.call import Caller, Record, Status
from toolcrib.core.errors import ToolError
from toolcrib.faces.web.forms import Form, form
from toolcrib.faces.web.frame import answering, done, house, principal, render
from toolcrib.faces.web.places import Page
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.vault.faults import no_secret
from toolcrib.services.vault.secrets import Wanted
from toolcrib.services.vault.values import Secret

PAGE = Page(title="Vault", icon="vault", path="/vault", group="Control", order=4, scope="vault")
REVEAL = "reveal_secret"


@allows(Role.VIEWER, "vault")
@answering
async def index(request: Request) -> Response:
    """The names, and what is said of each."""
    vault = house(request).crib.vault
    found: list[Secret] = []
    trouble = ""
    try:
        found = await vault.secrets.search(request.query_params.get("q", ""))
    except ToolError as error:
        trouble = f"{error.message} {error.hint}"
    return await render(
        request,
        "vault/list.html",
        part="vault/rows.html",
        title="Vault",
        secrets=found,
        trouble=trouble,
        q=request.query_params.get("q", ""),
        where=vault.book.where,
        reveals=house(request).crib.config.vault.reveal,
    )


@allows(Role.OPERATOR, "vault")
@answering
async def new(request: Request) -> Response:
    """The form for a new one."""
    return await render(request, "vault/edit.html", title="New secret", secret=None)


@allows(Role.VIEWER, "vault")
@answering
async def one(request: Request) -> Response:
    """One, without its value."""
    known = await _facts(request)
    return await render(request, "vault/edit.html", title=known.key, secret=known)


async def _facts(request: Request) -> Secret:
    key = request.path_params["key"]
    found = next((one for one in await house(request).crib.vault.secrets.search() if one.key == key), None)
    if found is None:
        raise no_secret(key)
    return found


def _wanted(filled: Form, value: str | None) -> Wanted:
    return Wanted(
        value=value,
        description=filled.text("description"),
        tools=filled.lines("tools"),
        hosts=filled.lines("hosts"),
    )


@allows(Role.OPERATOR, "vault")
@answering
async def create(request: Request) -> Response:
    """Keep a new one."""
    filled = await form(request)
    made = await house(request).crib.vault.secrets.create(
        filled.needed("key", "The name"), _wanted(filled, filled.raw("value"))
    )
    return done(request, "/vault", f"{made.key} is kept. Agents use it as {{{{secret:{made.key}}}}}.")


@allows(Role.OPERATOR, "vault")
@answering
async def save(request: Request) -> Response:
    """Another value, or another word about it."""
    filled = await form(request)
    value = filled.raw("value") or None
    made = await house(request).crib.vault.secrets.update(request.path_params["key"], _wanted(filled, value))
    return done(request, f"/vault/{quote(made.key, safe='')}", "Saved.")


@allows(Role.ADMIN, "vault")
@answering
async def reveal(request: Request) -> Response:
    """Show the value, to an admin who asked for it. It is on record who did."""
    crib, who, began = house(request).crib, principal(request), time.perf_counter()
    found = await crib.vault.secrets.get(request.path_params["key"])
    crib.store.audit.hand(
        Record(
            id=f"r{token_hex(8)}",
            at=time.time(),
            caller=Caller(agent="", user=who.name),
            tool=REVEAL,
            arguments=msgspec.json.encode({"key": found.key}),
            status=Status.DONE,
            seconds=time.perf_counter() - began,
        )
    )
    return await render(request, "vault/edit.html", part="vault/value.html", title=found.key, secret=found)


@allows(Role.OPERATOR, "vault")
@answering
async def delete(request: Request) -> Response:
    """Take it away."""
    await house(request).crib.vault.secrets.delete(request.path_params["key"])
    return done(request, "/vault", f"{request.path_params['key']} is deleted.")


@allows(Role.ADMIN, "vault")
@answering
async def rotate(request: Request) -> Response:
    """Begin a new key, and wrap every row under it."""
    made = await house(request).crib.vault.book.rotate()
    return done(request, "/vault", f"Rotated: {made.rewrapped} rows are under key {made.term} now.")


ROUTES = [
    Route("/vault", index, methods=["GET"]),
    Route("/vault", create, methods=["POST"]),
    Route("/new-secret", new, methods=["GET"]),
    Route("/rotate-vault", rotate, methods=["POST"]),
    Route("/vault/{key:path}/reveal", reveal, methods=["POST"]),
    Route("/vault/{key:path}/delete", delete, methods=["POST"]),
    Route("/vault/{key:path}", one, methods=["GET"]),
    Route("/vault/{key:path}", save, methods=["POST"]),
]
