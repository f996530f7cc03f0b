"""Approvals as those who use a crib meet them: asked, answered in any way, once or for longer, over a restart."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from toolcrib import Call, Crib, ToolFailed, Verdict, tool
from toolcrib.core.call import Outcome
from toolcrib.core.errors import Fault
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Traits, as_tool
from toolcrib.services.advice.simulate import grants_with
from toolcrib.services.approvals.requests import State
from toolcrib.services.config.values import ApprovalRules, CallRule, Config, Limits
from toolcrib.stores import sql

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"
done: list[dict[str, Any]] = []


@tool(effect="write", approval=True)
def send(to: str, text: str = "", *, urgent: bool = False) -> str:
    """Send a note to somebody."""
    done.append({"to": to, "text": text, "urgent": urgent})
    return f"sent to {to}"


def ran_code(command: str) -> str:
    """Run a command."""
    done.append({"command": command})
    return "ran"


class Bound:
    """A guard that binds a yes to a folder and a program, as the shell's does."""

    name = "bound"
    counts = False

    def __init__(self) -> None:
        self.program = "v1"

    def watches(self, tool: Any) -> bool:
        return tool.name == "send"

    def check(self, call: Call) -> Verdict | None:
        return Verdict("ask", "bound", "it starts a program", span=(0, 4), binding={"program": self.program})


@pytest.fixture(autouse=True)
def _fresh() -> None:
    done.clear()


def crib(*guards: Any, mode: str = "refuse", rules: tuple[CallRule, ...] = (), **given: Any) -> Crib:
    kept = {name: given.pop(name) for name in ("seconds", "code_seconds", "by") if name in given}
    config = Config(approvals=ApprovalRules(mode=mode, **kept), rules=rules)
    return Crib([send], agents={"helper": ["send"]}, config=config, guards=guards, secrets=[SECRET], **given)


def code(outcome: Outcome) -> str:
    return outcome.error.code if outcome.error else ""


def fault(outcome: Outcome) -> Fault:
    assert outcome.error is not None
    return outcome.error


async def ask(crib: Crib, arguments: dict[str, Any] | None = None, session: str = "talk", **who: Any) -> Outcome:
    return await crib.call("send", arguments or {"to": "ann"}, agent="helper", session=session, **who)


async def pending(crib: Crib) -> Any:
    """The one request that waits, as soon as it does."""
    for _ in range(1000):
        if found := await crib.approvals.list():
            return found[0]
        await asyncio.sleep(0)
    raise AssertionError("nothing waits")


async def answered_while_it_waits(
    crib: Crib, choice: str, /, *, then: Callable[[], Any] = lambda: None, **how: Any
) -> Outcome:
    """A call that waits, and a person who answers it meanwhile."""

    async def person() -> None:
        request = await pending(crib)
        then()
        await crib.approvals.answer(request.id, choice, by="kim", **how)

    outcome, _ = await asyncio.gather(ask(crib), person())
    return outcome


@pytest.mark.meets("guard:ask:approval-required", "approval:durable:restart")
async def test_a_refused_call_names_its_request_and_runs_once_when_it_comes_again_after_a_yes():
    kit = crib()
    first = await ask(kit)
    assert (code(first), done) == ("approval_required", [])
    (request,) = await kit.approvals.list()
    assert request.id in fault(first).message
    assert f"toolcrib approvals answer {request.id} accept" in fault(first).hint
    assert fault(first).data == {"request": request.id}
    await kit.approvals.answer(request.id, "accept", by="kim")
    assert (await ask(kit)).text == "sent to ann"
    assert code(await ask(kit)) == "approval_required"
    assert len(done) == 1
    page = await kit.store.audit.entries()
    assert [entry.approval for entry in page.entries][1] == f"allowed by kim ({request.id})"


@pytest.mark.meets("approval:bound:exact")
async def test_a_yes_is_for_these_arguments_this_session_and_this_folder_only():
    kit = crib()
    await ask(kit)
    (request,) = await kit.approvals.list()
    await kit.approvals.answer(request.id, "accept", by="kim")
    assert code(await ask(kit, {"to": "bob"})) == "approval_required"
    assert code(await ask(kit, {"to": "ann", "urgent": True})) == "approval_required"
    assert code(await ask(kit, session="other")) == "approval_required"
    assert code(await ask(kit, workspace="/elsewhere")) == "approval_required"
    assert (await kit.call("send", '{ "to":"ann" }', agent="helper", session="talk")).ok


