"""A whole crib: opened from a home folder, with turns, temporary grants, user-made toolboxes and long results."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolcrib import BadConfig, Crib, Request, tool
from toolcrib.app import open_crib
from toolcrib.core.errors import ToolError
from toolcrib.core.guard import Call, Verdict
from toolcrib.services.access import Lifetime
from toolcrib.services.record.audit import Query
from toolcrib.services.shelf import Box


@tool(effect="read", parallel=True)
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def echo(text: str, times: int = 1) -> str:
    """Say it again."""
    return text * times


@tool(effect="destroy")
async def wipe() -> str:
    """Delete everything."""
    return "wiped"


async def _home(path: Path, text: str, **more: Any) -> Crib:
    path.mkdir(exist_ok=True)
    (path / "toolcrib.yaml").write_text(text, encoding="utf-8")
    return await open_crib(home=str(path), env={}, **more)


@pytest.mark.meets("config:home:found", "config:agent:short")
async def test_a_home_with_one_line_for_an_agent_is_enough(tmp_path: Path):
    crib = await _home(tmp_path / "home", "agents: {helper: {toolboxes: [scout]}}\n", workspace=str(tmp_path))
    async with crib:
        (tmp_path / "a.txt").write_text("hello\n", encoding="utf-8")
        outcome = await crib.call("read_file", {"path": "a.txt"}, agent="helper")
        assert "hello" in outcome.text
        refused = await crib.call("write_file", {"path": "b.txt", "content": "x"}, agent="helper")
        assert refused.error is not None
        assert refused.error.code == "not_issued"
        page = await crib.store.audit.entries(Query(oldest_first=True))
        assert [(entry.tool, entry.status) for entry in page.entries] == [
            ("read_file", "done"),
            ("write_file", "refused"),
        ]


@pytest.mark.meets("config:yaml:all-or-nothing", "names:unknown:refused")
async def test_a_home_whose_configuration_names_what_is_not_there_does_not_open(tmp_path: Path):
    with pytest.raises(BadConfig) as refused:
        await _home(tmp_path / "home", "agents:\n  helper:\n    toolboxes: [reserch]\n")
    assert [problem.line for problem in refused.value.problems] == [3]
    assert "research" in str(refused.value)


async def test_without_a_store_nothing_is_written(tmp_path: Path):
    crib = await open_crib(home=str(tmp_path / "home"), needs_store=False, env={})
    await crib.close()
    assert list(tmp_path.iterdir()) == []


async def test_the_home_folder_is_for_its_owner_only(tmp_path: Path):
    async with await open_crib(home=str(tmp_path / "home"), env={}):
        assert (tmp_path / "home").stat().st_mode & 0o077 == 0
        assert (tmp_path / "home" / "toolcrib.db").stat().st_mode & 0o077 == 0


async def test_a_call_of_an_agent_that_does_not_exist_is_refused_and_recorded():
    async with Crib([add], {"clerk": ["add"]}) as crib:
        outcome = await crib.call("add", {"a": 1, "b": 2}, agent="clark")
        assert outcome.error is not None
        assert outcome.error.code == "unknown_agent"
        assert "clerk" in outcome.error.hint
        page = await crib.store.audit.entries()
        assert [entry.code for entry in page.entries] == ["unknown_agent"]


async def test_an_agent_with_a_name_that_means_nothing_is_refused():
    with pytest.raises(BadConfig, match=r"ad.*add"):
        Crib([add], {"clerk": ["ad"]})


@pytest.mark.parametrize("entries", ["add", 5, None])
async def test_an_agent_that_is_no_list_and_no_mapping_is_refused(entries: Any):
    with pytest.raises(BadConfig, match="must be a list of toolbox and tool names"):
        Crib([add], {"clerk": entries})


@pytest.mark.meets("resolve:grants:temporary", "access:decide:once-only", "access:decide:lifetimes")
@pytest.mark.parametrize(
    ("lifetime", "answers"), [(Lifetime.ONCE, [None, "not_issued"]), (Lifetime.SESSION, [None, None])]
)
async def test_a_granted_tool_is_held_from_the_next_turn_on(lifetime: Lifetime, answers: list[str | None]):
    async with Crib([add, echo], {"clerk": ["add"]}) as crib:
        access = crib.store.access
        asked = await access.request(agent="clerk", session="s1", user="", tools=["echo"], reason="to say it again")
        running = await crib.turn("clerk", session="s1")
        await access.decide(asked.id, by="a person", approve=["echo"], lifetime=lifetime)
        assert "echo" not in running.view
        codes: list[str | None] = []
        for _ in answers:
            outcome = await crib.call("echo", {"text": "x"}, agent="clerk", session="s1")
            codes.append(outcome.error.code if outcome.error else None)
        assert codes == answers
        assert "echo" not in (await crib.turn("clerk", session="s2")).view


async def test_a_grant_for_once_lets_only_one_of_two_running_turns_call():
    async with Crib([add, echo], {"clerk": ["add"]}) as crib:
        access = crib.store.access
        asked = await access.request(agent="clerk", session="s1", user="", tools=["echo"], reason="to say it again")
        await access.decide(asked.id, by="a person", approve=["echo"], lifetime=Lifetime.ONCE)
        turns = [await crib.turn("clerk", session="s1") for _ in range(2)]
        outcomes = await asyncio.gather(*[turn.call("echo", {"text": "x"}) for turn in turns])
        assert sorted(outcome.ok for outcome in outcomes) == [False, True]
        assert len((await crib.store.audit.entries()).entries) == 2


async def test_a_toolbox_made_by_one_process_is_there_for_another(tmp_path: Path):
    text = "agents: {maker: {toolboxes: [all]}}\n"
    one = await _home(tmp_path / "home", text)
    two = await _home(tmp_path / "home", text)
    async with one, two:
        made = await one.call("create_toolbox", {"name": "desk", "tools": ["think"]}, agent="maker")
        assert made.ok, made.text
        listed = await two.call("list_toolboxes", {}, agent="maker")
        assert "desk" in listed.text


async def test_a_deleted_toolbox_leaves_the_agents_that_use_it_with_the_floor(tmp_path: Path):
    home = tmp_path / "home"
    async with await _home(home, "agents: {maker: {toolboxes: [all]}}\n") as crib:
        await crib.call("create_toolbox", {"name": "desk", "tools": ["glob"]}, agent="maker")
    async with await _home(home, "agents: {maker: {toolboxes: [all]}, user: {toolboxes: [desk]}}\n") as crib:
        assert "glob" in crib.view("user")
        gone = await crib.call("delete_toolbox", {"toolbox": "desk", "confirm": True}, agent="maker")
        assert gone.ok, gone.text
        assert "glob" not in (await crib.turn("user")).view
        assert "read_file" in (await crib.turn("user")).view


@pytest.mark.meets("toolkit:change:next-request", "toolkit:state:persisted")
async def test_a_loaded_toolkit_is_there_on_the_next_request_and_after_a_restart(tmp_path: Path):
    text = """
