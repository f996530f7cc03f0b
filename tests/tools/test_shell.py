"""run_shell and process through a whole crib: where they run, what a yes is bound to, secrets, and what agents try."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Crib
from toolcrib.core.call import Outcome
from toolcrib.core.errors import ToolFailed
from toolcrib.core.guard import Approval
from toolcrib.services.approvals.requests import ApprovalRequest
from toolcrib.services.config.reading import read_config
from toolcrib.services.record.audit import Query
from toolcrib.services.vault.secrets import Wanted

HOST = "sandbox: {mode: off, unsafe_host: true}\nflow: {mode: off}\n"
AGENTS = "agents: {ada: [all], bob: [all]}\n"
VALUE = "correct horse $(touch made) 'staple'"
Run = Callable[..., Any]


def crib(folder: Path, text: str = HOST, **more: Any) -> Crib:
    return Crib(config=read_config(AGENTS + text, env={}), native=True, workspace=str(folder), **more)


@asynccontextmanager
async def walled(folder: Path, text: str = "", **more: Any) -> AsyncGenerator[Crib]:
    """A crib whose commands run inside walls; on a machine without any there is nothing to show."""
    async with crib(folder, text, **more) as made:
        outcome = await run(made, "true")
        if outcome.error is not None and outcome.error.code == "no_sandbox":
            pytest.skip("nothing on this machine can hold a program")
        yield made


async def run(
    made: Crib, command: str, *, agent: str = "ada", session: str = "s1", depth: int = 0, **said: Any
) -> Outcome:
    return await made.call("run_shell", {"command": command, **said}, agent=agent, session=session, depth=depth)


async def process(made: Crib, action: str, *, agent: str = "ada", session: str = "s1", **said: Any) -> Outcome:
    return await made.call("process", {"action": action, **said}, agent=agent, session=session)


def told(outcome: Outcome) -> dict[str, Any]:
    """The structured result."""
    assert isinstance(outcome.structured, dict), outcome.text
    return outcome.structured


def code(outcome: Outcome) -> str:
    return outcome.error.code if outcome.error else ""


async def asked(made: Crib) -> ApprovalRequest:
    """The request that waits."""
    return (await made.approvals.list())[0]


async def agree(made: Crib, **said: Any) -> ApprovalRequest:
    return await made.approvals.answer((await asked(made)).id, "accept", by="kim", **said)


async def until(holds: Callable[[], Any]) -> Any:
    """Wait for something that happens outside, for as long as a busy machine may need; gives what it is then."""
    for _ in range(1000):
        found = holds()
        if found := await found if isinstance(found, Awaitable) else found:
            return found
        await asyncio.sleep(0.02)
    pytest.fail("it did not come")


def written(path: Path) -> str:
    """What a command has written so far."""
    return path.read_text() if path.exists() else ""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def watched(answers: list[Approval | bool | None]) -> tuple[list[Any], Callable[..., Any]]:
    """A person who gives these answers, and what they were asked."""
    heard: list[Any] = []

    def ask(call: Any, asks: Any) -> Approval | bool | None:
        heard.append(asks)
        return answers.pop(0)

    return heard, ask


# Where commands run


@pytest.mark.meets("sandbox:host:never-silent")
async def test_the_record_says_where_a_command_ran(workspace: Path):
    async with crib(workspace) as made:
        outcome = await run(made, "true")
        (entry,) = (await made.store.audit.entries(Query(id=outcome.id))).entries
        assert entry.verdicts == ("note unsafe_host: it ran in this machine, without walls",)
    async with walled(workspace) as made:
        outcome = await run(made, "true")
        (entry,) = (await made.store.audit.entries(Query(id=outcome.id))).entries
        (said,) = entry.verdicts
        assert said.startswith("note sandbox: it ran in ")
        assert said.endswith(told(outcome)["ran_in"])


@pytest.mark.meets("sandbox:config:modes")
async def test_sub_agents_can_be_inside_walls_where_main_agents_are_not(workspace: Path):
    async with walled(workspace, "sandbox: {mode: non-main, unsafe_host: true}\nflow: {mode: off}\n") as made:
        inside, outside = await run(made, "true", depth=1), await run(made, "true")
        assert told(outside)["ran_in"] == "this machine, without walls"
        assert told(inside)["ran_in"] not in ("", told(outside)["ran_in"])
        channel = await made.call("run_shell", {"command": "true"}, agent="ada", channel="irc", chat="1")
        assert told(channel)["ran_in"] == told(inside)["ran_in"]


@pytest.mark.meets("sandbox:config:modes")
async def test_one_agent_can_have_other_walls(workspace: Path):
    (workspace / "a.txt").write_text("here")
    text = "sandbox: {agents: {ada: {access: ro}, bob: {access: none}}}\n"
    async with walled(workspace, text) as made:
        assert "here" in (await run(made, "cat a.txt")).text
        assert told(await run(made, "touch b.txt"))["exit_code"] != 0
        assert told(await run(made, "cat a.txt", agent="bob"))["exit_code"] != 0
    assert not (workspace / "b.txt").exists()


@pytest.mark.meets("sandbox:config:modes")
async def test_what_an_agent_may_not_open_its_commands_do_not_see(workspace: Path):
    for name in ("kept", ".toolcrib"):
        (workspace / name).mkdir()
        (workspace / name / "x").write_text("hidden text")
    async with walled(workspace, "deny_paths: [kept]\n") as made:
        outcome = await run(made, "cat kept/x .toolcrib/x; true")
        assert outcome.ok
        assert "hidden text" not in outcome.text


async def test_a_command_inside_walls_reaches_no_network_unless_it_is_given(workspace: Path):
    async with walled(workspace) as made:
        assert "lo" in (outcome := await run(made, "cat /proc/net/dev | tail -n +3 | cut -d: -f1")).text
        assert "eth" not in outcome.text


@pytest.mark.parametrize(("text", "sends"), [("", False), ("sandbox: {network: true}", True), (HOST, True)])
async def test_a_shell_that_reaches_the_network_counts_as_a_way_out(workspace: Path, text: str, sends: bool):
    async with crib(workspace, text) as made:
        tool = made.resolver.registry.get("run_shell")
        assert tool is not None
        assert ("sends" in tool.traits.flow) == ("untrusted" in tool.traits.flow) == sends


async def test_looking_at_ones_processes_sends_nothing(workspace: Path):
    async with crib(workspace, "sandbox: {mode: off, unsafe_host: true}\n") as made:
        assert (await run(made, "true")).ok
        assert code(await run(made, "true")) == "approval_required", "private data, untrusted text and a way out"
        assert (await process(made, "list")).ok
        assert code(await process(made, "start", command="true")) == "approval_required"


async def test_nobody_can_undo_what_a_command_did_and_that_is_said_beforehand(workspace: Path):
    async with crib(workspace) as made:
        done = await run(made, "touch a")
        assert await made.undoable(done.id) == (
            "It cannot be undone: run_shell sends things out, and they cannot be called back."
        )
        await run(made, "frobnicate")
        assert (await asked(made)).undoable is False
    async with walled(workspace) as made:
        done = await run(made, "touch a")
        assert "run_shell runs commands, and nobody knows all that they changed" in await made.undoable(done.id)


# What a yes is bound to


@pytest.mark.meets("approval:bound:executable")
async def test_a_person_sees_what_a_yes_is_bound_to(workspace: Path):
    (workspace / "s.sh").write_text("echo one\n")
    async with crib(workspace) as made:
        await run(made, "bash s.sh")
        bound = (await asked(made)).binding
        assert bound["runs on"] == "this machine, without walls"
        assert bound["folder"] == str(workspace)
        assert bound["environment"].startswith("sha256 ")
        assert "/bash" in bound["program bash"]
        assert bound["file s.sh"].startswith(f"{workspace}/s.sh sha256 ")


@pytest.mark.meets("approval:bound:executable")
@pytest.mark.parametrize("change", ["script", "program", "folder", "environment", "walls"])
async def test_a_yes_does_not_hold_when_what_it_is_bound_to_has_changed(
    workspace: Path, change: str, monkeypatch: pytest.MonkeyPatch
):
    (workspace / "sub").mkdir()
    for path in (workspace / "s.sh", workspace / "own", workspace / "sub" / "s.sh"):
        path.write_text("#!/bin/bash\necho one\n")
        path.chmod(0o755)
    command = "bash s.sh && ./own"
    async with crib(workspace) as made:
        store = made.store
        await run(made, command)
        await agree(made)
        text = HOST
        said: dict[str, Any] = {}
        if change == "script":
            (workspace / "s.sh").write_text("echo two\n")
        elif change == "program":
            (workspace / "own").write_text("#!/bin/bash\necho two\n")
        elif change == "folder":
            said = {"cwd": "sub"}
        elif change == "environment":
            monkeypatch.setenv("LANG", "de_DE.UTF-8")
        else:
            text = "flow: {mode: off}\n"
        again = crib(workspace, text, store=store)
        assert code(await run(again, command, **said)) == "approval_required"
        monkeypatch.undo()
        (workspace / "s.sh").write_text("#!/bin/bash\necho one\n")
        (workspace / "own").write_text("#!/bin/bash\necho one\n")
        assert (await run(made, command)).text.count("one") == 2, "as it was, the yes holds, once"
        assert code(await run(made, command)) == "approval_required"


@pytest.mark.meets("approval:bound:executable")
async def test_what_changes_while_a_call_waits_is_asked_about_anew(workspace: Path):
    script = workspace / "s.sh"
    script.write_text("echo one\n")
    async with crib(workspace, HOST + "approvals: wait\n") as made:
        waiting = asyncio.ensure_future(run(made, "bash s.sh"))
        (first,) = await until(made.approvals.list)
        script.write_text("echo two\n")
        await made.approvals.answer(first.id, "accept", by="kim")
        (second,) = await until(made.approvals.list)
        assert second.binding["file s.sh"] != first.binding["file s.sh"]
        await made.approvals.answer(second.id, "deny", by="kim")
        assert code(await waiting) == "approval_denied"


@pytest.mark.meets("approval:bound:executable")
async def test_what_changes_while_a_person_looks_at_it_is_asked_about_anew(workspace: Path):
    script = workspace / "s.sh"
    script.write_text("echo one\n")
    seen: list[str] = []

    def ask(_: Any, asks: Any) -> bool:
        seen.append(asks[0].binding["file s.sh"])
        script.write_text("echo two\n")
        return len(seen) < 3

    async with crib(workspace, approve=ask) as made:
        outcome = await run(made, "bash s.sh")
        assert "two" in outcome.text
        assert len(set(seen)) == len(seen) == 2


async def test_a_request_about_a_command_waits_two_minutes_unless_it_is_said_otherwise(workspace: Path):
    for text, seconds in ((HOST, 120), (HOST + "approvals: {code_seconds: 7}\n", 7)):
        async with crib(workspace, text) as made:
            await run(made, "frobnicate")
            request = await asked(made)
            assert request.expires - request.asked == seconds


# Always


@pytest.mark.meets("shell:allow-always:segments")
async def test_always_keeps_a_rule_that_each_part_of_a_chain_has_to_fit(workspace: Path):
    async with crib(workspace) as made:
        await run(made, "frobnicate --all 'a b'")
        await agree(made, lifetime="always")
        (rule,) = await made.approvals.rules()
        assert rule.where == {"program": "frobnicate", "arguments": "--all 'a b'", "runs on": "this machine"}
        assert (await run(made, "frobnicate --all 'a b'", session="other")).ok
        assert (await run(made, "ls && frobnicate --all 'a b' | cat")).ok
        for command in (
            "frobnicate --all",
            "frobnicate --all 'a b' && grumble",
            "frobnicate --all 'a b' > /dev/tcp/x/1",
            "frobnicate $(grumble)",
            "sudo frobnicate --all 'a b'",
        ):
            assert code(await run(made, command)) in {"approval_required", "denied"}, command
        assert code(await run(made, "frobnicate --all 'a b'", agent="bob")) == "approval_required"


@pytest.mark.meets("shell:allow-always:segments")
async def test_two_rules_together_let_a_chain_of_both_run(workspace: Path):
    async with crib(workspace) as made:
        for command in ("frobnicate a", "grumble b"):
            await run(made, command)
            await agree(made, lifetime="always")
        assert (await run(made, "frobnicate a; grumble b")).ok
        for rule in await made.approvals.rules():
            await made.approvals.delete_rule(rule.id)
        assert code(await run(made, "frobnicate a")) == "approval_required"


@pytest.mark.meets("shell:allow-always:not-shells")
@pytest.mark.parametrize(
    "command", ["bash s.sh", "bash -c 'frobnicate'", "sudo ls", "python3 -m http.server", "frobnicate; grumble", "./x"]
)
async def test_always_is_never_kept_for_shells_wrappers_and_chains(workspace: Path, command: str):
    async with crib(workspace) as made:
        await run(made, command)
        if request := await made.approvals.list():
            with pytest.raises(ToolFailed, match="no pattern can stand for them"):
                await made.approvals.answer(request[0].id, "accept", by="kim", lifetime="always")
            where = {"program": "frobnicate", "arguments": "**"}
            with pytest.raises(ToolFailed, match="no pattern can stand for them"):
                await made.approvals.answer(request[0].id, "accept", by="kim", lifetime="always", where=where)
        assert await made.approvals.rules() == ()


async def test_a_person_edits_a_kept_rule_and_cannot_make_it_a_shell(workspace: Path):
    async with crib(workspace) as made:
        await run(made, "frobnicate a")
        await agree(made, lifetime="always")
        (rule,) = await made.approvals.rules()
        for where in (
            {"program": "bash", "arguments": "**"},
            {"program": "*"},
            {"program": "frob*"},
            {"command": "frobnicate *"},
            {"program": "frobnicate", "arguments": "'a"},
            {"program": "frobnicate", "arguments": "** a"},
            {},
        ):
            with pytest.raises(ToolFailed):
                await made.approvals.change_rule(rule.id, where, by="kim")
        where = {"program": "frobnicate", "arguments": "b **", "runs on": "this machine"}
        await made.approvals.change_rule(rule.id, where, by="kim")
        assert code(await run(made, "frobnicate a")) == "approval_required"
        assert (await run(made, "frobnicate b c d")).ok
        await made.approvals.change_rule(rule.id, {"program": "frobnicate", "arguments": "b **"}, by="kim")
        assert code(await run(made, "frobnicate b")) == "approval_required", "it holds inside walls only"


async def test_a_rule_for_commands_inside_walls_is_none_for_this_machine(workspace: Path):
    async with walled(workspace) as made:
        await run(made, "frobnicate a")
        await agree(made, lifetime="always")
        assert (await run(made, "frobnicate a")).ok
        outside = crib(workspace, HOST, store=made.store)
        assert code(await run(outside, "frobnicate a")) == "approval_required"


# Secrets


async def test_a_secret_comes_in_a_variable_and_is_never_read_as_a_command(workspace: Path):
    heard, ask = watched([True])
    async with crib(workspace, approve=ask) as made:
        await made.vault.secrets.set("KEY", Wanted(value=VALUE))
        outcome = await run(
            made, "echo {{secret:KEY}} \"{{secret:KEY}}\" > got; tr '\\0' '\\n' < /proc/$$/cmdline > argv; cat got"
        )
        assert (workspace / "got").read_text() == f"{VALUE} {VALUE}\n"
        assert VALUE not in (workspace / "argv").read_text()
        assert VALUE not in outcome.text
        assert outcome.text.count("[REDACTED:") == 2
        assert not (workspace / "made").exists()
        assert VALUE not in repr(heard)
        (entry,) = (await made.store.audit.entries(Query(id=outcome.id))).entries
        assert "{{secret:KEY}}" in entry.arguments


async def test_a_secret_that_is_for_other_tools_or_for_certain_hosts_is_not_given(workspace: Path):
    async with crib(workspace) as made:
        await made.vault.secrets.set("A", Wanted(value="first-value", tools=("http_request",)))
        await made.vault.secrets.set("B", Wanted(value="second-value", hosts=("example.com",)))
        for name in "AB":
            outcome = await run(made, "echo {{secret:" + name + "}}")
            assert (code(outcome), outcome.status.value) == ("denied", "refused")


async def test_a_secret_can_be_written_to_a_process(workspace: Path):
    async with crib(workspace) as made:
        await made.vault.secrets.set("KEY", Wanted(value=VALUE))
        assert (await run(made, "cat > got", background=True)).ok
        assert (await process(made, "write", id="p1", data="{{secret:KEY}}", eof=True)).ok
        await until(lambda: written(workspace / "got") == VALUE)


# What agents try


async def test_a_command_that_is_too_long_is_refused_and_a_long_one_asked_about(workspace: Path):
    async with crib(workspace) as made:
        assert code(await run(made, "echo " + "x" * 1_000_000)) == "invalid_args"
        assert code(await run(made, "echo " + "x" * 90_000)) == "approval_required"
        assert code(await run(made, "echo a;" * 10_000)) == "approval_required"


async def test_endless_output_is_bounded_and_ends_in_time(workspace: Path):
    async with crib(workspace) as made:
        outcome = await run(made, "yes abcdefg", timeout=1)
        assert code(outcome) == "timeout"
        assert outcome.error is not None
        assert len(outcome.error.message) < 6_000


async def test_a_child_that_ignores_signals_is_ended_with_its_command(workspace: Path):
    async with crib(workspace) as made:
        outcome = await run(made, "trap '' TERM INT HUP; echo $$ > pid; sleep 300 & sleep 300", timeout=1)
        assert code(outcome) == "timeout"
        pid = int((workspace / "pid").read_text())
        await until(lambda: not alive(pid))


async def test_what_a_command_leaves_behind_does_not_outlive_it(workspace: Path):
    async with crib(workspace) as made:
        outcome = await run(made, "sleep 300 & echo $! > pid; echo done")
        assert "done" in outcome.text
        pid = int((workspace / "pid").read_text())
        await until(lambda: not alive(pid))


async def test_a_call_that_is_stopped_ends_its_command(workspace: Path):
    async with crib(workspace) as made:
        calling = asyncio.ensure_future(run(made, "echo $$ > pid; sleep 300"))
        await until(lambda: written(workspace / "pid"))
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        pid = int((workspace / "pid").read_text())
        await until(lambda: not alive(pid))


async def test_processes_end_with_the_crib(workspace: Path):
    async with crib(workspace) as made:
        assert (await run(made, "echo $$ > pid; sleep 300", background=True)).ok
        await until(lambda: written(workspace / "pid"))
        pid = int((workspace / "pid").read_text())
        assert alive(pid)
    await until(lambda: not alive(pid))


async def test_nobody_sees_the_processes_of_another_agent_session_or_user(workspace: Path):
    async with crib(workspace) as made:
        assert (await run(made, "sleep 300", background=True)).ok
        assert "p1" in (await process(made, "list")).text
        for who in ({"agent": "bob"}, {"session": "s2"}):
            assert "p1" not in (await process(made, "list", **who)).text
            for action in ("poll", "log", "kill", "write"):
                assert code(await process(made, action, id="p1", data="x", **who)) == "process_not_found"
        other = await made.call("process", {"action": "kill", "id": "p1"}, agent="ada", session="s1", user="eve")
        assert code(other) == "process_not_found"
        for odd in ("p2", "", "1", "../p1", "p1\0"):
            assert code(await process(made, "poll", id=odd)) == "process_not_found"


async def test_what_is_written_to_a_shell_is_judged_like_a_command(workspace: Path):
    answers: list[Approval | bool | None] = [True, False]
    heard, ask = watched(answers)
    async with crib(workspace, approve=ask) as made:
        assert (await run(made, "bash", background=True)).ok
        assert code(await process(made, "write", id="p1", data="rm -rf /\n")) == "denied"
        assert (await process(made, "write", id="p1", data="echo hi > got\n")).ok
        await until((workspace / "got").exists)
        assert code(await process(made, "write", id="p1", data="frobnicate\n")) == "approval_denied"
        assert len(heard) == 2


async def test_a_secret_in_background_output_is_scrubbed_however_it_is_read(workspace: Path):
    async with crib(workspace) as made:
        await made.vault.secrets.set("KEY", Wanted(value="swordfish-long-value"))
        command = "for i in 1 2 3; do echo x; echo swordfish-long-value; done; sleep 300"
        assert (await run(made, command, background=True)).ok
        polled = (await process(made, "poll", id="p1")).text
        while polled.count("REDACTED") < 3:
            polled += (await process(made, "poll", id="p1")).text
        assert "swordfish" not in polled + (await process(made, "log", id="p1")).text


async def test_the_guard_watches_no_tool_but_those_that_run_commands(workspace: Path):
    async with crib(workspace) as made:
        guard = next(one for one in made._runner._guards if one.name == "shell")
        watching = {tool.name for tool in made.resolver.registry.tools if guard.watches(tool)}
        assert watching == {"run_shell", "process"}
