"""No more calls in the last hour than the limit: exactly, with a clock that the test holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import examples
from tests.core.test_resolver import made
from tests.core.workbench import Bench, code
from tests.guards.calls import TOOL, call
from toolcrib.core.errors import RateLimited, ToolFailed
from toolcrib.core.guard import Call
from toolcrib.guards.rate import KEYS_KEPT, WINDOW, Rate
from toolcrib.services.config.values import Limits


def passes(rate: Rate, asked: Call) -> bool:
    try:
        rate.check(asked)
    except RateLimited:
        return False
    return True


@pytest.mark.meets("rate:session:refused")
def test_over_the_limit_a_call_is_refused_with_the_time_to_wait() -> None:
    rate = Rate(Limits(rate=2))
    assert passes(rate, call(now=0, session="s"))
    assert passes(rate, call(now=10, session="s"))
    with pytest.raises(RateLimited) as refused:
        rate.check(call(now=20.5, session="s"))
    assert refused.value.data["retry_after"] == 3580
    assert refused.value.retryable
    assert "2 calls in an hour" in refused.value.message
    assert "3580 seconds" in refused.value.hint


@pytest.mark.meets("rate:session:refused")
def test_the_window_is_the_last_hour_to_the_second() -> None:
    rate = Rate(Limits(rate=2))
    assert [passes(rate, call(now=now, session="s")) for now in (0, 1800, 3599.9, 3600, 3601, 5399, 5400)] == [
        True, True, False, True, False, False, True,
    ]  # fmt: skip


def test_sessions_do_not_count_for_each_other() -> None:
    rate = Rate(Limits(rate=1))
    assert passes(rate, call(session="s"))
    assert passes(rate, call(session="t"))
    assert not passes(rate, call(session="s"))


@pytest.mark.meets("rate:session:parents")
def test_a_sub_agents_call_counts_on_its_own_and_on_every_parents_session() -> None:
    rate = Rate(Limits(rate=2))
    assert passes(rate, call(session="child", parents=("parent", "root")))
    assert passes(rate, call(session="root"))
    assert not passes(rate, call(session="root"))
    assert not passes(rate, call(session="other", parents=("root",)))
    assert passes(rate, call(session="parent"))


@pytest.mark.meets("rate:session:none")
def test_a_caller_without_a_session_is_limited_by_agent() -> None:
    rate = Rate(Limits(rate=1))
    assert passes(rate, call())
    assert not passes(rate, call())
    assert passes(rate, call(agent="bob"))


@pytest.mark.meets("rate:tool:own-limit")
def test_a_tool_may_have_its_own_limit_across_sessions_and_zero_is_none() -> None:
    rate = Rate(Limits(tools={"look": 1, "free": 0}))
    assert passes(rate, call(session="s"))
    assert not passes(rate, call(session="t"))
    assert all(passes(rate, call(made("free"))) for _ in range(50))
    assert rate.watches(TOOL)
    assert not rate.watches(made("free"))
    assert not Rate(Limits(rate=0)).watches(TOOL)


def test_an_agents_own_limit_goes_before_the_general_one() -> None:
    rate = Rate(Limits(rate=1), sessions={"bob": 2, "kim": 0})
    assert [passes(rate, call(agent="bob", session="b")) for _ in range(3)] == [True, True, False]
    assert all(passes(rate, call(agent="kim", session="k")) for _ in range(9))
    assert Rate(sessions={"bob": 1}).watches(TOOL)


@pytest.mark.meets("rate:session:refused")
async def test_calls_that_fail_were_counted_too_and_refused_arguments_were_not() -> None:
    def fail(text: str = "") -> str:
        """Fail."""
        raise ToolFailed(f"no {text}")

    bench = Bench(fail, guards=[Rate(Limits(rate=2))])
    answers = [await bench.call("fail", arguments) for arguments in ({}, {"text": 1}, {}, {})]
    assert [code(answer) for answer in answers] == ["tool_failed", "invalid_args", "tool_failed", "rate_limited"]


times = st.lists(st.floats(0, 3 * WINDOW, allow_nan=False), max_size=30).map(sorted)


@pytest.mark.meets("rate:session:refused")
@given(times, st.integers(1, 5))
def test_in_no_hour_are_there_more_calls_than_the_limit_and_none_is_refused_without_need(
    moments: list[float], limit: int
) -> None:
    rate, passed = Rate(Limits(rate=limit)), list[float]()
    for now in moments:
        recent = [at for at in passed if at + WINDOW > now]
        if passes(rate, call(now=now, session="s")):
            assert len(recent) < limit
            passed.append(now)
        else:
            assert len(recent) >= limit
    examples.count()


def test_many_sessions_do_not_take_memory_for_ever() -> None:
    rate = Rate(Limits(rate=1))
    for i in range(KEYS_KEPT + 5):
        rate.check(call(now=float(i), session=f"s{i}"))
    assert len(rate._calls) <= KEYS_KEPT


@pytest.mark.parametrize(("first", "then"), [("low", "high"), ("high", "low")])
def test_two_agents_of_other_limits_in_one_session_are_both_limited(first: str, then: str) -> None:
    limits = {"low": 2, "high": 5}
    rate = Rate(sessions=limits)
    for _ in range(3):
        passes(rate, call(agent=first, session="team"))
    assert sum(passes(rate, call(agent=then, session="team")) for _ in range(20)) <= limits[then]


def test_a_call_that_is_refused_counts_nowhere() -> None:
    rate = Rate(Limits(rate=2))
    passes(rate, call(session="p"))
    passes(rate, call(session="p"))
    assert not passes(rate, call(now=1, session="k", parents=("p",)))
    assert [passes(rate, call(now=2, session="k")) for _ in range(3)] == [True, True, False]


GET = made("get", target="url")


@pytest.mark.meets("rate:host:limit")
def test_a_host_may_have_its_own_limit_however_its_address_is_written() -> None:
    rate = Rate(Limits(hosts={"api.example.com": 2}))
    spellings = ["https://api.example.com/a", "http://API.Example.COM:8080/b", "https://api.example.com./c"]
    assert [passes(rate, call(GET, arguments={"url": url}, session=url)) for url in spellings] == [True, True, False]
    assert all(passes(rate, call(GET, arguments={"url": "https://docs.example.com"})) for _ in range(9))
    assert rate.watches(GET)
    assert not rate.watches(TOOL)


def test_a_star_limits_each_host_that_is_not_named_by_itself() -> None:
    rate = Rate(Limits(hosts={"*": 1, "free.example.com": 0}))
    for host, answers in (("a.example", [True, False]), ("b.example", [True, False]), ("free.example.com", [True] * 2)):
        assert [passes(rate, call(GET, arguments={"url": f"https://{host}/"})) for _ in range(2)] == answers


def test_what_is_no_address_counts_on_no_host() -> None:
    rate = Rate(Limits(hosts={"*": 1}))
    assert all(passes(rate, call(GET, arguments={"url": bad})) for bad in ("", "no address", "http://", 5) * 2)


@pytest.mark.meets("rate:agent:limit")
def test_an_agent_may_be_limited_over_all_of_its_sessions() -> None:
    rate = Rate(Limits(agents={"bob": 2}))
    assert [passes(rate, call(agent="bob", session=name)) for name in "xyz"] == [True, True, False]
    assert all(passes(rate, call(agent="kim", session=name)) for name in "xyz")


def test_a_refusal_says_whose_limit_it_was_and_when_to_come_back() -> None:
    rate = Rate(Limits(hosts={"*": 1}))
    passes(rate, call(GET, arguments={"url": "https://a.example/"}))
    with pytest.raises(RateLimited, match=r"limit for a\.example") as refused:
        rate.check(call(GET, now=600, arguments={"url": "https://a.example/x"}))
    assert refused.value.data == {"retry_after": 3000}
