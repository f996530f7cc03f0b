"""The record: every call, live; one in full; undone, exported, verified."""

import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from toolcrib.core.errors import ToolFailed
from toolcrib.faces.web.forms import form
from toolcrib.faces.web.frame import GUARDED, answering, done, house, principal, render
from toolcrib.faces.web.links import call_link
from toolcrib.faces.web.places import Page
from toolcrib.services.people.principal import Role, allows
from toolcrib.services.record.audit import Audit, Entry, Query

PAGE = Page(title="Record", icon="scroll-text", path="/record", group="Control", order=2, scope="record")
SHOWN = 50
FRESH = 3.0
SPANS = (("", "any time"), ("3600", "last hour"), ("86400", "last day"), ("604800", "last week"))
OUTCOMES = ("done", "refused", "failed", "cancelled")


def _asked(request: Request) -> dict[str, str]:
    names = ("agent", "tool", "status", "code", "session", "user", "span", "cursor")
    return {name: value for name in names if (value := request.query_params.get(name, "").strip())}


def _query(asked: dict[str, str], limit: int = SHOWN) -> Query:
    cursor, span = asked.get("cursor", ""), asked.get("span", "")
    if (cursor and not cursor.isdigit()) or (span and not span.isdigit()):
        raise ToolFailed("That is no place in the record.", code="bad_cursor")
    return Query(
        agent=asked.get("agent"),
        tool=asked.get("tool"),
        status=asked.get("status"),
        code=asked.get("code"),
        session=asked.get("session"),
        user=asked.get("user"),
        since=time.time() - int(span) if span else None,
        limit=limit,
        cursor=int(cursor) if cursor else None,
    )


@allows(Role.VIEWER, "record")
@answering
async def index(request: Request) -> Response:
    """The calls that fit, newest first."""
    crib, asked = house(request).crib, _asked(request)
    page = await crib.store.audit.entries(_query(asked))
    filters = {name: value for name, value in asked.items() if name != "cursor"}
    return await render(
        request,
        "record/list.html",
        part="record/rows.html",
        title="Record",
        asked=asked,
        filters=urlencode(filters),
        filtered=bool(filters),
        older=urlencode({**filters, "cursor": page.cursor}) if page.cursor else "",
        entries=page.entries,
        agents=sorted(crib.resolver.grants.agents),
        tools=[tool.name for tool in crib.resolver.registry.tools],
        spans=SPANS,
        outcomes=OUTCOMES,
        fresh=time.time() - FRESH,
        trouble=crib.store.audit.trouble,
    )


async def _lines(audit: Audit, query: Query) -> AsyncIterator[bytes]:
    async for entry in audit.export(query):
        yield msgspec.json.encode(entry) + b"\n"


@allows(Role.VIEWER, "record")
@answering
async def export(request: Request) -> Response:
    """The calls that fit as JSON lines, oldest first."""
    query = _query(_asked(request))
    name = time.strftime("toolcrib-record-%Y%m%d-%H%M%S.jsonl")
    headers = {**GUARDED, "Content-Disposition": f'attachment; filename="{name}"'}
    lines = _lines(house(request).crib.store.audit, query)
    return StreamingResponse(lines, headers=headers, media_type="application/jsonl")


@allows(Role.VIEWER, "record")
@answering
async def verify(request: Request) -> Response:
    """Read the whole chain, and say whether it is whole."""
    audit = house(request).crib.store.audit
    return await render(
        request,
        "record/verify.html",
        part="record/verdict.html",
        title="Verify the record",
        verdict=await audit.verify(),
        end=await audit.head(),
    )


async def _entry(audit: Audit, call: str) -> Entry:
    found = (await audit.entries(Query(id=call))).entries
    if not found:
        raise ToolFailed(f"There is no call {call!r} in the record.", code="not_found")
    return found[0]


@allows(Role.VIEWER, "record")
@answering
async def one(request: Request) -> Response:
    """One call in full."""
    crib, call = house(request).crib, request.path_params["call"]
    entry = await _entry(crib.store.audit, call)
    changes = await crib.store.undo.of(call)
    undone = next((change.undone for change in changes if change.undone), "")
    approval = next((one for one in await crib.approvals.list(state=None, limit=500) if one.call == call), None)
    near = await crib.store.audit.entries(replace(Query(limit=6), session=entry.session)) if entry.session else None
    return await render(
        request,
        "record/one.html",
        title=entry.tool,
        entry=entry,
        verdicts=[_verdict(text) for text in entry.verdicts],
        context=_context(entry),
        changes=changes,
        undone=undone,
        can_undo=bool(changes) and not undone,
        undo=await crib.undoable(call),
        approval=approval,
        near=[other for other in near.entries if other.id != call] if near else [],
    )


def _verdict(text: str) -> dict[str, str]:
    """A verdict of the record: its action, its rule and why."""
    action, _, rest = text.partition(" ")
    rule, _, why = rest.partition(": ")
    return {"action": action, "rule": rule, "why": why}


def _context(entry: Entry) -> dict[str, Any]:
    return msgspec.json.decode(entry.context) if entry.context else {}


@allows(Role.OPERATOR, "record")
@answering
async def undo(request: Request) -> Response:
    """Put back what a call changed."""
    filled = await form(request)
    made = await house(request).crib.undo(
        request.path_params["call"], by=principal(request).name, force=filled.ticked("force")
    )
    return done(request, call_link(request.path_params["call"]), f"Undone: {' '.join(made.did)}")


ROUTES = [
    Route("/record", index, methods=["GET"]),
    Route("/record/export.jsonl", export, methods=["GET"]),
    Route("/record/verify", verify, methods=["GET"]),
    Route("/record/{call}", one, methods=["GET"]),
    Route("/record/{call}/undo", undo, methods=["POST"]),
]
