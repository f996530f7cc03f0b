"""Agents that people make: kept as they are written, checked as a file is, in force at once."""

from typing import Any

import pytest

from toolcrib import Crib
from toolcrib.core.errors import ToolFailed
from toolcrib.services.agents import Agents, Origin
from toolcrib.services.config.reading import read_config

CONFIG = """
toolkits: {finder: {description: Find files, tools: [glob, grep]}}
agents:
  fixed: {toolboxes: [scout], tools: [{write_file: {path: a.txt}}], by_provider: {ollama: {allow: [grep]}}, rate: 5}
"""


def crib(**more: Any) -> Crib:
    return Crib(native=True, config=read_config(CONFIG, source="toolcrib.yaml", env={}), **more)


def service(of: Crib) -> Agents:
    found = of.services[Agents]
    assert isinstance(found, Agents)
    return found


async def code_of(doing: Any) -> str:
    with pytest.raises(ToolFailed) as refused:
        await doing
    return refused.value.as_fault().code


@pytest.mark.meets("agents:kept:in-force")
async def test_an_agent_that_is_made_can_work_at_once() -> None:
    async with crib() as open_crib:
        made = await service(open_crib).create("Helper", {"toolboxes": ["scout"]}, by="ada")
        assert (made.origin, made.revision, made.created_by, made.tools > 5) == (Origin.STORE, 1, "ada", True)
        assert "read_file" in open_crib.view("Helper")
        changed = await service(open_crib).update("helper", {"toolboxes": []}, revision=1)
        assert (changed.revision, changed.definition, changed.created_by) == (2, {"toolboxes": []}, "ada")
        await service(open_crib).delete("helper")
        assert [one.name for one in await service(open_crib).all()] == ["fixed"]
        refused = await open_crib.call("read_file", {"path": "x"}, agent="Helper")
        assert refused.error is not None
        assert refused.error.code == "unknown_agent"


async def test_what_is_written_of_an_agent_can_be_read_back_and_means_the_same() -> None:
    async with crib() as open_crib:
        fixed = await service(open_crib).get("fixed")
        assert fixed.origin is Origin.CONFIGURED
        await service(open_crib).create("copy", fixed.definition)
        assert set(open_crib.view("copy").names) == set(open_crib.view("fixed").names)
        assert (await service(open_crib).get("copy")).definition == fixed.definition


@pytest.mark.parametrize(
    ("definition", "says"),
    [
        ({"toolboxes": ["scuot"]}, "no toolbox 'scuot'"),
        ({"tools": ["raed_file"]}, "raed_file"),
        ({"tols": []}, "'tols' is no key"),
        ({"toolboxes": "scout"}, "must be"),
        ({"rate": "many"}, "rate"),
        ({"allowed_toolkits": ["fnider"]}, "no toolkit 'fnider'"),
    ],
)
async def test_what_means_nothing_is_refused_whole_with_the_place(definition: Any, says: str) -> None:
    async with crib() as open_crib:
        with pytest.raises(ToolFailed, match=says) as refused:
            await service(open_crib).create("helper", definition)
        assert refused.value.as_fault().code == "AGENT_INVALID"
        assert refused.value.data["problems"]
        assert await code_of(service(open_crib).get("helper")) == "not_found"


async def test_an_agent_may_use_the_toolkits_of_the_configuration() -> None:
    async with crib() as open_crib:
        await service(open_crib).create("helper", {"allowed_toolkits": ["Finder"], "initial_toolkits": ["finder"]})
        turn = await open_crib.turn("helper", session="s")
        assert "glob" in turn.view


async def test_names_are_kept_apart_from_those_of_the_configuration() -> None:
    async with crib() as open_crib:
        agents = service(open_crib)
        assert await code_of(agents.create("FIXED", {})) == "name_taken"
        assert await code_of(agents.update("fixed", {})) == "AGENT_CONFIGURED_READONLY"
        assert await code_of(agents.delete("fixed")) == "AGENT_CONFIGURED_READONLY"
        assert await code_of(agents.create("  ", {})) == "AGENT_INVALID"
        await agents.create("helper", {})
        assert await code_of(agents.create("Helper", {})) == "name_taken"
        assert await code_of(agents.delete("nobody")) == "not_found"


async def test_of_two_changes_to_one_revision_the_second_is_refused() -> None:
    async with crib() as open_crib:
        await service(open_crib).create("helper", {})
        await service(open_crib).update("helper", {"description": "a"}, revision=1)
        assert (
            await code_of(service(open_crib).update("helper", {"description": "b"}, revision=1)) == "revision_conflict"
        )
        assert await code_of(service(open_crib).delete("helper", revision=1)) == "revision_conflict"


async def test_denied_paths_and_rates_of_a_kept_agent_hold(tmp_path: Any) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.txt").write_text("x", encoding="utf-8")
    async with crib(workspace=str(tmp_path)) as open_crib:
        await service(open_crib).create("helper", {"deny_paths": ["private"], "rate": 2})
        who = {"agent": "helper", "session": "s"}
        first = await open_crib.call("read_file", {"path": "private/a.txt"}, **who)
        assert first.error is not None
        await service(open_crib).update("helper", {"rate": 2})
        assert (await open_crib.call("read_file", {"path": "private/a.txt"}, **who)).ok
        third = await open_crib.call("read_file", {"path": "private/a.txt"}, **who)
        assert third.error is not None
        assert third.error.code == "rate_limited"
