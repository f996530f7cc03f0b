"""The way to the sign-in provider and back, for a person's browser."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from toolcrib.app.house import House
from toolcrib.core.errors import ToolFailed
from toolcrib.faces import visits
from toolcrib.services.people.elsewhere import PATH, SECONDS, Elsewhere
from toolcrib.services.people.principal import allows

COOKIE, BELOW = "toolcrib_oidc", "/oidc"


@allows(None)
async def sign_in_elsewhere(request: Request) -> Response:
    """Send the browser to the provider."""
    house: House = request.app.state.house
    address, state = await _elsewhere(house).begin(f"{house.address}{PATH}", request.query_params.get("next", "/"))
    response = RedirectResponse(address, 303)
    secure = visits.is_secure(request)
    response.set_cookie(COOKIE, state, max_age=int(SECONDS), path=BELOW, httponly=True, secure=secure, samesite="lax")
    return response


@allows(None)
async def come_back(request: Request) -> Response:
    """Take in whoever the provider vouches for."""
    house: House = request.app.state.house
    made, then = await _elsewhere(house).finish(
        dict(request.query_params), request.cookies.get(COOKIE, ""), client=visits.browser_of(request)
    )
    response = RedirectResponse(then, 303)
    response.delete_cookie(COOKIE, path=BELOW)
    visits.remember(response, request, made)
    return response


def routes() -> list[Route]:
    """Both."""
    return [Route(f"{BELOW}/login", sign_in_elsewhere, methods=["GET"]), Route(PATH, come_back, methods=["GET"])]


def _elsewhere(house: House) -> Elsewhere:
    if house.elsewhere is None:
        hint = "Set TOOLCRIB_OIDC_ISSUER and TOOLCRIB_OIDC_CLIENT_ID."
        raise ToolFailed("There is no sign-in provider here.", code="not_found", hint=hint)
    return house.elsewhere