@pytest.mark.meets("approval:answers:four")
async def test_a_waiting_call_runs_when_it_is_accepted():
    assert (await answered_while_it_waits(crib(mode="wait"), "accept")).text == "sent to ann"


@pytest.mark.meets("approval:answers:four")
async def test_an_edited_call_runs_with_the_new_arguments_and_the_record_has_them():
    kit = crib(mode="wait")
    outcome = await answered_while_it_waits(kit, "edit", arguments={"to": "bob", "text": "hi"})
    assert outcome.text == "sent to bob"
    (entry,) = (await kit.store.audit.entries()).entries
    assert '"bob"' in entry.arguments
    assert entry.approval.startswith("edited by kim")


async def test_edited_arguments_are_checked_before_the_answer_is_taken():
    kit = crib()
    await ask(kit)
    (request,) = await kit.approvals.list()
    with pytest.raises(Exception, match="too"):
        await kit.approvals.answer(request.id, "edit", arguments={"too": "bob"}, by="kim")
    assert (await kit.approvals.get(request.id)).state is State.PENDING


async def test_guards_judge_edited_arguments_too():
    never = CallRule(name="rules[0]", tool="send", action="deny", where={"to": "boss"}, why="never the boss")
    outcome = await answered_while_it_waits(crib(mode="wait", rules=(never,)), "edit", arguments={"to": "boss"})
    assert (code(outcome), done) == ("denied", [])


async def test_an_edit_that_another_rule_asks_about_is_asked_about_again():
    watched = CallRule(name="rules[0]", tool="send", action="ask", where={"to": "press"}, why="it goes to the press")
    kit = crib(mode="wait", rules=(watched,))

    async def person() -> None:
        await kit.approvals.answer((await pending(kit)).id, "edit", arguments={"to": "press"}, by="kim")
        again = await pending(kit)
        assert "it goes to the press" in [one.why for one in again.reasons]
        await kit.approvals.answer(again.id, "deny", by="lee", text="not today")

    outcome, _ = await asyncio.gather(ask(kit), person())
    assert (code(outcome), done) == ("approval_denied", [])
    assert "not today" in fault(outcome).message


@pytest.mark.meets("approval:answers:four")
@pytest.mark.parametrize(
    ("choice", "text", "expected"),
    [
        ("respond", "she left", "approval_answered"),
        ("ignore", "", "approval_ignored"),
        ("deny", "no", "approval_denied"),
    ],
)
@pytest.mark.parametrize("mode", ["wait", "refuse"])
async def test_what_is_not_accepted_does_not_run_and_the_agent_is_told(
    mode: str, choice: str, text: str, expected: str
):
    kit = crib(mode=mode)
    if mode == "wait":
        outcome = await answered_while_it_waits(kit, choice, text=text)
    else:
        await ask(kit)
        await kit.approvals.answer((await pending(kit)).id, choice, by="kim", text=text)
        outcome = await ask(kit)
    assert (code(outcome), done) == (expected, [])
    assert text in fault(outcome).message


@pytest.mark.meets("approval:timeout:denies")
async def test_no_answer_in_time_is_a_no():
    kit = crib(mode="wait", seconds=0.02)
    outcome = await ask(kit)
    assert (code(outcome), done) == ("approval_denied", [])
    assert "nobody answered within 0.02 seconds" in fault(outcome).message
    (request,) = await kit.approvals.list(state=None)
    assert request.state is State.EXPIRED
    with pytest.raises(ToolFailed, match="expired"):
        await kit.approvals.answer(request.id, "accept", by="kim")


@pytest.mark.meets("approval:timeout:denies")
async def test_commands_wait_two_minutes_and_other_calls_seven_days():
    shell = replace(as_tool(ran_code), traits=Traits(approval=True, runs_code=True))
    kit = Crib([send, shell], agents={"helper": ["send", "ran_code"]})
    await ask(kit)
    await kit.call("ran_code", {"command": "ls"}, agent="helper")
    code, other = await kit.approvals.list()
    assert (other.expires - other.asked, code.expires - code.asked) == (7 * 86_400, 120)
    with pytest.raises(ToolFailed, match="runs commands or programs"):
        await kit.approvals.answer(code.id, "accept", by="kim", lifetime="always")


@pytest.mark.meets("approval:terms")
async def test_a_yes_for_the_session_holds_there_and_nowhere_else():
    kit = crib()
    await ask(kit)
    await kit.approvals.answer((await pending(kit)).id, "accept", by="kim", lifetime="session")
    assert [(await ask(kit)).ok for _ in range(3)] == [True] * 3
    assert code(await ask(kit, session="other")) == "approval_required"
    assert code(await ask(kit, {"to": "ann", "urgent": True})) == "approval_required"


