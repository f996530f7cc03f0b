"""What happens now, told to every open page: the names of events, and nothing else. The page asks for what it shows."""

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from toolcrib.faces.web.frame import GUARDED, house
from toolcrib.services.events import APPROVAL, CALL, CHANGE, Events
from toolcrib.services.people.principal import Role, allows

PAGE = None
BEAT = 20.0  # seconds after which a quiet stream says that it is there
KINDS = (APPROVAL, CALL, CHANGE)


async def _stream(events: Events, after: int | None) -> AsyncIterator[str]:
    listener = events.listen(after, KINDS)
    try:
        yield f"retry: 2000\nid: {events.last if after is None else after}\n\n"
        while not listener.over:
            event = await listener.next(BEAT)
            yield ": here\n\n" if event is None else f"id: {event.id}\nevent: {event.kind}\ndata: {event.id}\n\n"
    finally:
        events.leave(listener)


@allows(Role.VIEWER, "events")
async def stream(request: Request) -> Response:
    """The stream. It goes on after the last event that was seen, or from when the page was made."""
    last = request.headers.get("Last-Event-ID", "") or request.query_params.get("after", "")
    lines = _stream(house(request).events, int(last) if last.isdigit() else None)
    return StreamingResponse(lines, headers=GUARDED, media_type="text/event-stream")


ROUTES = [Route("/live", stream, methods=["GET"])]
