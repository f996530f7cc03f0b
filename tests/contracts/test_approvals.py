"""Requests for a person's answer: answered once, used once, bound to their call; and the rules that last."""

import asyncio
import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.contracts.conftest import Place
from toolcrib.core.errors import ToolFailed
from toolcrib.services.approvals.requests import Answer, ApprovalRequest, Choice, Lifetime, Reason, State

YES = Answer(choice=Choice.ACCEPT)
BASE = ApprovalRequest(
    id="r0",
    mark="m1",
    call="c1",
    agent="anna",
    session="s1",
    user="u1",
    tool="write_file",
    arguments='{"path":"a.md","content":"x"}',
    workspace="/w",
    binding={},
    reasons=(Reason("rules[0]", "it is watched", "abc"),),
    undoable=True,
    patterns={"path": "a.md", "content": "x"},
    code=False,
    asked=0.0,
    expires=0.0,
)


def made(name: str, **given: Any) -> ApprovalRequest:
    now = given.pop("asked", time.time())
    return replace(BASE, id=name, asked=now, expires=now + given.pop("seconds", 60), **given)


async def refused(code: str, doing: Any) -> None:
    with pytest.raises(ToolFailed) as caught:
        await doing
    assert caught.value.as_fault().code == code


async def test_a_request_waits_until_it_is_answered(store: Any) -> None:
    asked = await store.approvals.ask(made("r1"))
    assert await store.approvals.get("r1") == asked
    assert [one.id for one in await store.approvals.requests(state=State.PENDING)] == ["r1"]
    assert await store.approvals.settled(["r1"]) == ()
    assert await store.approvals.take("anna", "s1", "m1") is None
    done = await store.approvals.answer("r1", YES, by="carol")
    assert (done.state, done.choice, done.by) == (State.ANSWERED, "accept", "carol")
    assert await store.approvals.settled(["r1", "other"]) == (done,)
    assert await store.approvals.requests(state=State.PENDING) == ()


async def test_the_same_call_asks_once_and_another_call_asks_anew(store: Any) -> None:
    await store.approvals.ask(made("r1"))
    assert (await store.approvals.ask(made("r2"))).id == "r1"
    assert (await store.approvals.ask(made("r3", mark="m2"))).id == "r3"
    assert (await store.approvals.ask(made("r4", session="s2"))).id == "r4"
    assert (await store.approvals.ask(made("r5", agent="bert"))).id == "r5"


@pytest.mark.meets("approval:unknown:error")
async def test_an_answer_stands_and_an_unknown_request_is_an_error(store: Any) -> None:
    await store.approvals.ask(made("r1"))
    await store.approvals.answer("r1", Answer(choice=Choice.DENY), by="carol")
    await refused("approval_answered_already", store.approvals.answer("r1", YES, by="dave"))
    await refused("approval_not_found", store.approvals.answer("nosuch", YES, by="dave"))


async def test_of_many_answers_at_once_one_stands(store: Any) -> None:
    await store.approvals.ask(made("r1"))
    answers = [store.approvals.answer("r1", YES, by=by) for by in "abcdef"]
    told = await asyncio.gather(*answers, return_exceptions=True)
    assert sum(isinstance(one, ApprovalRequest) for one in told) == 1


@pytest.mark.meets("approval:bound:exact")
async def test_an_answer_is_taken_once_and_by_its_own_call_only(store: Any) -> None:
    await store.approvals.ask(made("r1"))
    await store.approvals.answer("r1", YES, by="carol")
    for agent, session, mark in (("anna", "s1", "m2"), ("anna", "s2", "m1"), ("bert", "s1", "m1")):
        assert await store.approvals.take(agent, session, mark) is None
    taken = await asyncio.gather(*(store.approvals.take("anna", "s1", "m1") for _ in range(5)))
    assert [one.id for one in taken if one] == ["r1"]
    assert await store.approvals.use("r1") is False


@pytest.mark.meets("approval:timeout:denies")
async def test_a_request_that_nobody_answered_in_time_cannot_be_answered(store: Any) -> None:
    await store.approvals.ask(made("r1", asked=time.time() - 100))
    assert [one.id for one in await store.approvals.requests(state=State.EXPIRED)] == ["r1"]
    await refused("approval_expired", store.approvals.answer("r1", YES, by="carol"))
    assert (await store.approvals.ask(made("r2"))).id == "r2"
    await store.approvals.expire("r2")
    assert (await store.approvals.get("r2")).state is State.EXPIRED


