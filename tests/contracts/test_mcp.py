"""What is kept of MCP servers, on every store."""

import asyncio
import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.contracts.conftest import Place
from toolcrib.core.errors import ToolFailed
from toolcrib.services.mcp.servers import (
    Entry,
    McpGrant,
    McpRequest,
    Pin,
    Pinned,
    Reviewed,
    Scope,
    Server,
)

GITHUB = Entry(server=Server(name="GitHub", command="gh-mcp", env={"TOKEN": "{{secret:GH}}"}), origin="person")
PIN = Pin(server="GitHub", tool="search", name="mcp_GitHub_search", definition={"name": "search", "inputSchema": {}})
ASKED = McpRequest(id="r1", server="GitHub", scope=Scope.AGENT, holder="helper", tool_allow=("search",), asked=1.0)


async def refused(code: str, doing: Any) -> None:
    with pytest.raises(ToolFailed) as caught:
        await doing
    assert caught.value.as_fault().code == code


async def test_a_server_is_kept_as_it_was_given(store: Any):
    made = await store.mcp.put(GITHUB, revision=0)
    assert (made.revision, made.server) == (1, GITHUB.server)
    assert await store.mcp.entries() == (made,)
    await refused("name_taken", store.mcp.put(replace(GITHUB, server=Server(name="github")), revision=0))


async def test_a_change_needs_the_revision_that_was_seen(store: Any):
    made = await store.mcp.put(GITHUB, revision=0)
    newer = await store.mcp.put(replace(made, disabled=True), revision=1)
    assert (newer.revision, newer.disabled) == (2, True)
    await refused("revision_conflict", store.mcp.put(made, revision=1))
    await refused("not_found", store.mcp.put(replace(GITHUB, server=Server(name="other")), revision=1))


async def test_removing_a_server_forgets_all_about_it(store: Any):
    await store.mcp.put(GITHUB, revision=0)
    await store.mcp.repin("github", lambda _: [PIN])
    await store.mcp.grant(McpGrant(server="GitHub", scope=Scope.AGENT, holder="helper"))
    await store.mcp.request(ASKED)
    await store.mcp.remove("GITHUB")
    assert await store.mcp.entries() == await store.mcp.pins() == await store.mcp.grants() == ()
    assert await store.mcp.requests() == ()
    await refused("not_found", store.mcp.remove("github"))


async def test_pins_are_changed_as_a_whole(store: Any):
    other = replace(PIN, tool="delete", name="mcp_GitHub_delete", state=Pinned.PENDING)
    assert await store.mcp.repin("GitHub", lambda _: [PIN, other]) == (other, PIN)
    seen: list[tuple[Pin, ...]] = []
    await store.mcp.repin("github", seen.append)
    assert seen == [(other, PIN)]
    await store.mcp.repin("GitHub", lambda before: before[1:])
    assert await store.mcp.pins("github") == await store.mcp.pins() == (PIN,)


async def test_each_change_grows_the_version_and_a_look_does_not(store: Any):
    before = await store.drawers.version()
    await store.mcp.put(GITHUB, revision=0)
    await store.mcp.repin("GitHub", lambda _: [PIN])
    await store.mcp.grant(McpGrant(server="GitHub", scope=Scope.USER, holder="ann"))
    after = await store.drawers.version()
    assert after == before + 3
    await store.mcp.repin("GitHub", lambda _: None)
    await store.mcp.entries()
    assert await store.drawers.version() == after


async def test_a_grant_takes_the_place_of_the_last_one(store: Any):
    first = McpGrant(server="GitHub", scope=Scope.AGENT, holder="helper", tool_allow=("a",))
    second = replace(first, tool_allow=None, tool_deny=("b",), config_overrides={"env": {"X": "1"}})
    await store.mcp.grant(first)
    await store.mcp.grant(second)
    assert await store.mcp.grants() == (second,)
    assert await store.mcp.revoke("github", Scope.AGENT, "helper") == second
    await refused("not_found", store.mcp.revoke("github", Scope.AGENT, "helper"))


@pytest.mark.meets("mcp:access:transaction")
async def test_an_approved_request_makes_the_grant_that_was_asked_for(store: Any):
    await store.mcp.request(ASKED)
    done = await store.mcp.decide("r1", approve=True, by="carol", now=5.0)
    assert (done.state, done.decided_by) == (Reviewed.APPROVED, "carol")
    (grant,) = await store.mcp.grants()
    assert (grant.holder, grant.tool_allow, grant.granted_by) == ("helper", ("search",), "carol")
    await refused("already_decided", store.mcp.decide("r1", approve=False, by="dan", now=6.0))
    await refused("not_found", store.mcp.decide("r2", approve=True, by="dan", now=6.0))


async def test_a_rejected_request_grants_nothing(store: Any):
    await store.mcp.request(ASKED)
    await store.mcp.decide("r1", approve=False, by="carol", now=time.time())
    assert await store.mcp.grants() == ()
    assert [one.state for one in await store.mcp.requests()] == [Reviewed.REJECTED]
    assert await store.mcp.requests(Reviewed.PENDING) == ()


@pytest.mark.meets("mcp:access:transaction")
async def test_of_many_answers_at_the_same_moment_one_counts(store: Any):
    await store.mcp.request(ASKED)
    answers = [store.mcp.decide("r1", approve=i % 2 == 0, by=f"p{i}", now=1.0) for i in range(8)]
    done = await asyncio.gather(*answers, return_exceptions=True)
    good = [one for one in done if isinstance(one, McpRequest)]
    assert len(good) == 1
    assert len(await store.mcp.grants()) == (good[0].state is Reviewed.APPROVED)


async def test_it_is_there_after_opening_again(place: Place):
    if place.kind == "inprocess":
        pytest.skip("memory ends with the process")
    first = place.open()
    await first.mcp.put(GITHUB, revision=0)
    await first.mcp.repin("GitHub", lambda _: [PIN])
    await first.close()
    again = place.open()
    assert [one.name for one in await again.mcp.entries()] == ["GitHub"]
    assert await again.mcp.pins("GitHub") == (PIN,)