@pytest.mark.meets("approval:terms")
async def test_a_yes_for_a_time_holds_in_every_session_until_then():
    kit = crib()
    await ask(kit)
    until = time.time() + 60
    await kit.approvals.answer((await pending(kit)).id, "accept", by="kim", lifetime="until", until=until)
    assert (await ask(kit, session="other")).ok
    (rule,) = await kit.approvals.rules()
    assert rule.until == until


@pytest.mark.meets("approval:terms", "approval:always:pattern")
async def test_always_is_a_rule_that_a_person_may_widen_and_take_away():
    kit = crib()
    await ask(kit)
    await kit.approvals.answer((await pending(kit)).id, "accept", by="kim", lifetime="always")
    (rule,) = await kit.approvals.rules()
    assert rule.where == {"to": "ann", "text": "", "urgent": "false"}
    assert code(await ask(kit, {"to": "anna"})) == "approval_required"
    await kit.approvals.change_rule(rule.id, {"to": "ann*"}, by="kim")
    assert (await ask(kit, {"to": "anna", "text": "hi"})).ok
    with pytest.raises(ToolFailed, match="no argument nosuch"):
        await kit.approvals.change_rule(rule.id, {"nosuch": "*"}, by="kim")
    await kit.approvals.delete_rule(rule.id)
    assert code(await ask(kit)) == "approval_required"


async def test_a_pattern_does_not_let_a_path_climb_out_of_it():
    kit = crib()
    await ask(kit, {"to": "notes/a"})
    where = {"to": "notes/*"}
    await kit.approvals.answer((await pending(kit)).id, "accept", by="kim", lifetime="always", where=where)
    assert (await ask(kit, {"to": "notes/b"})).ok
    assert code(await ask(kit, {"to": "notes/../keys"})) == "approval_required"


async def test_a_rule_answers_only_what_was_asked_when_it_was_made():
    kit = crib()
    await ask(kit)
    await kit.approvals.answer((await pending(kit)).id, "accept", by="kim", lifetime="always", where={"to": "*"})
    assert (await ask(kit, {"to": "press"})).ok
    watched = CallRule(name="rules[0]", tool="send", action="ask", where={"to": "press"}, why="it goes to the press")
    stricter = crib(rules=(watched,), store=kit.store)
    assert (await ask(stricter, {"to": "ann"})).ok
    assert code(await ask(stricter, {"to": "press"})) == "approval_required"


@pytest.mark.meets("approval:bound:guard")
async def test_a_yes_is_bound_to_what_the_guard_saw_and_that_is_looked_at_again():
    bound = Bound()
    kit = crib(bound, mode="wait")
    assert (await answered_while_it_waits(kit, "accept")).ok

    def replaced() -> None:
        bound.program = "v2"

    async def person() -> None:
        first = await pending(kit)
        assert (first.binding, first.reasons[1].span) == ({"program": "v1"}, (0, 4))
        replaced()
        await kit.approvals.answer(first.id, "accept", by="kim")
        second = await pending(kit)
        assert second.binding == {"program": "v2"}
        await kit.approvals.answer(second.id, "deny", by="kim")

    bound.program = "v1"
    outcome, _ = await asyncio.gather(ask(kit), person())
    assert (code(outcome), len(done)) == ("approval_denied", 1)


async def test_what_is_bound_to_a_program_is_never_for_always():
    kit = crib(Bound())
    await ask(kit)
    with pytest.raises(ToolFailed, match="no pattern can stand for them"):
        await kit.approvals.answer((await pending(kit)).id, "accept", by="kim", lifetime="always")


@pytest.mark.meets("approval:durable:restart")
async def test_a_tool_that_was_taken_away_meanwhile_does_not_run_whatever_the_person_says():
    kit = crib(mode="wait")
    grants = kit.resolver.grants

    def take_away() -> None:
        kit.resolver = Resolver(kit.resolver.registry, grants_with(grants, agents={"helper": crib_rules}))

    crib_rules = Crib([send], agents={"helper": []}).resolver.grants.agents["helper"]
    outcome = await answered_while_it_waits(kit, "accept", then=take_away)
    assert (code(outcome), done) == ("not_issued", [])


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Callable[..., Crib]]:
    """Opens cribs on one store, as processes do one after the other and side by side."""
    made: list[Crib] = []

    def open_one(**given: Any) -> Crib:
        made.append(crib(store=sql.open_store(f"sqlite:///{tmp_path}/crib.db", scrub=lambda text: text), **given))
        return made[-1]

    yield open_one
    for one in made:
        await one.close()


