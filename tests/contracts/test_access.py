"""Requests for tools, answered once; grants that hold as long as they should."""

import asyncio
import time
from typing import Any

import pytest

from tests.contracts.conftest import Place
from toolcrib.core.errors import ToolFailed
from toolcrib.services.access import AccessRequest, Decision, Lifetime


async def asked(store: Any, *tools: str, session: str = "s1", agent: str = "anna") -> AccessRequest:
    return await store.access.request(agent=agent, session=session, user="u1", tools=tools, reason="I need it")


async def held(store: Any, agent: str = "anna", session: str = "s1", now: float | None = None) -> set[str]:
    grants = await store.access.grants_for(agent, session, time.time() if now is None else now)
    return {grant.tool for grant in grants}


async def refused(code: str, doing: Any) -> None:
    with pytest.raises(ToolFailed) as caught:
        await doing
    assert caught.value.as_fault().code == code


@pytest.mark.meets("access:request:asks-a-person")
async def test_a_request_waits_and_grants_nothing(store: Any) -> None:
    made = await asked(store, "run_shell", "grep")
    assert (made.state, made.tools, made.reason, made.user) == (
        Decision.PENDING,
        ("run_shell", "grep"),
        "I need it",
        "u1",
    )
    assert await store.access.get(made.id) == made
    assert await held(store) == set()


@pytest.mark.meets("access:decide:subset", "access:decide:who")
async def test_a_part_of_what_was_asked_for_may_be_granted_and_who_did_it_is_kept(store: Any) -> None:
    made = await asked(store, "run_shell", "grep", "glob")
    done = await store.access.decide(made.id, by="carol", approve=["glob", "grep"], lifetime=Lifetime.GOOD)
    assert (done.state, done.granted, done.decided_by) == (Decision.APPROVED, ("grep", "glob"), "carol")
    assert await store.access.get(made.id) == done
    assert await held(store) == {"grep", "glob"}
    assert {grant.granted_by for grant in await store.access.grants(agent="anna")} == {"carol"}


async def test_approving_nothing_denies(store: Any) -> None:
    made = await asked(store, "run_shell")
    done = await store.access.decide(made.id, by="carol", approve=[], lifetime=Lifetime.ONCE)
    assert (done.state, await held(store)) == (Decision.DENIED, set())


@pytest.mark.meets("access:decide:once-only")
async def test_a_decided_request_cannot_be_decided_again(store: Any) -> None:
    made = await asked(store, "grep")
    await store.access.decide(made.id, by="carol", approve=[], lifetime=Lifetime.ONCE)
    await refused("already_decided", store.access.decide(made.id, by="x", approve=["grep"], lifetime=Lifetime.GOOD))
    assert await held(store) == set()


@pytest.mark.meets("access:decide:once-only")
async def test_of_decisions_at_the_same_moment_one_counts(store: Any) -> None:
    made = await asked(store, "grep", "glob")
    answers = [store.access.decide(made.id, by=by, approve=["grep"], lifetime=Lifetime.GOOD) for by in "abcdef"]
    tried = await asyncio.gather(*answers, return_exceptions=True)
    assert sum(isinstance(one, AccessRequest) for one in tried) == 1
    assert len(await store.access.grants(agent="anna")) == 1


@pytest.mark.meets("access:decide:lifetimes")
async def test_a_grant_holds_for_once_for_a_session_for_a_time_or_for_good(store: Any) -> None:
    later = time.time() + 3600
    for tool, lifetime, until in (
        ("one", Lifetime.ONCE, None),
        ("two", Lifetime.SESSION, None),
        ("three", Lifetime.UNTIL, later),
        ("four", Lifetime.GOOD, None),
    ):
        made = await asked(store, tool)
        await store.access.decide(made.id, by="carol", approve=[tool], lifetime=lifetime, until=until)
    assert await held(store) == {"one", "two", "three", "four"}
    assert await held(store, session="s2") == {"three", "four"}
    assert await held(store, now=later) == {"one", "two", "four"}
    assert await held(store, agent="bert") == set()


async def test_a_once_grant_is_used_up_by_one_call(store: Any) -> None:
    made = await asked(store, "grep")
    await store.access.decide(made.id, by="carol", approve=["grep"], lifetime=Lifetime.ONCE)
    assert not await store.access.consume("anna", "s2", "grep")
    assert not await store.access.consume("anna", "s1", "glob")
    used = await asyncio.gather(*(store.access.consume("anna", "s1", "grep") for _ in range(8)))
    assert used.count(True) == 1
    assert await held(store) == set()


async def test_other_grants_are_not_used_up(store: Any) -> None:
    made = await asked(store, "grep")
    await store.access.decide(made.id, by="carol", approve=["grep"], lifetime=Lifetime.SESSION)
    assert not await store.access.consume("anna", "s1", "grep")
    assert await held(store) == {"grep"}


async def test_a_revoked_grant_holds_no_more_and_says_who_revoked_it(store: Any) -> None:
    made = await asked(store, "grep")
    await store.access.decide(made.id, by="carol", approve=["grep"], lifetime=Lifetime.GOOD)
    (grant,) = await store.access.grants()
    ended = await store.access.revoke(grant.id, by="dora")
    assert (ended.ended_by, await held(store)) == ("dora", set())
    assert await store.access.revoke(grant.id, by="emil") == ended
    await refused("grant_not_found", store.access.revoke("none", by="emil"))


@pytest.mark.parametrize(
    ("approve", "lifetime", "until", "code"),
    [
        (["glob"], Lifetime.GOOD, None, "not_requested"),
        (["grep"], Lifetime.UNTIL, None, "bad_lifetime"),
        (["grep"], Lifetime.UNTIL, 1.0, "bad_lifetime"),
        (["grep"], Lifetime.GOOD, 9e12, "bad_lifetime"),
        (["grep"], Lifetime.SESSION, None, "bad_lifetime"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_and_the_request_still_waits(
    store: Any, approve: list[str], lifetime: Lifetime, until: float | None, code: str
) -> None:
    made = await asked(store, "grep", session="")
    await refused(code, store.access.decide(made.id, by="x", approve=approve, lifetime=lifetime, until=until))
    assert (await store.access.get(made.id)).state is Decision.PENDING


async def test_a_request_that_is_not_there_is_said_so(store: Any) -> None:
    assert await store.access.get("none") is None
    await refused("request_not_found", store.access.decide("none", by="x", approve=[], lifetime=Lifetime.ONCE))


async def test_requests_are_listed_newest_first_by_agent_and_state(store: Any) -> None:
    first = await asked(store, "grep")
    second = await asked(store, "glob", agent="bert")
    third = await asked(store, "think")
    await store.access.decide(first.id, by="x", approve=[], lifetime=Lifetime.ONCE)
    assert [one.id for one in await store.access.requests()] == [third.id, second.id, first.id]
    assert [one.id for one in await store.access.requests(agent="anna")] == [third.id, first.id]
    assert [one.id for one in await store.access.requests(state=Decision.PENDING)] == [third.id, second.id]


async def test_a_grant_outlives_the_process(place: Place) -> None:
    first = place.open()
    made = await asked(first, "grep")
    await first.access.decide(made.id, by="carol", approve=["grep"], lifetime=Lifetime.SESSION)
    await first.close()
    assert await held(place.open()) == {"grep"}