toolkits:
  finder: {description: Find files, tools: [glob]}
agents:
  helper: {allowed_toolkits: [finder]}
"""
    async with await _home(tmp_path / "home", text, workspace=str(tmp_path)) as crib:
        turn = await crib.turn("helper", session="s1")
        told = await turn.call("load_tools", {"toolkit": "finder"})
        assert isinstance(told.structured, dict)
        assert told.structured["takes_effect"] == "next_request"
        again = await turn.call("glob", {"pattern": "*"})
        assert again.error is not None
        assert "load_tools" in again.error.message
        assert (await crib.call("glob", {"pattern": "*"}, agent="helper", session="s1")).ok
    async with await _home(tmp_path / "home", text, workspace=str(tmp_path)) as crib:
        assert (await crib.call("glob", {"pattern": "*"}, agent="helper", session="s1")).ok
        assert not (await crib.call("glob", {"pattern": "*"}, agent="helper", session="s2")).ok


@pytest.mark.meets("result:size:spilled", "result:size:read-result")
async def test_a_long_result_is_cut_and_can_be_read_whole(workspace: Path):
    agents = {"clerk": ["echo", "read_result"], "floor": ["echo"]}
    async with Crib([echo], agents, native=True, workspace=str(workspace)) as crib:
        turn = await crib.turn("clerk", session="s1")
        cut = await turn.call("echo", {"text": "0123456789", "times": 10_000})
        assert len(cut.text) < 20_000
        assert cut.text.startswith("0123456789")
        assert cut.text.endswith("0123456789")
        assert f'read_result {{"id": "{cut.spilled}"' in cut.text
        rest = await turn.call("read_result", {"id": cut.spilled, "offset": 99_990, "limit": 100})
        assert "0123456789" in rest.text
        other = await (await crib.turn("clerk", session="s2")).call("read_result", {"id": cut.spilled})
        assert other.error is not None

        plain = await crib.turn("floor", session="s1")
        told = await plain.call("echo", {"text": "0123456789", "times": 10_000})
        path = f".toolcrib/results/{told.spilled}"
        assert path in told.text
        read = await plain.call("read_file", {"path": path})
        assert "0123456789" in read.text


async def test_a_question_to_a_person_is_asked_and_its_answer_is_on_record():
    asked: list[str] = []

    def approve(call: Call, verdicts: Sequence[Verdict]) -> bool:
        asked.append(f"{call.tool.name}: {verdicts[0].why}")
        return len(asked) == 1

    config = {"clerk": ["wipe"]}
    from toolcrib.services.config.values import Config

    async with Crib([wipe], config, config=Config(confirm=("destroy",)), approve=approve) as crib:
        first = await crib.call("wipe", agent="clerk")
        second = await crib.call("wipe", agent="clerk")
        assert first.text == "wiped"
        assert second.error is not None
        assert second.error.code == "approval_denied"
        page = await crib.store.audit.entries(Query(oldest_first=True))
        assert [entry.approval for entry in page.entries] == ["allowed", "denied"]
        assert "wipe: wipe may delete or overwrite" in asked[0]


async def test_batches_of_a_turn_keep_their_order():
    async with Crib([add, echo], {"clerk": ["add", "echo"]}) as crib:
        turn = await crib.turn("clerk")
        answers = await turn.batch(
            [
                Request("add", {"a": 1, "b": 2}),
                Request("echo", {"text": "x"}),
                Request("nope"),
                Request("add", {"a": 3, "b": 4}),
            ]
        )
        assert [answer.text for answer in answers if answer.ok] == ["3", "x", "7"]
        assert answers[2].error is not None


async def test_a_home_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ToolError, match=r"cannot be made"):
        await open_crib(home=str(tmp_path / "file" / "home"), env={})


async def test_values_of_named_environment_variables_are_scrubbed(tmp_path: Path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "toolcrib.yaml").write_text("scrub: {env: [MY_TOKEN]}\nagents: {helper: [all]}\n", encoding="utf-8")
    env = {"MY_TOKEN": "plain words nobody would guess"}
    async with await open_crib(home=str(home), workspace=str(tmp_path), env=env) as crib:
        (tmp_path / "a.txt").write_text("it says: plain words nobody would guess\n", encoding="utf-8")
        outcome = await crib.call("read_file", {"path": "a.txt"}, agent="helper")
        assert "nobody" not in outcome.text
        assert "it says" in outcome.text


async def test_an_agents_own_workspace_is_where_it_works(tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "who.txt").write_text(name, encoding="utf-8")
    text = f"""
