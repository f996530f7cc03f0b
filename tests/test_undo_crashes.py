"""Undo after kill -9 at every moment: what was changed comes back, or it is said truthfully that nothing was."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.undo_crasher import MOMENTS, opened
from toolcrib import ToolFailed

CRASHER = Path(__file__).with_name("undo_crasher.py")
HOUSE = Path(__file__).parents[1]
# What is found, and what undo then says or does.
FOUND = {
    "copied": ("old", "not_undoable"),
    "noted": ("old", "nothing_to_undo"),
    "drafted": ("old", "nothing_to_undo"),
    "written": ("new", ""),
    "undo noted": ("new", ""),
    "undo drafted": ("new", ""),
    "undo written": ("old", "nothing_to_undo"),
}


def start(*arguments: str) -> "subprocess.Popen[str]":
    env = {**os.environ, "PYTHONPATH": f"{HOUSE}:{HOUSE / 'src'}"}
    return subprocess.Popen(
        [sys.executable, str(CRASHER), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )


async def undone(place: Path) -> str:
    """Undo the call in another process than the one that made it; the code of what refuses it."""
    crib = opened(place)
    try:
        await crib.undo("w1")
    except ToolFailed as error:
        return error.as_fault().code
    finally:
        await crib.close()
    return ""


@pytest.mark.meets("undo:files:restores")
@pytest.mark.parametrize("moment", MOMENTS)
async def test_after_a_kill_the_file_is_whole_and_undo_restores_or_says_why_not(moment: str, tmp_path: Path):
    (tmp_path / "a.txt").write_text("old")
    with start(str(tmp_path), moment) as child:
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (-signal.SIGKILL, ""), err
    content, code = FOUND[moment]
    assert (tmp_path / "a.txt").read_text() == content
    assert await undone(tmp_path) == code
    assert (tmp_path / "a.txt").read_text() == "old"


@pytest.mark.meets("undo:files:restores")
def test_kills_at_any_time_leave_the_old_file_or_the_new_one(tmp_path: Path):
    """At moments that nobody chose: the file is whole, and undo brings the old one back or there is nothing to undo."""
    choose = random.Random(7)
    for turn in range(4):
        place = tmp_path / str(turn)
        place.mkdir()
        (place / "a.txt").write_text("old")
        with start(str(place), "never") as child:
            while not (place / "crib.db").exists():
                assert child.poll() is None
            with suppress(subprocess.TimeoutExpired):
                child.wait(choose.uniform(0.0, 0.4))
            child.kill()
            child.communicate()
        assert (place / "a.txt").read_text() in {"old", "new"}
        assert asyncio.run(undone(place)) in {"", "not_undoable", "nothing_to_undo", "already_undone"}
        assert (place / "a.txt").read_text() == "old"