@pytest.mark.meets("approval:durable:restart")
async def test_after_a_restart_the_answered_call_runs_once(opened: Callable[..., Crib]):
    first = opened()
    await ask(first)
    desk = opened()
    await desk.approvals.answer((await pending(desk)).id, "accept", by="kim")
    await first.close()
    third = opened()
    assert [code(await ask(third)) for _ in range(2)] == ["", "approval_required"]


async def test_a_call_that_waits_hears_an_answer_from_another_process(opened: Callable[..., Crib]):
    waits, desk = opened(mode="wait"), opened()

    async def person() -> None:
        await pending(waits)
        await desk.approvals.answer((await pending(desk)).id, "accept", by="kim")

    outcome, _ = await asyncio.gather(ask(waits), person())
    assert outcome.ok


async def test_of_two_calls_that_wait_for_one_yes_one_runs():
    kit = crib(mode="wait")

    async def person() -> None:
        await kit.approvals.answer((await pending(kit)).id, "accept", by="kim")

    outcomes = await asyncio.gather(ask(kit), ask(kit), person())
    assert sorted(code(one) for one in outcomes[:2]) == ["", "approval_denied"]
    assert len(done) == 1


@pytest.mark.meets("approval:shown:redacted")
async def test_secrets_are_hidden_in_a_request_and_an_edit_that_leaves_them_alone_keeps_them():
    kit = crib(mode="wait")

    async def person() -> None:
        request = await pending(kit)
        assert SECRET not in str(request)
        shown = {"to": "bob", "text": json.loads(request.arguments)["text"]}
        with pytest.raises(ToolFailed, match="hidden"):
            await kit.approvals.answer(request.id, "edit", arguments={**shown, "to": shown["text"]}, by="kim")
        await kit.approvals.answer(request.id, "edit", arguments=shown, by="kim")

    outcome, _ = await asyncio.gather(ask(kit, {"to": "ann", "text": f"key {SECRET}"}), person())
    assert outcome.ok
    assert done == [{"to": "bob", "text": f"key {SECRET}", "urgent": False}]


@pytest.mark.meets("approval:shown:redacted")
async def test_what_cannot_be_shown_cannot_be_asked():
    def broken(text: str) -> str:
        if "ann" in text:
            raise ValueError("it broke")
        return text

    kit = crib(scrub=broken)
    outcome = await ask(kit)
    assert (code(outcome), done) == ("internal", [])
    assert await kit.approvals.list() == ()


@pytest.mark.meets("approval:requester:other")
async def test_only_those_who_may_decide_can_answer():
    kit = crib(by=("requester", "lead"))
    await ask(kit, user="ann")
    request = await pending(kit)
    with pytest.raises(ToolFailed, match="by ann or lead, not by kim"):
        await kit.approvals.answer(request.id, "accept", by="kim")
    await kit.approvals.answer(request.id, "accept", by="ann")
    assert (await ask(kit, user="ann")).ok


@pytest.mark.meets("approval:requester:other")
async def test_where_only_the_requester_may_agree_a_call_without_a_person_is_refused():
    kit = crib(by=("requester",), mode="wait")
    outcome = await ask(kit)
    assert code(outcome) == "approval_required"
    assert await kit.approvals.list() == ()


@pytest.mark.meets("approval:doors:built")
async def test_a_callback_is_asked_first_and_what_it_leaves_open_becomes_a_request():
    says: list[bool | None] = [True, False, None]
    kit = crib(approve=lambda call, asked: says.pop(0))
    assert [code(await ask(kit)) for _ in range(3)] == ["", "approval_denied", "approval_required"]
    assert len(await kit.approvals.list()) == 1


async def test_a_call_that_is_stopped_while_it_waits_leaves_its_request_to_be_answered():
    kit = crib(mode="wait")
    waiting = asyncio.ensure_future(ask(kit))
    request = await pending(kit)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await kit.approvals.get(request.id)).state is State.PENDING


async def test_a_call_that_waited_counts_once_for_its_rate():
    config = Config(approvals=ApprovalRules(mode="wait"), limits=Limits(rate=1))
    kit = Crib([send], agents={"helper": ["send"]}, config=config)
    assert (await answered_while_it_waits(kit, "accept")).ok
