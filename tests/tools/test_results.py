"""read_result over a result that was cut."""

from pathlib import Path

import msgspec
import pytest

from toolcrib.app import Crib, Turn

LONG = "".join(f"line {i:05d}\n" for i in range(4_000))


async def recite() -> str:
    """Say it all."""
    return LONG


@pytest.fixture
def crib(workspace: Path) -> Crib:
    return Crib(
        [recite], {"ann": ["recite", "read_result"], "ben": ["read_result"]}, native=True, workspace=str(workspace)
    )


async def spilled(turn: Turn) -> str:
    outcome = await turn.call("recite")
    assert outcome.spilled
    return outcome.spilled


@pytest.mark.meets("result:size:spilled", "result:size:read-result")
@pytest.mark.parametrize("limit", [999, 8_000, 16_000])
async def test_a_cut_result_can_be_read_whole_piece_by_piece(crib: Crib, limit: int):
    turn = await crib.turn("ann", session="s")
    name = await spilled(turn)
    read, offset = "", 0
    while offset is not None:
        outcome = await turn.call("read_result", {"id": name, "offset": offset, "limit": limit})
        assert not outcome.spilled
        piece, _, _ = outcome.text.rpartition("\n\n[Characters")
        read += piece
        offset = msgspec.to_builtins(outcome.structured)["next_offset"]
    assert read == LONG


@pytest.mark.meets("result:size:read-result")
async def test_a_piece_is_never_cut_itself_and_says_how_to_go_on(crib: Crib):
    turn = await crib.turn("ann", session="s")
    name = await spilled(turn)
    outcome = await turn.call("read_result", {"id": name, "limit": 16_000})
    assert len(outcome.text) > 16_000
    assert f'read_result {{"id": "{name}", "offset": 16000}}' in outcome.text
    last = await turn.call("read_result", {"id": name, "offset": len(LONG) - 5})
    assert last.text.endswith("That is the end.]")


@pytest.mark.meets("result:size:read-result")
async def test_nobody_else_reads_it(crib: Crib):
    name = await spilled(await crib.turn("ann", session="s"))
    for agent, session in (("ben", "s"), ("ann", "t"), ("ann", "")):
        outcome = await crib.call("read_result", {"id": name}, agent=agent, session=session)
        assert outcome.error is not None
        assert outcome.error.code == "result_not_found"


async def test_an_offset_behind_the_end_is_told(crib: Crib):
    turn = await crib.turn("ann", session="s")
    outcome = await turn.call("read_result", {"id": await spilled(turn), "offset": len(LONG)})
    assert outcome.error is not None
    assert outcome.error.code == "bad_range"
