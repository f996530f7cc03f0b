"""Tools that ask by their own nature, and effects that people chose to confirm."""

import pytest

from tests.core.test_resolver import made
from tests.guards.calls import call
from toolcrib.core.tool import Effect
from toolcrib.guards.confirm import Confirm

WIPE = made("wipe", effect=Effect.DESTROY)
BIN = made("bin", effect=Effect.DESTROY, undoable=True)
SAVE = made("save", effect=Effect.WRITE)
LOOK = made("look", effect=Effect.READ)
RESTART = made("restart", effect=Effect.READ, approval=True)


@pytest.mark.meets("guard:verdict:allow-ask-deny")
def test_without_a_choice_only_tools_that_always_ask_are_watched() -> None:
    guard = Confirm()
    assert [tool.name for tool in (WIPE, BIN, SAVE, LOOK, RESTART) if guard.watches(tool)] == ["restart"]
    verdict = guard.check(call(RESTART))
    assert (verdict.action, verdict.rule, verdict.why) == ("ask", "approval", "restart always asks")


def test_chosen_effects_ask_and_say_whether_they_can_be_undone() -> None:
    guard = Confirm(["destroy", "write"])
    assert [tool.name for tool in (WIPE, BIN, SAVE, LOOK) if guard.watches(tool)] == ["wipe", "bin", "save"]
    assert guard.check(call(WIPE)).why == "wipe may delete or overwrite, and cannot be undone"
    assert guard.check(call(BIN)).why == "bin may delete or overwrite"
    assert guard.check(call(SAVE)).rule == "confirm:write"


def test_an_effect_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="burn"):
        Confirm(["burn"])
