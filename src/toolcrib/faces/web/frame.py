"""How a page is answered: rendered whole, or the part that changed; done and refused; who asks, and of which house."""

from collections.abc import Awaitable, Callable
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote, unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from toolcrib import __version__
from toolcrib.core.errors import ToolError
from toolcrib.faces.web.assets import asset
from toolcrib.faces.web.counters import counters
from toolcrib.faces.web.domains import label, sign
from toolcrib.faces.web.links import LINKS
from toolcrib.faces.web.places import GROUPS, Page, places
from toolcrib.faces.web.words import WORDS, icon
from toolcrib.services.people.principal import Principal, Role

if TYPE_CHECKING:
    from toolcrib.app.house import House

_HERE = Path(__file__).parent
SAID = "toolcrib_said"
LOOK = "toolcrib_look"
LOOKS = ("system", "light", "dark")
POLICY = "; ".join((
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
))  # fmt: skip
GUARDED = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Vary": "HX-Request",
}
STATUS = {"unknown_agent": 404, "forbidden": 403}
T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]


def house(request: Request) -> "House":
    """What the page works on."""
    return request.app.state.house


def service(request: Request, kind: type[T]) -> T:
    """One of the services that tools work on too."""
    return cast("T", house(request).crib.services[kind])


def principal(request: Request) -> Principal:
    """Who asks. The door has let nobody else through."""
    return cast("Principal", request.state.principal)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader([_HERE / "layout", _HERE / "pages"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(WORDS)
    known: dict[str, Any] = {"asset": asset, "icon": icon, "version": __version__, **LINKS}
    known |= {"domain_label": label, "domain_icon": sign}
    cast("dict[str, Any]", made.globals).update(known)
    return made


def partial(request: Request) -> bool:
    """Whether only the part that changed is wanted."""
    said = request.headers
    return said.get("HX-Request") == "true" and said.get("HX-Request-Type") != "full"


async def render(
    request: Request, template: str, *, part: str = "", status: int = 200, title: str = "", **facts: Any
) -> Response:
    """A page; or, for htmx, the template `part` that stands in it."""
    wanted = bool(part) and partial(request)
    found = _environment().get_template(part if wanted else template)
    context = {**_who(request), "title": title, "partial": wanted, **facts}
    if wanted:
        return HTMLResponse(found.render(context), status, dict(GUARDED))
    context |= {"nav": _navigation(request), "counters": await counters(house(request), principal(request))}
    context["newest"] = house(request).events.last  # what happens from now on is told by the stream
    context["said"] = unquote(request.cookies.get(SAID, ""))
    answer = HTMLResponse(found.render(context), status, dict(GUARDED))
    if context["said"]:
        answer.delete_cookie(SAID)
    return answer


async def bare(request: Request, template: str, *, status: int = 200, **facts: Any) -> Response:
    """A page without the frame: for who is not signed in."""
    context = {**_who(request), **facts}
    return HTMLResponse(_environment().get_template(template).render(context), status, dict(GUARDED))


def _who(request: Request) -> dict[str, Any]:
    who: Principal | None = getattr(request.state, "principal", None)
    look = request.cookies.get(LOOK, "system")
    return {
        "who": who,
        "csrf": getattr(request.state, "csrf", ""),
        "look": look if look in LOOKS else "system",
        "path": request.url.path,
        "operates": who is not None and who.may(Role.OPERATOR),
        "decides": who is not None and who.may(Role.ADMIN),
    }


def _navigation(request: Request) -> list[tuple[str, list[Page]]]:
    """The pages that this person may open, by group."""
    who = principal(request)
    known = [place.page for place in places() if place.page is not None]
    mine = [page for page in known if who.may(page.role, page.scope)]
    return [(group, found) for group in GROUPS if (found := [page for page in mine if page.group == group])]


def done(request: Request, to: str, said: str = "") -> Response:
    """It was done: go on to a page, which says so."""
    if request.headers.get("HX-Request") == "true":
        answer = Response(status_code=200, headers={"HX-Redirect": to})
    else:
        answer = RedirectResponse(to, status_code=303)
    if said:
        answer.set_cookie(SAID, quote(said), max_age=30, httponly=True, samesite="lax", path="/")
    return answer


async def refused(request: Request, error: ToolError) -> Response:
    """It was not done: the reason where the form is, which keeps what was typed; else on a page of its own."""
    fault = error.as_fault()
    status = 404 if fault.code.lower().endswith("not_found") else STATUS.get(fault.code, 422)
    if request.headers.get("HX-Request") == "true" and request.method != "GET":
        found = _environment().get_template("alert.html")
        return HTMLResponse(found.render(fault=fault), status, dict(GUARDED))
    return await render(request, "refused.html", title="That did not work", status=status, fault=fault)


def answering(endpoint: Endpoint) -> Endpoint:
    """An endpoint whose refusals are said to the person."""

    @wraps(endpoint)
    async def answered(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ToolError as error:
            return await refused(request, error)

    return answered
