"""request_tool_access, and what comes of it."""

import time
from pathlib import Path

import pytest

from toolcrib.app import Crib
from toolcrib.core.call import Outcome
from toolcrib.services.access import Decision, Lifetime

REASON = "To clear up old toolboxes."


@pytest.fixture
def crib(workspace: Path) -> Crib:
    return Crib(native=True, agents={"ann": {"tools": ["request_tool_access"]}}, workspace=str(workspace))


async def ask(crib: Crib, *names: str, session: str = "s") -> Outcome:
    return await crib.call(
        "request_tool_access", {"tool_names": list(names), "reason": REASON}, agent="ann", session=session, user="kim"
    )


async def held(crib: Crib, session: str = "s") -> bool:
    turn = await crib.turn("ann", session=session)
    return "delete_toolbox" in turn.view


@pytest.mark.meets("access:request:asks-a-person")
async def test_the_person_sees_who_asks_for_what_and_why(crib: Crib):
    outcome = await ask(crib, "delete_toolbox")
    (asked,) = await crib.store.access.requests(state=Decision.PENDING)
    assert (asked.agent, asked.session, asked.user) == ("ann", "s", "kim")
    assert (asked.tools, asked.reason) == (("delete_toolbox",), REASON)
    assert asked.id in outcome.text
    assert not await held(crib)


async def test_a_person_is_not_asked_twice_for_the_same(crib: Crib):
    await ask(crib, "delete_toolbox", "create_toolbox")
    again = await ask(crib, "create_toolbox")
    (asked,) = await crib.store.access.requests()
    assert asked.id in again.text
    await ask(crib, "create_toolbox", session="t")
    await ask(crib, "create_toolbox", "update_toolbox")
    assert len(await crib.store.access.requests()) == 3


@pytest.mark.meets("access:decide:subset", "resolve:grants:temporary")
async def test_what_was_granted_is_held_from_the_next_request_on(crib: Crib):
    await ask(crib, "delete_toolbox", "create_toolbox")
    (asked,) = await crib.store.access.requests()
    running = await crib.turn("ann", session="s")
    await crib.store.access.decide(asked.id, by="kim", approve=["delete_toolbox"], lifetime=Lifetime.SESSION)
    assert "delete_toolbox" not in running.view
    assert await held(crib)
    assert not await held(crib, session="t")
    assert "create_toolbox" not in (await crib.turn("ann", session="s")).view
    answer = await ask(crib, "delete_toolbox")
    assert answer.text == "You hold delete_toolbox already."


@pytest.mark.meets("access:decide:lifetimes", "resolve:grants:temporary")
async def test_a_grant_for_a_time_ends(crib: Crib):
    await ask(crib, "delete_toolbox")
    (asked,) = await crib.store.access.requests()
    later = time.time() + 3600
    await crib.store.access.decide(asked.id, by="kim", approve=["delete_toolbox"], lifetime=Lifetime.UNTIL, until=later)
    assert await held(crib)
    assert await held(crib, session="t")
    assert await crib.store.access.grants_for("ann", "s", later) == ()


@pytest.mark.meets("access:decide:lifetimes")
async def test_a_grant_for_once_is_used_up_by_one_call(crib: Crib):
    await ask(crib, "delete_toolbox")
    (asked,) = await crib.store.access.requests()
    await crib.store.access.decide(asked.id, by="kim", approve=["delete_toolbox"], lifetime=Lifetime.ONCE)
    turn = await crib.turn("ann", session="s")
    first = await turn.call("delete_toolbox", {"toolbox": "nothing", "confirm": True})
    second = await turn.call("delete_toolbox", {"toolbox": "nothing", "confirm": True})
    codes = [outcome.error.code if outcome.error else "" for outcome in (first, second)]
    assert codes == ["TOOLBOX_NOT_FOUND", "not_issued"]
