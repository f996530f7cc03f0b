"""Toolboxes made in conversation, and who holds what after."""

from pathlib import Path

import pytest

from toolcrib.app import Crib


@pytest.mark.meets("toolbox-tools:update", "registry:snapshot:run-keeps-its-own")
async def test_a_change_holds_from_the_next_request_on(workspace: Path):
    crib = Crib(native=True, agents={"admin": ["all"]}, workspace=str(workspace))
    made = await crib.call("create_toolbox", {"name": "mine", "tools": ["glob"]}, agent="admin")
    assert made.ok
    assert [tool.name for tool in crib.resolver.registry.tools_of(crib.resolver.box("mine"))] == ["glob"]
    await crib.call("update_toolbox", {"toolbox": "mine", "add": ["grep"]}, agent="admin")
    assert [tool.name for tool in crib.resolver.registry.tools_of(crib.resolver.box("mine"))] == ["glob", "grep"]
    await crib.call("delete_toolbox", {"toolbox": "mine", "confirm": True}, agent="admin")
    assert crib.resolver.toolbox("mine") is None


async def test_a_toolbox_of_another_process_is_seen_with_the_next_request(workspace: Path):
    one = Crib(native=True, agents={"admin": ["all"]}, workspace=str(workspace))
    two = Crib(native=True, agents={"admin": ["all"]}, store=one.store, workspace=str(workspace))
    await one.call("create_toolbox", {"name": "mine", "tools": ["glob"]}, agent="admin")
    listed = await two.call("list_toolboxes", agent="admin")
    assert "mine (shelf, 1 tools): [glob]" in listed.text


@pytest.mark.meets("resolve:universe:availability")
async def test_a_sub_agent_manages_no_toolboxes(workspace: Path):
    crib = Crib(native=True, agents={"admin": ["all"]}, workspace=str(workspace))
    for tool in ("list_toolboxes", "create_toolbox", "update_toolbox", "delete_toolbox"):
        assert tool in crib.view("admin")
        assert tool not in crib.view("admin", depth=1)
