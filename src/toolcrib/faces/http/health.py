"""Whether it lives, and whether it can work. No sign-in, and nothing to learn here."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolcrib.core.errors import ToolError
from toolcrib.faces.http.routing import answer
from toolcrib.services.people.principal import allows


@allows(None)
async def healthz(request: Request) -> Response:
    """The process answers."""
    del request
    return answer({"status": "ok"})


@allows(None)
async def readyz(request: Request) -> Response:
    """It can work: the store answers, and the record is written."""
    house = request.app.state.house
    why = house.crib.store.audit.trouble
    if not why:
        try:
            await house.crib.store.drawers.version()
        except ToolError as error:
            why = error.message
    if why or house.events.closed:
        return answer({"status": "unavailable", "why": "the store cannot be used" if why else "it is stopping"}, 503)
    return answer({"status": "ready"})


def routes() -> list[Route]:
    """Both."""
    return [Route("/healthz", healthz), Route("/readyz", readyz)]
