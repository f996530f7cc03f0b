"""Signing in and out, the first visit that makes the admin, and signing up with an invitation."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from toolcrib.core.errors import ToolError
from toolcrib.faces import visits
from toolcrib.faces.web.forms import Form, form
from toolcrib.faces.web.frame import bare, done, house
from toolcrib.services.people.principal import allows
from toolcrib.services.people.values import MadeSession

PAGE = None


def local(path: str) -> str:
    """Where to go on: a place of ours, or the start."""
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) else "/"


def _others(request: Request, to: str) -> dict[str, Any]:
    """Where else one may sign in, if a provider is configured."""
    there = house(request).elsewhere is not None
    return {"elsewhere": f"/oidc/login?{urlencode({'next': to})}" if there else ""}


def _welcome(request: Request, made: MadeSession, to: str, said: str) -> Response:
    answer = done(request, to, said)
    visits.remember(answer, request, made)
    return answer


@allows(None)
async def login(request: Request) -> Response:
    """Name and password."""
    if not house(request).auth:
        return RedirectResponse("/", 303)
    to = local(request.query_params.get("next", "/"))
    if getattr(request.state, "principal", None) is not None:
        return RedirectResponse(to, 303)
    first = not await house(request).people.persons.any()
    return await bare(
        request, "signin/login.html", title="Sign in", to=to, first=first, name="", fault=None, **_others(request, to)
    )


@allows(None)
async def enter(request: Request) -> Response:
    """Sign in."""
    filled = await form(request)
    to, name = local(filled.text("next", "/")), filled.text("name")
    try:
        made = await house(request).people.signin.enter(
            name, filled.raw("password"), address=visits.address_of(request), client=visits.browser_of(request)
        )
    except ToolError as error:
        facts: dict[str, Any] = {
            "to": to,
            "first": False,
            "name": name,
            "fault": error.as_fault(),
            **_others(request, to),
        }
        return await bare(request, "signin/login.html", title="Sign in", status=422, **facts)
    return _welcome(request, made, to, "")


@allows(None)
async def leave(request: Request) -> Response:
    """Sign out."""
    await house(request).people.signin.leave(visits.secret_of(request))
    answer = done(request, "/login")
    visits.forget(answer, request)
    return answer


async def _signing_up(request: Request, template: str, fault: object = None, filled: Form | None = None) -> Response:
    facts = {"secret": request.path_params["secret"], "fault": fault, "name": filled.text("name") if filled else ""}
    return await bare(request, template, title="Welcome", status=422 if fault else 200, **facts)


@allows(None)
async def start(request: Request) -> Response:
    """The first visit: the form that makes the admin."""
    holds = house(request).people.signin.may_begin(request.path_params["secret"])
    return await _signing_up(request, "signin/start.html" if holds else "signin/ended.html")


@allows(None)
async def begin(request: Request) -> Response:
    """Make the admin, and sign them in."""
    words = "Welcome, {}. The list on the right says what to do next."
    return await _signed_up(request, house(request).people.signin.begin, words)


@allows(None)
async def invited(request: Request) -> Response:
    """An invitation: the form to sign up."""
    try:
        await house(request).people.invitations.opened(request.path_params["secret"])
    except ToolError:
        return await _signing_up(request, "signin/ended.html")
    return await _signing_up(request, "signin/start.html")


@allows(None)
async def join(request: Request) -> Response:
    """Sign up, and sign in."""
    return await _signed_up(request, house(request).people.signin.join, "Welcome, {}.")


async def _signed_up(request: Request, step: Callable[..., Awaitable[MadeSession]], words: str) -> Response:
    filled = await form(request)
    try:
        made = await step(
            request.path_params["secret"],
            filled.text("name"),
            filled.raw("password"),
            client=visits.browser_of(request),
        )
    except ToolError as error:
        return await _signing_up(request, "signin/start.html", error.as_fault(), filled)
    return _welcome(request, made, "/", words.format(made.person.name))


ROUTES = [
    Route("/login", login, methods=["GET"]),
    Route("/login", enter, methods=["POST"]),
    Route("/signout", leave, methods=["POST"]),
    Route("/start/{secret}", start, methods=["GET"]),
    Route("/start/{secret}", begin, methods=["POST"]),
    Route("/join/{secret}", invited, methods=["GET"]),
    Route("/join/{secret}", join, methods=["POST"]),
]