@pytest.mark.parametrize(
    ("answer", "given", "code"),
    [
        (Answer(choice=Choice.EDIT), {}, "bad_answer"),
        (Answer(choice=Choice.ACCEPT, arguments={}), {}, "bad_answer"),
        (Answer(choice=Choice.RESPOND), {}, "bad_answer"),
        (Answer(choice=Choice.DENY, lifetime=Lifetime.ALWAYS), {}, "bad_lifetime"),
        (Answer(choice=Choice.ACCEPT, lifetime=Lifetime.UNTIL), {}, "bad_lifetime"),
        (Answer(choice=Choice.ACCEPT, lifetime=Lifetime.UNTIL, until=5.0), {}, "bad_lifetime"),
        (Answer(choice=Choice.ACCEPT, until=4e9), {}, "bad_lifetime"),
        (Answer(choice=Choice.ACCEPT, lifetime=Lifetime.SESSION), {"session": ""}, "bad_lifetime"),
        (
            Answer(choice=Choice.ACCEPT, lifetime=Lifetime.ALWAYS),
            {"code": True, "patterns": None},
            "always_not_allowed",
        ),
        (Answer(choice=Choice.ACCEPT, lifetime=Lifetime.ALWAYS), {"patterns": None}, "always_not_allowed"),
        (Answer(choice=Choice.EDIT, arguments={"path": "[REDACTED:x:1] b"}), {}, "hidden_value"),
    ],
)
async def test_an_answer_that_does_not_fit_is_refused_and_the_request_waits_on(
    store: Any, answer: Answer, given: dict[str, Any], code: str
) -> None:
    await store.approvals.ask(made("r1", **given))
    await refused(code, store.approvals.answer("r1", answer, by="carol"))
    assert (await store.approvals.get("r1")).state is State.PENDING


@pytest.mark.meets("approval:always:pattern")
async def test_always_makes_a_rule_that_a_person_sees_changes_and_takes_away(store: Any) -> None:
    await store.approvals.ask(made("r1"))
    done = await store.approvals.answer("r1", Answer(choice=Choice.ACCEPT, lifetime=Lifetime.ALWAYS), by="carol")
    (rule,) = await store.approvals.rules(agent="anna", tool="write_file")
    assert (rule.id, rule.where, rule.by, rule.session) == (done.rule, {"path": "a.md", "content": "x"}, "carol", "")
    changed = await store.approvals.change_rule(rule.id, {"path": "notes/*"}, by="dave")
    assert (changed.where, changed.by) == ({"path": "notes/*"}, "dave")
    assert await store.approvals.rules(agent="bert") == ()
    assert (await store.approvals.delete_rule(rule.id)).id == rule.id
    assert await store.approvals.rules() == ()
    await refused("rule_not_found", store.approvals.delete_rule(rule.id))
    await refused("rule_not_found", store.approvals.change_rule(rule.id, {}, by="dave"))


async def test_what_runs_code_lasts_for_that_exact_call_only(store: Any) -> None:
    await store.approvals.ask(made("r1", code=True, patterns=None))
    answer = Answer(choice=Choice.ACCEPT, lifetime=Lifetime.SESSION)
    await store.approvals.answer("r1", answer, by="carol")
    (rule,) = await store.approvals.rules()
    assert (rule.exact, rule.where, rule.session) == ("m1", {}, "s1")
    await refused("rule_is_exact", store.approvals.change_rule(rule.id, {"path": "*"}, by="dave"))


@pytest.mark.meets("approval:durable:restart")
async def test_requests_answers_and_rules_survive_a_restart(place: Place) -> None:
    first, second = place.open(), place.open()
    await first.approvals.ask(made("r1"))
    await second.approvals.answer("r1", YES, by="carol")
    assert (await first.approvals.settled(["r1"]))[0].by == "carol"
    third = place.open()
    taken = await third.approvals.take("anna", "s1", "m1")
    assert taken is not None
    assert taken.choice == "accept"
    assert await first.approvals.take("anna", "s1", "m1") is None
