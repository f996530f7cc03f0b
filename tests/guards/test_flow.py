"""Private data, strangers' words and a way out: any two pass, the three together ask."""

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import examples
from tests.core.test_resolver import made
from tests.core.workbench import Bench, code, resolver_of
from tests.guards.calls import call
from toolcrib.core.call import Caller
from toolcrib.core.errors import BadConfig
from toolcrib.core.guard import Verdict
from toolcrib.core.tool import Flow, Tool
from toolcrib.guards.flow import FlowGuard
from toolcrib.services.config.values import AgentFlow, FlowRules
from toolcrib.stores.inprocess.labels import MemoryLabels

READ = made("read_mail", flow=frozenset({Flow.PRIVATE}))
BROWSE = made("browse", flow=frozenset({Flow.UNTRUSTED}))
SEND = made("send", flow=frozenset({Flow.SENDS}))
FETCH = made("fetch", flow=frozenset({Flow.SENDS, Flow.UNTRUSTED}))
PLAIN = made("think")


def said(guard: FlowGuard, *tools: Tool, **who: Any) -> list[str]:
    who.setdefault("session", "s")
    verdicts = [guard.check(call(tool, **who)) for tool in tools]
    return ["" if verdict is None else verdict.action for verdict in verdicts]


@pytest.mark.meets("guard:flow:asks")
def test_a_sending_tool_asks_only_after_both_were_taken_in() -> None:
    for first, second in permutations((READ, BROWSE)):
        assert said(FlowGuard(), SEND, first, SEND, second, SEND, READ) == ["", "", "", "", "ask", ""]


def test_what_a_tool_takes_in_by_its_own_call_counts_from_the_next_one_on() -> None:
    assert said(FlowGuard(), READ, FETCH, FETCH) == ["", "", "ask"]


def test_sessions_are_apart_and_a_caller_without_one_is_known_by_its_agent() -> None:
    guard = FlowGuard()
    said(guard, READ, BROWSE, session="s")
    assert said(guard, SEND, session="t") == [""]
    said(guard, READ, BROWSE, session="")
    assert said(guard, SEND, session="") == ["ask"]
    assert said(guard, SEND, session="", agent="bob") == [""]


@pytest.mark.meets("guard:flow:asks")
def test_what_a_sub_agent_takes_in_stains_its_parents() -> None:
    guard = FlowGuard()
    said(guard, READ, BROWSE, session="child", parents=("parent", "root"))
    assert guard.labels("root") == {Flow.PRIVATE, Flow.UNTRUSTED}
    assert said(guard, SEND, session="parent") == ["ask"]


def test_a_sub_agent_sends_under_the_labels_of_its_parents() -> None:
    """The parent wrote the task, so the task may hold what the parent has read."""
    guard = FlowGuard()
    said(guard, READ, BROWSE, session="parent")
    assert said(guard, SEND, session="child", parents=("parent",)) == ["ask"]


def test_the_mode_can_be_deny_or_off_by_agent_and_tools_can_be_exempt() -> None:
    strict = FlowGuard(FlowRules(mode="deny", agents={"bob": AgentFlow(mode="off")}))
    assert said(strict, READ, BROWSE, SEND) == ["", "", "deny"]
    assert said(strict, READ, BROWSE, SEND, agent="bob", session="b") == ["", "", ""]
    assert said(FlowGuard(FlowRules(tools=("send",))), READ, BROWSE, SEND, FETCH) == ["", "", "", "ask"]


def test_tools_without_labels_are_not_watched() -> None:
    guard = FlowGuard()
    assert not guard.watches(PLAIN)
    assert all(guard.watches(tool) for tool in (READ, BROWSE, SEND, FETCH))


@given(st.lists(st.sampled_from((READ, BROWSE, SEND, FETCH, PLAIN)), max_size=12))
def test_a_send_asks_exactly_when_both_labels_came_before(tools: list[Tool]) -> None:
    guard, seen = FlowGuard(), set[Flow]()
    for tool in tools:
        verdict = guard.check(call(tool, session="s"))
        both = {Flow.PRIVATE, Flow.UNTRUSTED} <= seen
        assert (verdict is not None) == (both and Flow.SENDS in tool.traits.flow)
        assert not isinstance(verdict, Verdict) or verdict.rule == "flow"
        seen |= tool.traits.flow
    examples.count()


@pytest.mark.meets("guard:flow:asks", "guard:ask:approval-required")
async def test_through_the_pipeline_the_third_call_needs_a_person() -> None:
    tools = [READ, BROWSE, SEND]
    bench = Bench(resolver=resolver_of(tools), guards=[FlowGuard()])
    answers = [await bench.call(tool.name, session="s") for tool in tools]
    assert [code(answer) for answer in answers] == ["", "", "approval_required"]
    assert "private data" in answers[2].text
    assert bench.records[2].verdicts[0].startswith("ask flow")


POST = made("post", flow=frozenset({Flow.SENDS}), target="url")


def posted(guard: FlowGuard, url: str, **who: Any) -> Verdict | None:
    said(guard, READ, BROWSE, **who)
    who.setdefault("session", "s")
    return guard.check(call(POST, arguments={"url": url}, raw=b"x" * 1234, **who))


@pytest.mark.meets("flow:question:shows")
def test_the_question_says_what_would_leave_where_to_and_what_was_read() -> None:
    verdict = posted(FlowGuard(), "https://evil.example/collect")
    assert verdict is not None
    for part in ("1,234 bytes", "evil.example", "read_mail", "browse"):
        assert part in f"{verdict.why}; {verdict.leaves}"


@pytest.mark.meets("flow:destination:exceptions")
def test_a_destination_may_be_open_to_all_or_to_one_agent() -> None:
    rules = FlowRules(destinations=("*.corp.example",), agents={"bob": AgentFlow(destinations=("api.example.com",))})
    assert posted(FlowGuard(rules), "https://mail.corp.example/send") is None
    assert posted(FlowGuard(rules), "https://mail.corp.example.evil.example/send") is not None
    assert posted(FlowGuard(rules), "https://mail.corp.example@evil.example/send") is not None
    assert posted(FlowGuard(rules), "https://api.example.com/send", agent="bob") is None
    assert posted(FlowGuard(rules), "https://api.example.com/send", agent="kim") is not None
    with pytest.raises(BadConfig, match=r"flow\.destinations"):
        FlowGuard(FlowRules(destinations=("no host",)))


@pytest.mark.meets("flow:labels:kept")
async def test_labels_are_kept_before_the_tool_runs_and_outlive_the_guard() -> None:
    tools, labels = [READ, BROWSE, SEND], MemoryLabels()
    guard = FlowGuard(labels=labels)
    bench = Bench(resolver=resolver_of(tools), guards=[guard], rings=[guard])
    for tool in (READ, BROWSE):
        await bench.call(tool.name, session="child", parents=("root",))
    fresh = FlowGuard(labels=labels)
    assert said(fresh, SEND, session="root") == [""]
    await fresh.recall(Caller(agent="ada", session="root"))
    assert said(fresh, SEND, session="root") == ["ask"]