workspace: {tmp_path / "one"}
agents:
  a: {{}}
  b: {{workspace: {tmp_path / "two"}}}
"""
    async with await _home(tmp_path / "home", text) as crib:
        assert "one" in (await crib.call("read_file", {"path": "who.txt"}, agent="a")).text
        assert "two" in (await crib.call("read_file", {"path": "who.txt"}, agent="b")).text
        outside = os.path.relpath(tmp_path / "two" / "who.txt", tmp_path / "one")
        refused = await crib.call("read_file", {"path": outside}, agent="a")
        assert refused.error is not None
        assert refused.error.code == "path_outside_workspace"


async def test_an_agent_cannot_give_itself_more_through_a_toolbox_that_it_uses(tmp_path: Path):
    home = tmp_path / "home"
    async with await _home(home, "agents: {boss: [all]}\n") as crib:
        await crib.call("create_toolbox", {"name": "desk", "tools": ["update_toolbox"]}, agent="boss")
    async with await _home(home, "agents: {boss: [all], clerk: {toolboxes: [desk]}}\n") as crib:
        refused = await crib.call("update_toolbox", {"toolbox": "desk", "add": ["glob"]}, agent="clerk")
        assert refused.error is not None
        assert refused.error.code == "TOOLBOX_OWN_GAIN"
        assert "glob" in refused.error.message
        assert "glob" not in (await crib.turn("clerk")).view
        assert (await crib.call("update_toolbox", {"toolbox": "desk", "add": ["think"]}, agent="clerk")).ok
        assert (await crib.call("update_toolbox", {"toolbox": "desk", "add": ["glob"]}, agent="boss")).ok
        assert "glob" in (await crib.turn("clerk")).view


@pytest.mark.meets("toolbox:builtin:synced")
async def test_built_in_toolboxes_are_what_the_program_says_whatever_the_store_holds(tmp_path: Path):
    home = tmp_path / "home"
    async with await _home(home, "agents: {boss: [all]}\n") as crib:
        fresh = crib.resolver.grants.toolboxes["scout"]
        # Somebody wrote a box of that name into the store, as an older version or another program might have.
        await crib.store.shelf.create(Box(name="Scout", tools=("write_file",)))
    async with await _home(home, "agents: {boss: [all], looker: {toolboxes: [scout]}}\n") as crib:
        assert crib.resolver.grants.toolboxes["scout"] == fresh
        assert "write_file" not in (await crib.turn("looker")).view
