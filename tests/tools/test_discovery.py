"""Searching over several requests."""

from pathlib import Path

import msgspec
import pytest

from toolcrib.app import Crib
from toolcrib.core.tool import Effect, tool


@tool(effect=Effect.READ)
async def zip_folder(*, folder: str) -> str:
    """Pack a folder into an archive."""
    return f"packed {folder}"


def filler(number: int):
    @tool(name=f"filler_{number:02}", effect=Effect.READ)
    async def fill() -> str:
        """Fill the prompt."""
        return "filled"

    return fill


@pytest.fixture
def crib(workspace: Path) -> Crib:
    agents = {"ann": {"toolboxes": ["all"], "tool_limit": 40}, "ben": {"toolboxes": ["all"], "tool_limit": 40}}
    return Crib([zip_folder, *map(filler, range(60))], agents, native=True, workspace=str(workspace))


@pytest.mark.meets("search-tools:shows", "resolve:shown:limit")
async def test_a_deferred_tool_that_was_found_stands_in_the_next_prompt(crib: Crib):
    turn = await crib.turn("ann", session="s")
    assert len(turn.view.shown) == 40
    assert "zip_folder" in {tool.name for tool in turn.view.deferred}
    outcome = await turn.call("search_tools", {"query": "pack it all into an archive"})
    assert outcome.text.splitlines()[0] == "zip_folder: Pack a folder into an archive."
    assert "From your next request on you see: zip_folder" in outcome.text
    assert msgspec.to_builtins(outcome.structured)["tools"][0]["schema"]["required"] == ["folder"]
    assert (await turn.call("zip_folder", {"folder": "x"})).text == "packed x", "it is callable at once"
    assert "zip_folder" in {tool.name for tool in (await crib.turn("ann", session="s")).view.shown}
    for agent, session in (("ann", "t"), ("ben", "s")):
        assert "zip_folder" not in {tool.name for tool in (await crib.turn(agent, session=session)).view.shown}


async def test_what_is_in_the_prompt_already_is_not_promised_again(crib: Crib):
    turn = await crib.turn("ann", session="s")
    outcome = await turn.call("search_tools", {"query": "think"})
    assert "next request" not in outcome.text
    assert crib.catalogue is not None
    assert crib.catalogue.found("ann", "s") == ()
