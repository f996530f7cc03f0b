"""Sessions with servers over pipes: kept, looked after, made again; and servers that do not behave."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.mcp.conftest import called, crib_with, listed, plain, until
from toolcrib.app import Crib
from toolcrib.core.call import JsonObject
from toolcrib.core.errors import TimedOut
from toolcrib.services.mcp.downstream import LINK, McpFault, ServerGone
from toolcrib.services.mcp.servers import State


class Asker:
    """A client that wants to hear of everything, and answers questions."""

    owner = "c1"
    takes_input_required = False

    def __init__(self, **capabilities: JsonObject) -> None:
        self.capabilities: JsonObject = dict(capabilities)
        self.extra: JsonObject = {"_meta": {"progressToken": "mine"}}
        self.heard: list[tuple[str, JsonObject]] = []
        self.asked: list[str] = []

    def hold(self) -> None:
        pass

    def notify(self, method: str, params: JsonObject) -> None:
        self.heard.append((method, params))

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        self.asked.append(params["message"])
        return {"action": "accept", "content": {}}


def pid_of(crib: Crib, server: str) -> int:
    """The process of a server."""
    assert crib.mcp is not None
    kept = crib.mcp._made._shared[server]  # type: ignore[union-attr]
    return kept._speaking.wire._transport.get_pid()  # type: ignore[union-attr]


def said(crib: Crib, server: str) -> str:
    assert crib.mcp is not None
    return "\n".join(line for _, line in crib.mcp.said(server))


@pytest.mark.meets("mcp:session:kept")
async def test_one_process_serves_all_calls():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        first = pid_of(crib, "s")
        done = await asyncio.gather(*(called(crib, "mcp_s_echo", {"text": str(i)}) for i in range(50)))
        assert [one.text for one in done] == [str(i) for i in range(50)]
        assert pid_of(crib, "s") == first


@pytest.mark.meets("mcp:session:kept")
async def test_each_user_has_a_session_where_the_server_keeps_something_of_them():
    async with crib_with({"s": plain(keep="user")}) as crib:
        await listed(crib, "s")
        for user in ("ann", "bob", "ann"):
            assert (await called(crib, "mcp_s_echo", {"text": "x"}, user=user)).ok
        assert crib.mcp is not None
        own = crib.mcp._made._own  # type: ignore[union-attr]
        assert sorted(own) == [("s", "user:ann"), ("s", "user:bob")]


async def test_closing_the_crib_ends_the_servers():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        pid = pid_of(crib, "s")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.meets("gateway:recover:two-seconds")
async def test_a_killed_server_is_back_for_the_next_call():
    async with crib_with({"s": plain()}) as crib:
        assert crib.mcp is not None
        await crib.mcp.start()
        await listed(crib, "s")
        os.kill(pid_of(crib, "s"), signal.SIGKILL)
        await until(lambda: "it closed its output" in said(crib, "s") or "it ended with" in said(crib, "s"))
        began = time.monotonic()
        assert (await called(crib, "mcp_s_echo", {"text": "back"})).text == "back"
        assert time.monotonic() - began < 2
        os.kill(pid_of(crib, "s"), signal.SIGKILL)
        await until(lambda: crib.mcp.state("s")[0] is State.CONNECTED and crib.mcp._made._shared["s"]._speaking, 2)  # type: ignore[union-attr]


@pytest.mark.meets("gateway:kill:each-answered")
async def test_kill_in_the_middle_of_a_hundred_calls(tmp_path: Path):
    noted = tmp_path / "calls"
    async with crib_with({"s": plain(noted=noted, at_once=100)}) as crib:
        await listed(crib, "s")
        calls = [asyncio.ensure_future(called(crib, "mcp_s_slow", {"seconds": 0.005, "n": i})) for i in range(100)]
        await until(lambda: noted.exists() and noted.read_text().count("\n") >= 20)
        os.kill(pid_of(crib, "s"), signal.SIGKILL)
        done = await asyncio.wait_for(asyncio.gather(*calls), 20)
        codes = {one.error.code if one.error else "done" for one in done}
        assert codes <= {"done", "unknown_outcome", "server_gone"}
        assert "done" in codes
        ran = [json.loads(line.partition(" ")[2])["n"] for line in noted.read_text().splitlines()]
        assert len(ran) == len(set(ran)), "no call ran twice"
        finished = [i for i, one in enumerate(done) if one.ok]
        assert set(finished) <= set(ran)
        assert (await called(crib, "mcp_s_echo", {"text": "back"})).text == "back"


async def test_a_server_that_dies_in_a_call_says_that_nobody_knows(tmp_path: Path):
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        died = await called(crib, "mcp_s_die")
        assert died.error is not None
        assert (died.error.code, died.error.retryable) == ("unknown_outcome", False)
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok


@pytest.mark.meets("gateway:hanging:isolated", "mcp:bad-server:bounded")
async def test_a_server_that_never_answers_delays_nobody():
    async with crib_with({"hangs": plain("silent"), "good": plain()}) as crib:
        assert crib.mcp is not None
        began = time.monotonic()
        await crib.mcp.start()
        await until(lambda: "mcp_good_echo" in crib.view("helper"), 5)
        assert time.monotonic() - began < 1.5
        assert (await called(crib, "mcp_good_echo", {"text": "x"})).ok
        assert crib.mcp.state("hangs")[0] is State.CONNECTING


@pytest.mark.meets("gateway:catalogue:first")
async def test_known_tools_are_there_at_once_and_connect_when_they_are_called(tmp_path: Path):
    from toolcrib.app import open_crib

    config = tmp_path / "toolcrib.yaml"
    config.write_text(json.dumps({"agents": {"helper": {"tools": ["group:mcp"]}}, "mcpServers": {"s": plain()}}))
    async with await open_crib(home=str(tmp_path), config=str(config), env={}) as crib:
        await listed(crib, "s")
    async with await open_crib(home=str(tmp_path), config=str(config), env={}) as crib:
        assert "mcp_s_echo" in crib.view("helper")
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).text == "x"


@pytest.mark.meets("mcp:bad-server:bounded")
async def test_a_flood_on_standard_error_is_kept_within_bounds():
    async with crib_with({"s": plain("flood")}) as crib:
        await listed(crib, "s")
        assert crib.mcp is not None
        assert len(crib.mcp.said("s")) <= 501
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok


@pytest.mark.meets("mcp:bad-server:bounded")
async def test_lines_that_are_no_json_are_noted_and_passed_over():
    async with crib_with({"s": plain("garbage")}) as crib:
        await listed(crib, "s")
        assert "what is no JSON" in said(crib, "s")
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok


@pytest.mark.meets("mcp:bad-server:bounded")
async def test_an_answer_with_another_number_is_nobodys_answer():
    async with crib_with({"s": plain("wrong", seconds=1)}) as crib:
        await listed(crib, "s")
        call = await called(crib, "mcp_s_echo", {"text": "x"})
        assert call.error is not None
        assert call.error.code == "timeout"
        assert "an answer to no request" in said(crib, "s")


@pytest.mark.meets("mcp:bad-server:bounded")
async def test_a_message_of_a_hundred_megabytes_ends_the_server_and_not_us():
    async with crib_with({"s": plain(), "good": plain()}) as crib:
        await listed(crib, "s", "good")
        huge, fine = await asyncio.gather(called(crib, "mcp_s_huge"), called(crib, "mcp_good_echo", {"text": "x"}))
        assert huge.error is not None
        assert "longer than 32 MB" in huge.error.message
        assert fine.ok
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok


@pytest.mark.meets("mcp:bad-server:bounded")
async def test_a_long_answer_holds_up_no_other_call():
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"
    async with crib_with({"s": plain(), "good": plain()}) as crib:
        await listed(crib, "s", "good")
        long = asyncio.ensure_future(called(crib, "mcp_s_long", {"text": secret}))
        waits: list[float] = []
        while not long.done():
            began = time.monotonic()
            assert (await called(crib, "mcp_good_echo", {"text": "x"})).text == "x"
            waits.append(time.monotonic() - began)
        done = await long
        assert done.ok
        assert len(json.dumps(done.wire)) > 2_000_000
        assert secret not in json.dumps(done.wire)
        assert max(waits) < 0.5  # the scrubber needs some seconds for it


@pytest.mark.meets("mcp:bad-server:bounded")
async def test_a_long_notification_is_dropped_and_said_so():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        link = Asker()
        token = LINK.set(link)
        try:
            assert (await called(crib, "mcp_s_loud")).ok
        finally:
            LINK.reset(token)
        assert [params["data"] for method, params in link.heard if method == "notifications/message"] == ["heard"]
        assert "notifications/message was dropped: it is longer than 64 KB" in said(crib, "s")


@pytest.mark.meets("mcp:bad-server:bounded")
@pytest.mark.parametrize("levels", [700, 900])
async def test_an_answer_that_is_nested_too_deeply_is_said_to_be(levels: int):
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        deep = await called(crib, "mcp_s_deep", {"levels": levels})
        assert deep.error is not None
        assert deep.error.code == "bad_response"
        assert "nested too deeply" in deep.error.message
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).text == "x"


async def test_a_program_that_is_not_there_is_named():
    async with crib_with({"s": {"command": "/no/such/program"}}) as crib:
        with pytest.raises(ServerGone, match="/no/such/program could not be started: No such file"):
            await listed(crib, "s")


async def test_what_a_server_calls_a_failure_is_one_and_goes_on_as_it_came():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        failed = await called(crib, "mcp_s_fail")
        assert failed.error is not None
        assert (failed.status.value, failed.error.code, failed.error.message) == (
            "failed",
            "tool_failed",
            "it did not work",
        )
        assert failed.wire == {"content": [{"type": "text", "text": "it did not work"}], "isError": True}


async def test_secrets_are_taken_out_of_what_is_handed_on():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB"
        done = await called(crib, "mcp_s_echo", {"text": f"key {secret}"})
        assert secret not in done.text
        assert secret not in json.dumps(done.wire)


async def test_progress_and_log_messages_reach_whoever_asked():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        asker = Asker()
        LINK.set(asker)
        try:
            assert (await called(crib, "mcp_s_count")).ok
        finally:
            LINK.set(None)
        progress = [params for method, params in asker.heard if method == "notifications/progress"]
        assert progress == [{"progressToken": "mine", "progress": i} for i in range(3)]
        assert ("notifications/message", {"level": "info", "data": "counted"}) in asker.heard


async def test_a_question_of_the_server_reaches_whoever_asked():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        asker = Asker(elicitation={})
        LINK.set(asker)
        try:
            done = await called(crib, "mcp_s_ask")
        finally:
            LINK.set(None)
        assert asker.asked == ["Sure?"]
        assert json.loads(done.text) == {"action": "accept", "content": {}}
        alone = await called(crib, "mcp_s_ask")
        assert json.loads(alone.text)["message"] == "Nobody here can answer elicitation/create."


async def test_a_changed_list_is_followed():
    async with crib_with({"s": plain(accept_new=True)}) as crib:
        await listed(crib, "s")
        heard: list[tuple[str, str]] = []
        assert crib.mcp is not None
        stop = crib.mcp.listen(lambda server, method, params: heard.append((server, method)))
        assert (await called(crib, "mcp_s_grow")).ok
        await until(lambda: "mcp_s_grown" in crib.view("helper"))
        assert heard == [("s", "notifications/tools/list_changed")]
        stop()
        assert (await called(crib, "mcp_s_grown")).text == "grown"


async def test_a_call_that_takes_too_long_is_given_up_and_the_server_told():
    async with crib_with({"s": plain(seconds=0.3)}) as crib:
        await listed(crib, "s")
        assert crib.mcp is not None
        session = await crib.mcp.get("s")
        with pytest.raises(TimedOut):
            await session.request("tools/call", {"name": "slow", "arguments": {"seconds": 1}}, seconds=0.2)
        slow = await called(crib, "mcp_s_slow", {"seconds": 5})
        assert slow.error is not None
        assert slow.error.code == "timeout"


async def test_too_many_at_once_wait_for_their_turn():
    async with crib_with({"s": plain(at_once=1, seconds=0.5)}) as crib:
        await listed(crib, "s")
        first = asyncio.ensure_future(called(crib, "mcp_s_slow", {"seconds": 0.4}))
        done = await asyncio.gather(first, called(crib, "mcp_s_echo", {"text": "x"}))
        assert [one.ok for one in done] == [True, True]


async def test_other_requests_go_through_the_same_session():
    async with crib_with({"s": plain()}) as crib:
        await listed(crib, "s")
        assert crib.mcp is not None
        session = await crib.mcp.get("s")
        assert (session.facts.instructions, session.facts.modern) == ("Be kind.", False)
        with pytest.raises(McpFault) as fault:
            await session.request("resources/list", {})
        assert (fault.value.number, fault.value.message) == (-32601, "Method not found")


@pytest.mark.meets("mcp:reconnect:backoff")
async def test_a_server_that_cannot_be_started_fails_visibly_and_is_tried_again_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from toolcrib.machine.mcp import kept

    assert kept._LONG == (2, 4, 8, 16, 32, 60, 60, 60, 60, 60)
    assert kept.HEALTH_SECONDS == 30
    monkeypatch.setattr(kept, "_QUICK", (0.01,))
    monkeypatch.setattr(kept, "_LONG", (0.01,) * 3)
    program = tmp_path / "server"
    async with crib_with({"s": {"command": str(program), "args": []}}) as crib:
        assert crib.mcp is not None
        await crib.mcp.start()
        await until(lambda: crib.mcp.state("s")[0] is State.FAILED)  # type: ignore[union-attr]
        assert "could not be started" in crib.mcp.state("s")[1]
        script = Path(__file__).parent / "plain_server.py"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
        program.chmod(0o755)
        crib.mcp.retry("s")
        await until(lambda: crib.mcp.state("s")[0] is State.CONNECTED)  # type: ignore[union-attr]


async def test_a_server_is_connected_anew_when_somebody_wants_it():
    async with crib_with({"s": plain()}) as crib:
        assert crib.mcp is not None
        await crib.mcp.start()
        await listed(crib, "s")
        first = pid_of(crib, "s")
        crib.mcp.retry("s")
        await until(lambda: "connected anew" in said(crib, "s"))
        await until(lambda: crib.mcp.state("s")[0] is State.CONNECTED)  # type: ignore[union-attr]
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok
        assert pid_of(crib, "s") != first


@pytest.mark.meets("mcp:health:thirty-seconds")
async def test_a_server_that_stops_answering_pings_is_started_again(monkeypatch: pytest.MonkeyPatch):
    from toolcrib.machine.mcp import kept

    monkeypatch.setattr(kept, "HEALTH_SECONDS", 0.2)
    async with crib_with({"s": plain()}) as crib:
        assert crib.mcp is not None
        await crib.mcp.start()
        await listed(crib, "s")
        first = pid_of(crib, "s")
        os.kill(first, signal.SIGSTOP)
        await until(lambda: "it does not answer any more" in said(crib, "s"))
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok
        assert pid_of(crib, "s") != first
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


async def test_a_read_that_was_lost_is_asked_again_where_the_server_is_trusted(tmp_path: Path):
    noted = tmp_path / "calls"
    async with crib_with({"s": plain(noted=noted, trust_hints=True)}) as crib:
        await listed(crib, "s")
        os.kill(pid_of(crib, "s"), signal.SIGSTOP)
        call = asyncio.ensure_future(called(crib, "mcp_s_read_file", {"path": "x"}))
        await asyncio.sleep(0.1)
        os.kill(pid_of(crib, "s"), signal.SIGKILL)
        assert (await call).text == "read_file"


async def test_a_server_runs_inside_walls_when_asked():
    async with crib_with({"s": plain(sandbox=True)}) as crib:
        try:
            await listed(crib, "s")
        except ServerGone as error:
            if "walls" in error.message:
                pytest.skip("there are no walls on this machine")
            raise
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).text == "x"
        environment = json.loads((await called(crib, "mcp_s_environment")).text)
        assert environment["HOME"] != os.environ["HOME"]
        assert (await called(crib, "mcp_s_die")).error is not None
        assert (await called(crib, "mcp_s_echo", {"text": "x"})).ok
