"""Approvals: calls that wait for a person's word, what was answered, and the rules that came of it."""

import time
from typing import Any, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.app.effects import effects
from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Effect, Tool
from toolcrib.faces.web.counters import counters
from toolcrib.faces.web.forms import Form, arguments_of, fields_of, form
from toolcrib.faces.web.frame import answering, done, house, principal, render
from toolcrib.faces.web.pages.approvals import rules, wishes
from toolcrib.faces.web.places import Page
from toolcrib.services.access import Decision
from toolcrib.services.approvals.requests import ApprovalRequest, Choice, Lifetime
from toolcrib.services.people.principal import Role, allows

PAGE = Page(
    title="Approvals", icon="inbox", path="/approvals", group="Control", order=1, scope="approvals", badge="approvals"
)
PATTERN = "where."
HISTORY = 100
SPANS = ((900, "15 minutes"), (3600, "1 hour"), (28_800, "8 hours"), (604_800, "a week"))


async def _card(request: Request, one: ApprovalRequest) -> dict[str, Any]:
    """One request with all that a person should see before answering."""
    crib = house(request).crib
    tool = _tool(crib.resolver, one.tool)
    schema: JsonObject = tool.schema if tool is not None else {}
    return {
        "ask": one,
        "domain": tool.domain if tool is not None else "own",
        "destructive": tool is not None and tool.traits.effect is Effect.DESTROY,
        "fields": fields_of(schema, _arguments(one)),
        "effects": await effects(crib, one),
    }


def _arguments(one: ApprovalRequest) -> JsonObject:
    found: object = msgspec.json.decode(one.arguments)
    return cast("JsonObject", found) if isinstance(found, dict) else {}


def _tool(resolver: Resolver, name: str) -> Tool | None:
    return resolver.registry.get(name)


async def _tabs(request: Request) -> list[tuple[str, str, int]]:
    waiting = (await counters(house(request), principal(request))).get("approvals", 0)
    return [
        ("Waiting", "/approvals", waiting),
        ("Decided", "/approvals/decided", 0),
        ("Standing rules", "/approvals/rules", 0),
        ("Grants", "/approvals/grants", 0),
    ]


@allows(Role.VIEWER, "approvals")
@answering
async def inbox(request: Request) -> Response:
    """What waits."""
    crib = house(request).crib
    found = await crib.approvals.list()
    asked = await crib.store.access.requests(state=Decision.PENDING)
    return await render(
        request,
        "approvals/inbox.html",
        part="approvals/cards.html",
        title="Approvals",
        tabs=await _tabs(request),
        cards=[await _card(request, one) for one in reversed(found)],
        wishes=list(reversed(asked)),
        spans=SPANS,
    )


@allows(Role.VIEWER, "approvals")
@answering
async def one(request: Request) -> Response:
    """One request, waiting or answered."""
    known = await house(request).crib.approvals.get(request.path_params["id"])
    return await render(
        request, "approvals/one.html", title=f"{known.tool} asked", spans=SPANS, **await _card(request, known)
    )


@allows(Role.OPERATOR, "approvals")
@answering
async def answer(request: Request) -> Response:
    """Say yes, no, or something else."""
    crib, filled = house(request).crib, await form(request)
    known = await crib.approvals.get(request.path_params["id"])
    choice = _choice(filled)
    lifetime = _lifetime(filled) if choice is Choice.ACCEPT else Lifetime.ONCE
    given = await crib.approvals.answer(
        known.id,
        choice,
        by=principal(request).name,
        lifetime=lifetime,
        until=_until(filled) if lifetime is Lifetime.UNTIL else None,
        arguments=_edited(filled, crib.resolver, known) if choice is Choice.EDIT else None,
        text=filled.text("text"),
        where=_patterns(filled) if lifetime is Lifetime.ALWAYS else None,
    )
    if request.headers.get("HX-Request") == "true":
        return await render(request, "approvals/one.html", part="approvals/answered.html", title="Answered", ask=given)
    return done(request, "/approvals", f"{given.tool}: {given.choice}.")


def _choice(filled: Form) -> Choice:
    try:
        return Choice(filled.text("choice"))
    except ValueError:
        raise ToolFailed("Choose an answer.", code="bad_answer") from None


def _lifetime(filled: Form) -> Lifetime:
    try:
        return Lifetime(filled.text("lifetime", "once"))
    except ValueError:
        raise ToolFailed("Choose how long it holds.", code="bad_lifetime") from None


def _until(filled: Form) -> float:
    return time.time() + (filled.number("seconds", "The time") or 0)


def _patterns(filled: Form) -> dict[str, str] | None:
    found = {name.removeprefix(PATTERN): value for name, value in filled.items() if name.startswith(PATTERN)}
    return {name: value for name, value in found.items() if value.strip()} or None


def _edited(filled: Form, resolver: Resolver, known: ApprovalRequest) -> dict[str, Any]:
    tool = _tool(resolver, known.tool)
    if tool is None:
        raise ToolFailed(f"{known.tool} is no tool any more.", code="not_found")
    return arguments_of(tool.schema, filled)


@allows(Role.VIEWER, "approvals")
@answering
async def decided(request: Request) -> Response:
    """What was answered, and what nobody answered."""
    found = await house(request).crib.approvals.list(state=None, limit=HISTORY)
    now = time.time()
    seen = [one.at(now) for one in found]
    return await render(
        request,
        "approvals/decided.html",
        title="Approvals",
        tabs=await _tabs(request),
        asks=[one for one in seen if one.state.value != "pending"],
    )


@allows(Role.VIEWER, "approvals")
@answering
async def standing(request: Request) -> Response:
    """What people agreed to beforehand."""
    found = await house(request).crib.approvals.rules()
    return await render(
        request, "approvals/rules.html", title="Approvals", tabs=await _tabs(request), rules=found, now=time.time()
    )


@allows(Role.VIEWER, "approvals")
@answering
async def grants(request: Request) -> Response:
    """What people gave agents on request."""
    found = await house(request).crib.store.access.grants()
    return await render(
        request, "approvals/grants.html", title="Approvals", tabs=await _tabs(request), grants=found, now=time.time()
    )


ROUTES = [
    Route("/approvals", inbox, methods=["GET"]),
    Route("/approvals/decided", decided, methods=["GET"]),
    Route("/approvals/rules", standing, methods=["GET"]),
    Route("/approvals/grants", grants, methods=["GET"]),
    *rules.ROUTES,
    *wishes.ROUTES,
    Route("/approvals/{id}", one, methods=["GET"]),
    Route("/approvals/{id}", answer, methods=["POST"]),
]
