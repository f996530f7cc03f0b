"""The record of every call, and the stream of what happens now."""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import Header, Query, Request, Response
from starlette.responses import StreamingResponse

from toolcrib.faces.http.asked import Cursor, Page, bad_cursor, house_of
from toolcrib.faces.http.problem import problem
from toolcrib.faces.http.routing import Operations, answer
from toolcrib.services.events import APPROVAL, CALL, CHANGE, Listener
from toolcrib.services.people.principal import Role
from toolcrib.services.record.audit import Entry, Head, Verdict
from toolcrib.services.record.audit import Query as Wanted

operations = Operations("record", "record")
Word = Annotated[str | None, Query(max_length=200)]
Moment = Annotated[float | None, Query(ge=0, le=1e11, description="Seconds since 1970.")]
ALIVE = 15.0  # seconds between two signs of life in a stream
LINES, STREAM = "application/x-ndjson", "text/event-stream"
KINDS = (CALL, APPROVAL, CHANGE)


@operations.add("GET", "/record", Role.VIEWER, Page[Entry])
async def list_record(  # noqa: PLR0917 - each is a filter
    request: Request,
    agent: Word = None,
    tool: Word = None,
    session: Word = None,
    user: Word = None,
    status: Word = None,
    code: Word = None,
    since: Moment = None,
    until: Moment = None,
    *,
    oldest_first: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Cursor = None,
) -> Response:
    """List the entries of the record, the newest first."""
    wanted = Wanted(
        agent=agent,
        tool=tool,
        session=session,
        user=user,
        status=status,
        code=code,
        since=since,
        until=until,
        oldest_first=oldest_first,
        limit=limit,
        cursor=_number(cursor),
    )
    page = await house_of(request).crib.store.audit.entries(wanted)
    return answer(Page(items=list(page.entries), next=None if page.cursor is None else str(page.cursor)))


@operations.add("GET", "/record/{call}", Role.VIEWER, list[Entry])
async def get_record(request: Request, call: str) -> Response:
    """Show the entries of one call."""
    found = await house_of(request).crib.store.audit.entries(Wanted(id=call))
    if not found.entries:
        return problem(404, f"There is no call {call!r} in the record.", code="not_found")
    return answer(found.entries)


@operations.add("GET", "/record-check", Role.VIEWER, Verdict)
async def verify_record(request: Request) -> Response:
    """Read the whole record, and say whether an entry was changed, removed or moved."""
    return answer(await house_of(request).crib.store.audit.verify())


@operations.add("GET", "/record-head", Role.VIEWER, Head)
async def record_head(request: Request) -> Response:
    """Say where the record ends now. Noted down elsewhere, it shows later that nothing was cut off."""
    return answer(await house_of(request).crib.store.audit.head())


@operations.add("GET", "/record-export", Role.VIEWER, Entry, media=LINES)
async def export_record(request: Request, agent: Word = None, since: Moment = None, until: Moment = None) -> Response:
    """Give the whole record as JSON lines, the oldest entry first."""
    entries = house_of(request).crib.store.audit.export(Wanted(agent=agent, since=since, until=until))

    async def lines() -> AsyncIterator[bytes]:
        async for entry in entries:
            yield msgspec.json.encode(entry) + b"\n"

    return StreamingResponse(
        lines(), media_type=LINES, headers={"Content-Disposition": 'attachment; filename="record.jsonl"'}
    )


@operations.add("GET", "/events", Role.VIEWER, str, media=STREAM, scope="events")
async def watch_events(
    request: Request,
    kinds: Annotated[str | None, Query(max_length=100, pattern=f"^({'|'.join(KINDS)})(,({'|'.join(KINDS)}))*$")] = None,
    last_event_id: Annotated[str | None, Header(max_length=30, description="Go on after this event.")] = None,
) -> Response:
    """Stream what happens, as server-sent events. After a break it goes on where Last-Event-ID says."""
    house = house_of(request)
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() else None
    listener = house.events.listen(after, kinds.split(",") if kinds else None)
    return StreamingResponse(
        _stream(request, listener, house.events.last if after is None else after),
        media_type=STREAM,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(request: Request, listener: Listener, now: int) -> AsyncIterator[bytes]:
    house = house_of(request)
    try:
        yield f'retry: 2000\nid: {now}\nevent: hello\ndata: {{"gap":{"true" if listener.gap else "false"}}}\n\n'.encode()
        while not listener.over:
            event = await listener.next(ALIVE)
            if event is not None:
                data = msgspec.json.encode(event.data).decode()
                yield f"id: {event.id}\nevent: {event.kind}\ndata: {data}\n\n".encode()
            elif not listener.over:
                if await request.state.identify(request.scope) is None:
                    return  # signed out, or revoked, since the stream began
                yield b": alive\n\n"
        yield f'event: bye\ndata: {{"lost":{"true" if listener.lost else "false"}}}\n\n'.encode()
    finally:
        house.events.leave(listener)


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not cursor.isdecimal() or len(cursor) > 15:
        raise bad_cursor()
    return int(cursor)
