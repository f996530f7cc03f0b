"""Calls as an agent: run, waited for, asked about, stopped, undone."""

from typing import Annotated, Any

import msgspec
from fastapi import Query, Request, Response
from msgspec import Struct
from pydantic import Field

from toolcrib.app.calls import Standing
from toolcrib.core.call import Outcome
from toolcrib.core.errors import Denied, ToolFailed
from toolcrib.faces.http.asked import Form, Key, Number, house_of, me
from toolcrib.faces.http.routing import BASE, Operations, answer
from toolcrib.services.people.principal import Role
from toolcrib.services.undo.notes import Undone

operations = Operations("calls", "calls")
LONGEST_WAIT = 60.0
ARGUMENTS = 1 << 20


class NewCall(Form):
    """One call. `wait` is how many seconds to wait for its end; a call that waits for a person is not waited for."""

    agent: Annotated[str, Field(min_length=1, max_length=200)]
    tool: Annotated[str, Field(min_length=1, max_length=200)]
    arguments: Annotated[dict[str, Any], Field(default_factory=dict)]
    session: Annotated[str, Field(max_length=200)] = ""
    wait: Annotated[Number, Field(ge=0, le=LONGEST_WAIT)] = 30.0


class Called(Struct, kw_only=True, omit_defaults=True):
    """A call that has ended. Where it did not do what was asked, `error` says why."""

    id: str
    tool: str
    status: str
    text: str = ""
    person: str = ""
    structured: Any = None
    error: dict[str, Any] = {}
    attachments: list[dict[str, Any]] = []
    spilled: str = ""
    replayed: bool = False


class Pending(Struct, kw_only=True):
    """A call that has not ended. `approval` is the request that it waits for; "" while it runs."""

    id: str
    agent: str
    tool: str
    status: str
    approval: str


@operations.add(
    "POST", "/calls", Role.OPERATOR, Called, also={202: Pending}, headers={"Location": "Where the call is asked about."}
)
async def call_tool(request: Request, body: NewCall, key: Key = None) -> Response:
    """Call a tool as an agent. 200: it ended, whatever came of it. 202: it runs on, or waits for a person."""
    house, who = house_of(request), me(request)
    if not who.may_act_as(body.agent):
        raise Denied(f"This key may not call as {body.agent}.", hint="Make a key for that agent.")
    if len(msgspec.json.encode(body.arguments)) > ARGUMENTS:
        raise ToolFailed("The arguments are longer than a megabyte.", code="too_long")
    standing = await house.calls.begin(
        body.agent,
        body.tool,
        body.arguments,
        key=f"{who.id}:{key}" if key else "",
        session=body.session,
        user=who.name,
    )
    await standing.settled(body.wait)
    return _told(standing)


@operations.add("GET", "/calls/{call}", Role.OPERATOR, Called, also={202: Pending})
async def get_call(request: Request, call: str, wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT)] = 0.0) -> Response:
    """Ask what became of a call; with `wait`, wait for it, also where it waits for a person."""
    standing = _mine(request, call)
    await standing.settled(wait, through=True)
    return _told(standing)


@operations.add("DELETE", "/calls/{call}", Role.OPERATOR, Called, also={202: Pending})
async def stop_call(request: Request, call: str) -> Response:
    """Stop a call that runs, or waits for a person."""
    _mine(request, call)
    return _told(await house_of(request).calls.stop(call))


@operations.add("POST", "/calls/{call}/undo", Role.OPERATOR, Undone)
async def undo_call(
    request: Request, call: str, *, force: Annotated[bool, Query(description="Also what was changed since.")] = False
) -> Response:
    """Put back what a call changed."""
    return answer(await house_of(request).crib.undo(call, by=me(request).name, force=force))


@operations.add("GET", "/calls/{call}/undo", Role.VIEWER, dict[str, str], scope="record")
async def undoable_call(request: Request, call: str) -> Response:
    """Say whether a call can be undone."""
    return answer({"call": call, "says": await house_of(request).crib.undoable(call)})


def _mine(request: Request, call: str) -> Standing:
    standing = house_of(request).calls.get(call)
    if not me(request).may_act_as(standing.agent):
        raise Denied(f"This key may not ask about calls of {standing.agent}.")
    return standing


def _told(standing: Standing) -> Response:
    if standing.outcome is not None:
        return answer(called(standing.outcome))
    if standing.ended:
        stopped = Called(id=standing.id, tool=standing.tool, status="cancelled")
        stopped.error = {"code": "cancelled", "message": "It was stopped before it ended."}
        return answer(stopped)
    status = "waits" if standing.approval else "runs"
    told = Pending(id=standing.id, agent=standing.agent, tool=standing.tool, status=status, approval=standing.approval)
    return answer(told, 202, {"Location": f"{BASE}/calls/{standing.id}"})


def called(outcome: Outcome) -> Called:
    """An outcome as programs get it."""
    return Called(**{"text": "", **outcome.as_json()})  # type: ignore[arg-type]
