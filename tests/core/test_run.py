"""One call, from request to record: every way it can end is an answer with a code, and exactly one record."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import examples
from tests.core.workbench import Bench, Kept, Watch, code, resolver_of
from toolcrib.core.call import Caller, Outcome, Request, Status
from toolcrib.core.errors import BadTool, Denied, ToolFailed
from toolcrib.core.guard import Approval, Call, Verdict, ask, deny
from toolcrib.core.policy import AgentRules
from toolcrib.core.registry import Names, Reserved
from toolcrib.core.resolver import View, seat_of
from toolcrib.core.tool import Effect, Family, Traits, as_tool, read_tool, tool
from toolcrib.guards.once import JournalOnce
from toolcrib.guards.rate import Rate
from toolcrib.services.config.values import Limits
from toolcrib.stores.inprocess.journal import MemoryJournal

SECRET = "hunter2-the-secret"


def masked(text: str) -> str:
    return text.replace(SECRET, "[REDACTED]")


@tool(aliases=("say",), inline=True)
def echo(text: str = "hello") -> str:
    """Say it again."""
    return text


@tool(effect="read", seconds=0.05)
async def wait_long() -> str:
    """Wait for something that never comes."""
    await asyncio.Event().wait()
    return "never"


@tool
def fail(text: str = "it is not there") -> str:
    """Fail as expected."""
    raise ToolFailed(text, code="not_found", hint="Look elsewhere.", data={"path": "a"})


@tool
def crash() -> str:
    """Fail as nobody expected."""
    raise ValueError(f"crashed with {SECRET}")


@tool
async def leave() -> str:
    """Try to end the program."""
    raise SystemExit(3)


TOOLS = (echo, wait_long, fail, crash, leave)


def deny_all(call: Call) -> Verdict:
    return deny("no-echo", "echo is off today", "Come back tomorrow.")


def ask_all(call: Call) -> Verdict:
    return ask("careful", "it says things")


def broken(call: Call) -> Verdict | None:
    raise KeyError(SECRET)


async def agree(call: Call, asked: Sequence[Verdict]) -> Approval | None:
    return Approval(allowed=True, by="kim")


async def refuse(call: Call, asked: Sequence[Verdict]) -> Approval | None:
    return Approval(allowed=False, by="kim", why="not on a Sunday")


async def test_a_call_is_answered_and_recorded() -> None:
    bench = Bench(*TOOLS)
    outcome = await bench.call("echo", {"text": "hi"}, id="call-1")
    assert outcome == Outcome(id="call-1", tool="echo", status=Status.DONE, text="hi")
    assert outcome.ok
    assert outcome.as_json() == {"id": "call-1", "tool": "echo", "status": "done", "text": "hi"}
    [record] = bench.records
    assert (record.id, record.tool, record.status, record.code, record.size) == ("call-1", "echo", Status.DONE, "", 2)


@pytest.mark.meets("call:find:by-alias", "names:case:insensitive")
@pytest.mark.parametrize("name", ["say", "SAY", "Echo", "echo"])
async def test_a_call_by_an_alias_or_in_other_letters_runs_the_canonical_tool(name: str) -> None:
    bench = Bench(*TOOLS)
    outcome = await bench.call(name)
    assert (outcome.tool, outcome.text) == ("echo", "hello")
    assert bench.records[0].tool == "echo"


# Every way to be refused or to fail, with its code. `call` is what is asked; the rest makes the bench.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], Status]] = {
    "unknown_tool": ({}, {"tool": "ekko"}, Status.REFUSED),
    "not_issued": ({"resolver": resolver_of(TOOLS, floor=())}, {}, Status.REFUSED),
    "invalid_args": ({}, {"arguments": {"text": 1}}, Status.REFUSED),
    "rate_limited": ({"guards": [Rate(Limits(rate=1))]}, {"twice": True}, Status.REFUSED),
    "denied": ({"guards": [Watch(deny_all)]}, {}, Status.REFUSED),
    "approval_required": ({"guards": [Watch(ask_all)]}, {}, Status.REFUSED),
    "approval_denied": ({"guards": [Watch(ask_all)], "approver": refuse}, {}, Status.REFUSED),
    "audit_full": ({"strict": True, "audit": Kept(full=True)}, {}, Status.REFUSED),
    "internal": ({"guards": [Watch(broken)]}, {}, Status.REFUSED),
    "timeout": ({}, {"tool": "wait_long"}, Status.FAILED),
    "not_found": ({}, {"tool": "fail"}, Status.FAILED),
}


@pytest.mark.meets("error:codes:all-shown", "error:shape:four-fields", "record:every-call:one")
@pytest.mark.parametrize("expected", CASES)
async def test_every_code_has_a_way_to_it_four_fields_and_one_record(expected: str) -> None:
    made, asked, status = CASES[expected]
    bench = Bench(*TOOLS, **made)
    name, arguments = asked.get("tool", "echo"), asked.get("arguments", {})
    if asked.get("twice"):
        await bench.call(name, arguments)
        bench.records.clear()
    outcome = await bench.call(name, arguments, id="c")
    assert outcome.error is not None
    assert (outcome.error.code, outcome.status) == (expected, status)
    told: Any = outcome.as_json()["error"]
    assert {"code", "message", "hint", "retryable"} <= set(told)
    assert told["message"]
    assert '"error"' in outcome.text
    [record] = bench.records
    assert (record.id, record.code, record.status) == ("c", expected, status)


@pytest.mark.meets("call:find:unknown-nearest")
async def test_an_unknown_tool_is_answered_with_the_nearest_that_is_held() -> None:
    bench = Bench(*TOOLS)
    outcome = await bench.call("ecko")
    assert outcome.error is not None
    assert outcome.error.data["nearest"] == ["echo"]
    assert "echo" in outcome.error.hint
    assert not (await bench.call("zzzzzz")).error.data["nearest"]  # type: ignore[union-attr] - it is refused


@pytest.mark.meets("call:issued:reason")
async def test_a_refusal_says_why_the_tool_is_not_held() -> None:
    agents = {"ada": AgentRules(name="ada", deny=("say",)), "bob": AgentRules(name="bob")}
    bench = Bench(resolver=resolver_of(TOOLS, agents))
    outcome = await bench.call("echo")
    assert outcome.error is not None
    assert outcome.error.message == "echo was not called: denied by agent policy."
    assert outcome.error.hint == "Take it out of agents.ada.deny."
    assert outcome.error.data["step"] == "agent_deny"
    assert (await bench.call("echo", agent="bob")).ok


@pytest.mark.meets("call:issued:what-to-do", "registry:catalogue:known-not-built")
async def test_a_tool_of_the_catalogue_that_is_not_built_says_so() -> None:
    names = Names(reserved={"create_cron": Reserved("create_cron", "Make a cron.", "crons")})
    bench = Bench(resolver=resolver_of(TOOLS, names=names))
    outcome = await bench.call("create_cron")
    assert code(outcome) == "unknown_tool"
    assert "in the catalogue" in outcome.text


@pytest.mark.meets("call:validate:eight")
async def test_bad_arguments_do_not_reach_the_tool() -> None:
    ran: list[str] = []

    def note(text: str) -> str:
        """Note it."""
        ran.append(text)
        return text

    bench = Bench(note)
    for bad in ({}, {"text": 1}, {"text": "a", "more": 1}, "{", b"\x00", b"x" * 9_000_000):
        assert code(await bench.call("note", bad)) == "invalid_args"
    assert not ran
    assert len(bench.records) == 6


@pytest.mark.meets("call:validate:every-source")
@pytest.mark.parametrize("source", ["native", "custom", "mcp", "plugin"])
async def test_arguments_of_a_tool_from_any_source_are_checked(source: str) -> None:
    made = msgspec.structs.replace(as_tool(echo), name=f"{source}_x_echo", source=source, origin="x", aliases=())
    bench = Bench(made)
    assert code(await bench.call(made.name, {"text": 1})) == "invalid_args"
    assert code(await bench.call(made.name, {"more": 1})) == "invalid_args"
    assert (await bench.call(made.name, {"text": "hi"})).text == "hi"


@pytest.mark.meets("guard:verdict:allow-ask-deny")
async def test_a_guard_allows_asks_or_denies_and_the_record_names_its_rule() -> None:
    allowed = Bench(*TOOLS, guards=[Watch(lambda _: None)])
    assert (await allowed.call("echo")).ok
    assert allowed.records[0].verdicts == ()
    asked = Bench(*TOOLS, guards=[Watch(ask_all)], approver=agree)
    assert (await asked.call("echo")).ok
    assert asked.records[0].verdicts == ("ask careful: it says things",)
    assert "kim" in asked.records[0].approval
    denied = Bench(*TOOLS, guards=[Watch(ask_all), Watch(deny_all)], approver=agree)
    outcome = await denied.call("echo")
    assert outcome.error is not None
    assert outcome.error.message == "echo was not called: echo is off today."
    assert outcome.error.hint == "Come back tomorrow."
    assert denied.records[0].verdicts == ("ask careful: it says things", "deny no-echo: echo is off today")


async def test_a_guard_is_asked_only_about_the_tools_that_it_watches() -> None:
    bench = Bench(*TOOLS, guards=[Watch(deny_all, ["fail"])])
    assert (await bench.call("echo")).ok
    assert code(await bench.call("fail")) == "denied"


@pytest.mark.meets("guard:ask:approval-required")
async def test_without_a_person_to_ask_the_tool_does_not_run() -> None:
    ran: list[int] = []

    @tool(inline=True)
    def touch() -> str:
        """Touch it."""
        ran.append(1)
        return "touched"

    for approver in (None, refuse):
        outcome = await Bench(touch, guards=[Watch(ask_all)], approver=approver).call("touch")
        assert code(outcome) == ("approval_denied" if approver else "approval_required")
    assert not ran
    assert "not on a Sunday" in outcome.text
    assert (await Bench(touch, guards=[Watch(ask_all)], approver=agree).call("touch")).ok


@pytest.mark.meets("guard:broken:refuses")
@pytest.mark.parametrize("where", ["check", "watches", "approver", "before"])
async def test_whatever_breaks_before_the_tool_refuses_the_call(where: str, caplog: pytest.LogCaptureFixture) -> None:
    ran: list[int] = []

    @tool(inline=True)
    def touch() -> str:
        """Touch it."""
        ran.append(1)
        return "touched"

    class Trap(Watch):
        def watches(self, tool: object) -> bool:
            raise RuntimeError(SECRET)

    async def gone(call: Call, asked: Sequence[Verdict]) -> Approval | None:
        raise ConnectionError(SECRET)

    guard = {"check": Watch(broken), "watches": Trap(ask_all), "approver": Watch(ask_all)}.get(where)
    bench = Bench(touch, guards=[guard] if guard else [], approver=gone, scrub=masked)
    if where == "before":
        bench.runner.before.append(broken)  # type: ignore[arg-type] - it raises
    with caplog.at_level(logging.ERROR):
        outcome = await bench.call("touch", id="c1")
    assert (outcome.status, code(outcome)) == (Status.REFUSED, "internal")
    assert not ran
    assert len(bench.records) == 1
    assert SECRET not in outcome.text
    assert "Traceback" not in outcome.text
    assert "c1" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.meets("error:internal:no-trace")
async def test_a_bug_is_internal_with_a_reference_and_the_trace_is_in_the_log_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(*TOOLS, scrub=masked)
    with caplog.at_level(logging.ERROR):
        outcome = await bench.call("crash", id="call-7")
    assert (outcome.status, code(outcome)) == (Status.FAILED, "internal")
    assert "call-7" in outcome.text
    for word in ("Traceback", "ValueError", "crashed", SECRET, ".py"):
        assert word not in outcome.text
    assert "ValueError" in caplog.text
    assert "call-7" in caplog.text
    assert SECRET not in caplog.text


async def test_a_tool_that_tries_to_end_the_program_only_breaks() -> None:
    bench = Bench(*TOOLS)
    assert code(await bench.call("leave")) == "internal"
    assert len(bench.records) == 1


async def test_a_tools_own_failure_keeps_its_code_hint_and_data() -> None:
    outcome = await Bench(*TOOLS).call("fail")
    assert outcome.error is not None
    assert outcome.error.as_json() == {
        "code": "not_found",
        "message": "it is not there",
        "hint": "Look elsewhere.",
        "retryable": False,
        "path": "a",
    }


@pytest.mark.meets("scrub:values:every-edge")
async def test_a_secret_is_taken_out_of_an_error_its_hint_and_its_data() -> None:
    def leak() -> str:
        """Leak."""
        raise ToolFailed(f"no {SECRET}", code="x", hint=f"try {SECRET}", data={"a": [f"b {SECRET}"], SECRET: 1})

    outcome = await Bench(leak, scrub=masked).call("leak")
    assert SECRET not in outcome.text
    assert SECRET not in str(outcome.as_json())
    assert "[REDACTED]" in outcome.text


@pytest.mark.meets("hook:before-and-after")
async def test_a_before_hook_sees_the_checked_arguments_and_an_after_hook_the_value() -> None:
    bench = Bench(*TOOLS)
    seen: list[object] = []

    async def look(call: Call) -> None:
        seen.append(dict(call.arguments))

    async def louder(call: Call, value: Any) -> Any:
        return f"{value}!"

    bench.runner.before.append(look)
    bench.runner.after.extend([lambda call, value: value.upper(), louder])
    assert (await bench.call("echo", {"text": "hi"})).text == "HI!"
    assert seen == [{"text": "hi"}]


@pytest.mark.meets("hook:before-and-after")
async def test_a_before_hook_may_refuse() -> None:
    def stop(call: Call) -> None:
        raise Denied("echo was not called: quiet hours.")

    bench = Bench(*TOOLS)
    bench.runner.before.append(stop)
    outcome = await bench.call("echo")
    assert (outcome.status, code(outcome)) == (Status.REFUSED, "denied")
    assert len(bench.records) == 1


async def test_an_after_hook_may_fail_or_break_the_call() -> None:
    def gate(call: Call, value: Any) -> Any:
        raise ToolFailed("The tests do not pass.", code="gate") if value == "bad" else KeyError("gate")

    bench = Bench(*TOOLS)
    bench.runner.after.append(gate)
    assert code(await bench.call("echo", {"text": "bad"})) == "gate"
    assert code(await bench.call("echo", {"text": "worse"})) == "internal"
    assert [record.status for record in bench.records] == [Status.FAILED, Status.FAILED]


async def test_listeners_get_each_record_after_the_call() -> None:
    bench = Bench(*TOOLS)
    heard: list[str] = []
    bench.runner.listeners.append(lambda record: heard.append(f"{record.tool} {record.status.value}"))
    await bench.call("echo")
    await bench.call("nothing")
    assert heard == ["echo done", "nothing refused"]


@pytest.mark.meets("run:timeout:coded")
async def test_a_tool_over_its_time_is_ended_and_may_clean_up() -> None:
    cleaned: list[str] = []

    @tool(seconds=0.01)
    async def linger() -> str:
        """Linger."""
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")
        return ""

    bench = Bench(linger)
    outcome = await bench.call("linger")
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.retryable) == ("timeout", True)
    assert cleaned == ["up"]
    assert len(bench.records) == 1


async def test_a_time_out_inside_a_tool_is_not_taken_for_its_own() -> None:
    async def dial() -> str:
        """Dial."""
        await asyncio.wait_for(asyncio.Event().wait(), 0.001)
        return ""

    assert code(await Bench(dial).call("dial")) == "internal"


async def cancelled(bench: Bench, started: asyncio.Event, **asked: Any) -> None:
    task = asyncio.ensure_future(bench.call("hold", **asked))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.meets("run:cancel:coded", "record:every-call:one")
@pytest.mark.parametrize("strict", [False, True])
async def test_a_cancelled_call_is_recorded_once_as_cancelled(strict: bool) -> None:
    started = asyncio.Event()

    async def hold() -> str:
        """Hold on."""
        started.set()
        await asyncio.Event().wait()
        return ""

    bench = Bench(hold, strict=strict)
    await cancelled(bench, started, id="c")
    [record] = bench.records
    assert (record.id, record.status, record.code) == ("c", Status.CANCELLED, "cancelled")
    assert bench.audit.begun == ["c"]


async def test_a_call_cancelled_while_a_person_is_asked_is_recorded_once() -> None:
    started = asyncio.Event()

    def hold() -> str:
        """Hold on."""
        return ""

    async def think_about_it(call: Call, asked: Sequence[Verdict]) -> Approval | None:
        started.set()
        await asyncio.Event().wait()
        return None

    bench = Bench(hold, guards=[Watch(ask_all)], approver=think_about_it)
    await cancelled(bench, started)
    assert [record.status for record in bench.records] == [Status.CANCELLED]


async def test_a_tool_whose_own_wait_is_cancelled_fails_and_the_caller_goes_on() -> None:
    async def await_other() -> str:
        """Wait for something that is cancelled."""
        other = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(other.cancel)
        await other
        return ""

    bench = Bench(await_other)
    outcome = await bench.call("await_other")
    assert (outcome.status, code(outcome)) == (Status.FAILED, "cancelled")
    assert len(bench.records) == 1


@pytest.mark.meets("run:function:plain")
async def test_a_plain_function_runs_in_a_thread_and_an_inline_one_does_not() -> None:
    def where() -> str:
        """Where it runs."""
        return str(threading.get_ident())

    @tool(inline=True)
    def here() -> str:
        """Where it runs."""
        return str(threading.get_ident())

    bench = Bench(where, here)
    assert (await bench.call("where")).text != str(threading.get_ident())
    assert (await bench.call("here")).text == str(threading.get_ident())
    assert [record.status for record in bench.records] == [Status.DONE, Status.DONE]


@pytest.mark.meets("run:function:plain")
async def test_a_thread_over_its_time_is_let_go_and_the_call_is_answered() -> None:
    go_on = threading.Event()

    @tool(seconds=0.01)
    def block() -> str:
        """Block."""
        go_on.wait(5)
        return "late"

    bench = Bench(block)
    outcome = await bench.call("block")
    go_on.set()
    assert code(outcome) == "timeout"
    assert len(bench.records) == 1


@pytest.mark.meets("run:context:given", "run:context:concurrent")
async def test_each_of_many_calls_at_once_gets_its_own_context() -> None:
    met = asyncio.Barrier(5)

    async def who(me: Caller, call: Call, view: View, text: str) -> dict[str, object]:
        """Who asks."""
        await met.wait()
        return {"who": [me.agent, me.user, me.session, me.channel, me.chat, me.workspace, me.depth], "id": call.id,
                "text": text, "held": list(view.names)}  # fmt: skip

    bench = Bench(who)
    outcomes = await asyncio.gather(
        *(
            bench.call(
                "who",
                {"text": f"t{i}"},
                id=f"c{i}",
                user=f"u{i}",
                session=f"s{i}",
                channel="web",
                chat=f"x{i}",
                workspace=f"/w{i}",
                depth=i % 2,
            )
            for i in range(5)
        )
    )
    for i, outcome in enumerate(outcomes):
        told: Any = outcome.structured
        assert told["who"] == ["ada", f"u{i}", f"s{i}", "web", f"x{i}", f"/w{i}", i % 2]
        assert (told["id"], told["text"], told["held"]) == (f"c{i}", f"t{i}", ["who"])


class Shelf:
    """A service."""


async def test_a_native_tool_gets_its_services_and_its_caller_before_the_arguments() -> None:
    family = Family(name="f", label="F", about="F.", icon="f")

    @family.tool(Effect.READ)
    async def look(shelf: Shelf, me: Caller, *, at: str) -> str:
        """Look."""
        return f"{me.agent} looks at {at} of {type(shelf).__name__}"

    outcome = await Bench(*family.tools, services={Shelf: Shelf()}).call("look", {"at": "top"})
    assert outcome.text == "ada looks at top of Shelf"


async def test_a_tool_that_needs_what_nobody_offers_is_refused_and_not_half_run() -> None:
    family = Family(name="f", label="F", about="F.", icon="f")

    @family.tool(Effect.READ)
    async def look(shelf: Shelf) -> str:
        """Look."""
        return str(shelf)

    assert code(await Bench(*family.tools).call("look")) == "internal"
    assert issubclass(BadTool, Exception)


async def test_an_object_with_a_call_method_is_a_tool_that_may_be_waited_for() -> None:
    class Doubler:
        """Double it."""

        async def __call__(self, text: str) -> str:
            """Double it."""
            return text * 2

    made = read_tool("own", Doubler().__call__, Traits(), name="double", free=True)
    assert (await Bench(made).call("double", {"text": "ab"})).text == "abab"


@pytest.mark.meets("record:fields:complete")
async def test_a_record_has_who_what_arguments_verdicts_time_size_code_and_approval() -> None:
    bench = Bench(*TOOLS, guards=[Watch(ask_all)], approver=agree)
    await bench.call("echo", '{"text": "hi"}', user="u", session="s", depth=1)
    [record] = bench.records
    assert (record.caller.agent, record.caller.user, record.caller.session, record.caller.depth) == ("ada", "u", "s", 1)
    assert (record.tool, record.arguments, record.size) == ("echo", b'{"text": "hi"}', 2)
    assert record.verdicts
    assert record.approval == "allowed by kim"
    assert record.generation == 1
    assert record.seconds > 0
    assert record.at > 1_700_000_000


async def test_under_strict_audit_an_answer_is_given_only_when_its_record_is_safe() -> None:
    bench = Bench(*TOOLS, strict=True)
    assert (await bench.call("echo")).ok
    assert len(bench.audit.on_disk) == 1
    trouble = ToolFailed("The disk is full.", code="store_full")
    lost = Bench(*TOOLS, strict=True, audit=Kept(trouble=trouble))
    outcome = await lost.call("echo")
    assert code(outcome) == "store_full"
    assert "hello" not in outcome.text


@pytest.mark.meets("registry:snapshot:run-keeps-its-own")
async def test_a_run_keeps_the_tools_that_it_began_with() -> None:
    old = Bench(*TOOLS)
    view = old.view()
    new = resolver_of((fail,))
    caller = Caller(agent="ada")
    assert "echo" not in new.view(seat_of(caller))
    outcome = await old.runner.call(old.resolver, view, caller, Request("echo"))
    assert outcome.text == "hello"


async def test_every_call_has_an_id_of_its_own() -> None:
    bench = Bench(*TOOLS)
    ids = {(await bench.call("echo")).id for _ in range(20)}
    assert len(ids) == 20
    assert {record.id for record in bench.records} == ids


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("echo", "say", "fail", "crash", "leave", "no_such", "")),
            st.sampled_from(("{}", "[]", "{", '{"text": "a"}', '{"text": 1}', "\x00")),
            st.sampled_from(("", "k1", "k2")),
        ),
        max_size=6,
    ),
    st.sampled_from((None, "deny", "ask", "break")),
    st.booleans(),
)
def test_whatever_is_called_each_call_has_one_answer_and_one_record(
    calls: list[tuple[str, str, str]], guard: str | None, strict: bool
) -> None:
    checks = {"deny": deny_all, "ask": ask_all, "break": broken}
    guards = [Watch(checks[guard])] if guard else []
    bench = Bench(*TOOLS, guards=guards, strict=strict, scrub=masked, once=JournalOnce(MemoryJournal()))

    async def run() -> list[Outcome]:
        return [await bench.call(name, raw, key=key) for name, raw, key in calls]

    outcomes = asyncio.run(run())
    assert [record.id for record in bench.records] == [outcome.id for outcome in outcomes]
    for record, outcome in zip(bench.records, outcomes, strict=True):
        assert (record.status, record.code) == (outcome.status, code(outcome))
        assert "Traceback" not in outcome.text
        assert SECRET not in outcome.text
    examples.count()


async def test_a_failure_with_a_file_name_that_is_no_unicode_keeps_its_code() -> None:
    outcome = await Bench(*TOOLS).call("fail", {"text": "no file \udc80"})
    # JSON cannot carry it, so a model cannot send it; a tool that lists files can.
    assert code(outcome) == "invalid_args"

    def lose() -> str:
        """Lose a file."""
        raise ToolFailed("There is no file a\udc80.", code="not_found")

    bench = Bench(lose)
    outcome = await bench.call("lose")
    assert (outcome.status, code(outcome)) == (Status.FAILED, "not_found")
    assert [record.code for record in bench.records] == ["not_found"]


async def test_a_listener_that_breaks_does_not_take_the_answer_away() -> None:
    bench = Bench(*TOOLS)
    bench.runner.listeners.append(lambda record: {}["gone"])
    assert (await bench.call("echo")).ok


async def test_listeners_are_told_of_cancelled_calls_too() -> None:
    started = asyncio.Event()

    async def hold() -> str:
        """Hold on."""
        started.set()
        await asyncio.Event().wait()
        return ""

    bench = Bench(hold)
    heard: list[str] = []
    bench.runner.listeners.append(lambda record: heard.append(record.status.value))
    await cancelled(bench, started)
    assert heard == ["cancelled"]


async def test_a_tool_that_says_it_was_cancelled_at_once_does_not_stop_its_caller() -> None:
    async def give_up() -> str:
        """Give up."""
        raise asyncio.CancelledError

    try:
        outcome = await Bench(give_up).call("give_up")
    except asyncio.CancelledError:
        outcome = None
    assert outcome is not None
    assert code(outcome) == "cancelled"


async def test_a_failure_says_no_more_than_a_result_may() -> None:
    outcome = await Bench(*TOOLS).call("fail", {"text": "x" * 100_000})
    assert len(outcome.text) < 20_000
