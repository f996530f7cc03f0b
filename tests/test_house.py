"""A house: what happens in it is told to whoever watches, also what other processes did."""

from pathlib import Path

import pytest

from toolcrib.app import open_crib
from toolcrib.app.house import House, open_house
from toolcrib.core.errors import ToolError
from toolcrib.services.events import APPROVAL, CALL, CHANGE, WAITING, Events, Listener

CONFIG = "agents:\n  a: {toolboxes: [all]}\nconfirm: [write]\n"
SECONDS = 30


async def opened(tmp_path: Path) -> House:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "toolcrib.yaml").write_text(CONFIG, encoding="utf-8")
    return await open_house(home=str(home), workspace=str(tmp_path), env={})


async def until(listener: Listener, kind: str) -> dict[str, object]:
    while (event := await listener.next(SECONDS)) is not None:
        if event.kind == kind:
            return event.data
    raise AssertionError(f"no {kind} came")


async def test_calls_requests_and_changes_are_told_without_secrets(tmp_path: Path) -> None:
    async with await opened(tmp_path) as house:
        listener = house.events.listen()
        await house.crib.call("think", {"thought": "password=hunter2-and-more-of-it"}, agent="a")
        told = await until(listener, CALL)
        assert (told["tool"], told["agent"], "hunter2-and" in str(told)) == ("think", "a", False)
        standing = await house.calls.begin("a", "write_file", {"path": "x", "content": "y"})
        asked = await until(listener, APPROVAL)
        assert (asked["call"], asked["state"]) == (standing.id, "pending")
        assert await standing.settled(SECONDS) is None
        assert standing.approval == asked["id"]
        await house.crib.approvals.answer(str(asked["id"]), "deny", by="me")
        outcome = await standing.settled(SECONDS, through=True)
        assert outcome is not None
        assert outcome.error is not None
        house.changed("agents", name="b")
        assert (await until(listener, CHANGE))["what"] == "agents"


async def test_what_another_process_asks_is_told_here(tmp_path: Path) -> None:
    async with await opened(tmp_path) as house:
        task = house.begin(house.look())
        listener = house.events.listen(kinds=[APPROVAL])
        async with await open_crib(home=str(tmp_path / "home"), workspace=str(tmp_path), env={}) as other:
            seen = None
            for number in range(5):  # the first look only takes notice of what waits already
                await other.call("write_file", {"path": f"x{number}", "content": "y"}, agent="a")
                seen = await listener.next(3)
                if seen is not None:
                    break
        assert seen is not None
        assert seen.data["tool"] == "write_file"
        assert not task.done()


async def test_what_another_process_calls_is_told_here_once(tmp_path: Path) -> None:
    async with await opened(tmp_path) as house:
        house.begin(house.look())
        listener = house.events.listen(kinds=[CALL])
        async with await open_crib(home=str(tmp_path / "home"), workspace=str(tmp_path), env={}) as other:
            await house.crib.call("think", {"thought": "here"}, agent="a")
            assert "here" in str((await until(listener, CALL))["arguments"])
            seen = None
            for number in range(5):  # the first look only takes notice of where the record ends
                await other.call("think", {"thought": f"there {number} password=hunter2-and-more-of-it"}, agent="a")
                seen = await listener.next(3)
                if seen is not None:
                    break
            assert seen is not None
            assert "there" in seen.data["arguments"]
            assert "hunter2-and" not in str(seen.data)
            await house.crib.call("think", {"thought": "the last"}, agent="a")
            told = [seen.data]
            while (more := await listener.next(3)) is not None:
                told.append(more.data)
        assert len({one["id"] for one in told}) == len(told)
        assert [one["arguments"] for one in told if "the last" in one["arguments"]] == ['{"thought":"the last"}']
        assert not [one for one in told if one["arguments"] == '{"thought":"here"}']


async def test_a_second_house_in_one_home_is_refused_and_the_first_one_goes_on(tmp_path: Path) -> None:
    async with await opened(tmp_path) as house:
        with pytest.raises(ToolError, match="already"):
            await open_house(home=str(tmp_path / "home"), env={})
        assert (await house.crib.call("think", {"thought": "x"}, agent="a")).ok
    async with await open_house(home=str(tmp_path / "home"), workspace=str(tmp_path), env={}) as again:
        assert again.auth


async def test_a_watcher_resumes_by_number_and_a_slow_one_is_told_to() -> None:
    events = Events(kept=5)
    first = [events.publish(CALL, {"n": n}).id for n in range(3)]
    again = events.listen(after=first[0])
    assert [(await again.next(1)).data["n"] for _ in range(2)] == [1, 2]  # type: ignore[union-attr]
    assert not again.gap
    for n in range(10):
        events.publish(CALL, {"n": n})
    assert events.listen(after=first[0]).gap
    slow = events.listen()
    for n in range(WAITING + 1):
        events.publish(CALL, {"n": n})
    assert (slow.lost, slow.closed) == (True, True)
    events.close()
    assert events.listen().over


async def test_numbers_go_on_after_a_restart() -> None:
    before, after = Events(clock=lambda: 1000.0), Events(clock=lambda: 1001.0)
    assert before.publish(CALL, {}).id < after.publish(CALL, {}).id
