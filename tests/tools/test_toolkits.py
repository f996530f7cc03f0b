"""Toolkits over several requests of a session."""

from pathlib import Path

import msgspec
import pytest

from toolcrib.app import Crib
from toolcrib.services.config.reading import read_config

CONFIG = """
toolkits:
  admin: {tools: [create_toolbox, delete_toolbox]}
  notes: {tools: [glob]}
agents:
  ann: {toolboxes: [], allowed_toolkits: [admin, notes], initial_toolkits: [notes]}
  ben: {toolboxes: [], allowed_toolkits: [admin]}
"""


@pytest.fixture
def crib(workspace: Path) -> Crib:
    return Crib(native=True, config=read_config(CONFIG, env={}), workspace=str(workspace))


@pytest.mark.meets("toolkit:change:next-request", "call:issued:what-to-do")
async def test_a_loaded_toolkit_works_from_the_next_request_on(crib: Crib):
    turn = await crib.turn("ann", session="s")
    assert "glob" in turn.view
    refused = await turn.call("delete_toolbox", {"toolbox": "x", "confirm": True})
    assert refused.error is not None
    assert "toolkit admin is not loaded: call load_tools" in refused.error.message
    assert (await turn.call("load_tools", {"toolkit": "admin"})).ok
    assert (await turn.call("delete_toolbox", {"toolbox": "x", "confirm": True})).error == refused.error
    later = await crib.turn("ann", session="s")
    assert "delete_toolbox" in later.view
    assert "delete_toolbox" not in (await crib.turn("ann", session="t")).view
    assert "delete_toolbox" not in (await crib.turn("ben", session="s")).view


@pytest.mark.meets("toolkit:change:next-request")
async def test_loading_and_unloading_in_one_run_changes_nothing(crib: Crib):
    turn = await crib.turn("ann", session="s")
    names = turn.view.names
    loaded = await turn.call("load_tools", {"toolkit": "admin"})
    unloaded = await turn.call("unload_tools", {"toolkit": "admin"})
    assert [msgspec.to_builtins(outcome.structured)["status"] for outcome in (loaded, unloaded)] == [
        "loaded",
        "unloaded",
    ]
    assert turn.view.names == names
    assert (await crib.turn("ann", session="s")).view.names == names


@pytest.mark.meets("toolkit:meta:only-when-allowed")
async def test_the_three_tools_need_toolkits_and_a_session(crib: Crib):
    for tool in ("list_toolkits", "load_tools", "unload_tools"):
        assert tool in (await crib.turn("ann", session="s")).view
        assert tool not in (await crib.turn("ann")).view
        assert tool not in (await crib.turn("ann", session="s", depth=1)).view
