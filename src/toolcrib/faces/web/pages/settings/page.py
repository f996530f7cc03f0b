"""Settings: what is in force and where it comes from, the look, and about."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from toolcrib.faces.web.assets import FOLDER
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import LOOK, LOOKS, house, render
from toolcrib.faces.web.places import Page
from toolcrib.services.people.principal import Role, allows

PAGE = Page(title="Settings", icon="settings", path="/settings", group="House", order=2, scope="settings")
A_YEAR = 365 * 86_400


@allows(Role.VIEWER, "settings")
async def index(request: Request) -> Response:
    """Everything that can be set, as it is."""
    it = house(request)
    return await render(
        request, "settings/settings.html", title="Settings", rows=it.settings.rows(), config=it.crib.config
    )


@allows(Role.VIEWER)
async def look(request: Request) -> Response:
    """Light, dark, or as the system has it: kept in this browser."""
    filled = await form(request)
    back = filled.text("back", "/")
    back = back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/"
    answer = RedirectResponse(back, status_code=303)
    chosen = filled.text("look")
    if chosen in LOOKS:
        answer.set_cookie(LOOK, chosen, max_age=A_YEAR, httponly=True, samesite="lax", path="/")
    return answer


@allows(Role.VIEWER)
async def licences(request: Request) -> Response:
    """Of the parts of others that the page is made of."""
    text = (FOLDER / "LICENCES.txt").read_text(encoding="utf-8")
    return await render(request, "settings/licences.html", title="Licences", text=text)


ROUTES = [
    Route("/settings/licences", licences, methods=["GET"]),
    Route("/settings", index, methods=["GET"]),
    Route("/settings/look", look, methods=["POST"]),
]
