"""Undo as a person uses it: what a call changed comes back, or it is said exactly why it does not."""

import gc
import os
import stat
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from toolcrib import Crib, ToolFailed, tool
from toolcrib.core.call import Caller
from toolcrib.machine.undo.copies import FileCopies
from toolcrib.services.config.reading import read_config
from toolcrib.services.content.files import BYTES_OF_FILE
from toolcrib.services.store import StoreBusy
from toolcrib.services.todos import Todo
from toolcrib.services.undo.noted import NotedTodos
from toolcrib.services.undo.notes import NOTES, Entry, Notes, UndoLog
from toolcrib.stores import sql
from toolcrib.stores.inprocess.todos import MemoryTodos

CONFIG = """
agents:
  helper: {toolboxes: [all], tools: [post], allowed_toolkits: [web], context_files: predefined}
toolkits:
  web: {description: The web, tools: [browse_url]}
"""


@tool(effect="write", flow=["sends"])
def post(text: str) -> str:
    """Send a text to everybody."""
    return text


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Callable[..., Crib]]:
    """Opens cribs on one store and workspace, as processes do."""
    made: list[Crib] = []
    (tmp_path / "work").mkdir()

    def open_one(**given: Any) -> Crib:
        kept = sql.open_store(f"sqlite:///{tmp_path}/crib.db", scrub=lambda text: text)
        given.setdefault("copies", FileCopies(tmp_path / "undo"))
        config = read_config(CONFIG, env={})
        made.append(Crib([post], native=True, store=kept, config=config, workspace=str(tmp_path / "work"), **given))
        return made[-1]

    yield open_one
    for one in made:
        await one.close()


@pytest.fixture
def crib(opened: Callable[..., Crib]) -> Crib:
    return opened()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return tmp_path / "work"


async def did(crib: Crib, name: str, /, **arguments: Any) -> str:
    """Make a call that has to come about; its id."""
    outcome = await crib.call(name, arguments, agent="helper", session="talk", user="ann")
    assert outcome.ok, outcome
    return outcome.id


async def refused(code: str, crib: Crib, call: str, **how: Any) -> str:
    with pytest.raises(ToolFailed) as caught:
        await crib.undo(call, **how)
    assert caught.value.as_fault().code == code
    return caught.value.message


@pytest.mark.meets("undo:files:restores")
async def test_a_replaced_file_comes_back_byte_by_byte_with_its_mode(crib: Crib, work: Path):
    before = b"\xef\xbb\xbfone\r\ntwo\r\n\xff"
    (work / "a.txt").write_bytes(before)
    (work / "a.txt").chmod(0o750)
    call = await did(crib, "write_file", path="a.txt", content="new")
    done = await crib.undo(call, by="kim")
    assert (work / "a.txt").read_bytes() == before
    assert stat.S_IMODE((work / "a.txt").stat().st_mode) == 0o750
    assert done.did == (f"put back a.txt: {len(before)} bytes",)


@pytest.mark.meets("undo:files:restores")
async def test_a_file_that_a_call_made_goes_with_the_folders_made_for_it(crib: Crib, work: Path):
    call = await did(crib, "write_file", path="deep/er/a.txt", content="new")
    await crib.undo(call)
    assert list(work.iterdir()) == []


async def test_a_folder_that_holds_other_things_by_now_stays(crib: Crib, work: Path):
    call = await did(crib, "write_file", path="deep/a.txt", content="new")
    (work / "deep" / "b.txt").write_text("mine")
    await crib.undo(call)
    assert [one.name for one in (work / "deep").iterdir()] == ["b.txt"]


@pytest.mark.meets("undo:files:restores")
@pytest.mark.parametrize("name", ["edit_file", "multi_edit"])
async def test_edits_are_undone(crib: Crib, work: Path, name: str):
    (work / "a.txt").write_text("one two\r\n")
    edit = {"oldText": "two", "newText": "three"}
    call = await did(crib, name, path="a.txt", **(edit if name == "edit_file" else {"edits": [edit]}))
    assert (work / "a.txt").read_bytes() == b"one three\r\n"
    await crib.undo(call)
    assert (work / "a.txt").read_bytes() == b"one two\r\n"


@pytest.mark.meets("undo:files:restores")
@pytest.mark.parametrize("since", ["changed", "removed"])
async def test_what_was_changed_since_is_left_alone_unless_forced(crib: Crib, work: Path, since: str):
    (work / "a.txt").write_text("old")
    call = await did(crib, "write_file", path="a.txt", content="new")
    (work / "a.txt").unlink() if since == "removed" else (work / "a.txt").write_text("mine")
    said = await refused("changed_since", crib, call)
    assert f"a.txt was {since} since the call {call}" in said
    assert (work / "a.txt").exists() is (since == "changed")
    forced = await crib.undo(call, force=True)
    assert (work / "a.txt").read_text() == "old"
    await crib.undo(forced.id)
    assert ((work / "a.txt").read_text() if since == "changed" else (work / "a.txt").exists()) in {"mine", False}


@pytest.mark.meets("undo:undo:undone")
async def test_an_undo_is_on_record_and_can_be_undone_again_and_again(crib: Crib, work: Path):
    (work / "a.txt").write_text("old")
    call = await did(crib, "write_file", path="a.txt", content="new")
    first = await crib.undo(call, by="kim")
    assert call in await refused("already_undone", crib, call)
    redo = await crib.undo(first.id, by="kim")
    assert (work / "a.txt").read_text() == "new"
    await crib.undo(call)
    assert (work / "a.txt").read_text() == "old"
    entries = {entry.id: entry for entry in (await crib.store.audit.entries()).entries}
    assert (entries[first.id].tool, entries[first.id].user, entries[first.id].status) == ("undo", "kim", "done")
    assert [entry.code for entry in entries.values() if entry.status == "refused"] == ["already_undone"]
    assert redo.call == first.id


async def test_another_process_undoes_it(opened: Callable[..., Crib], work: Path):
    (work / "a.txt").write_text("old")
    first = opened()
    call = await did(first, "write_file", path="a.txt", content="new")
    await first.close()
    await opened().undo(call)
    assert (work / "a.txt").read_text() == "old"


@pytest.mark.meets("undo:files:restores")
async def test_a_copy_that_was_pruned_or_damaged_is_said_and_nothing_changes(
    opened: Callable[..., Crib], work: Path, tmp_path: Path
):
    crib = opened()
    (work / "a.txt").write_text("old")
    call = await did(crib, "write_file", path="a.txt", content="new")
    (copy,) = [path for path in (tmp_path / "undo").rglob("*") if path.is_file()]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    copy.write_text("dlo")
    assert "the copy of a.txt" in await refused("copy_gone", crib, call, force=True)
    copy.unlink()
    await refused("copy_gone", crib, call)
    assert (work / "a.txt").read_text() == "new"


async def test_a_file_too_large_to_keep_is_written_and_said_to_be_final(crib: Crib, work: Path):
    with (work / "a.bin").open("wb") as file:
        file.truncate(BYTES_OF_FILE + 1)
    call = await did(crib, "write_file", path="a.bin", content="new")
    assert "no more than 10,485,760 are kept" in await refused("not_undoable", crib, call)


@pytest.mark.meets("undo:outside:marked")
async def test_what_cannot_be_undone_says_why(crib: Crib, work: Path):
    (work / "a.txt").write_text("old")
    read = await did(crib, "read_file", path="a.txt")
    assert "read_file only reads" in await refused("not_undoable", crib, read)
    sent = await did(crib, "post", text="hi")
    assert await crib.undoable(sent) == "It cannot be undone: post sends things out, and they cannot be called back."
    assert "no call 'nosuch'" in await refused("not_undoable", crib, "nosuch")
    failed = await crib.call("edit_file", {"path": "a.txt", "oldText": "x", "newText": "y"}, agent="helper")
    assert "it failed" in await refused("not_undoable", crib, failed.id)
    wrong = await crib.call("edit_file", {"path": "a.txt"}, agent="helper")
    assert "was refused, so it changed nothing" in await refused("not_undoable", crib, wrong.id)


async def test_what_cannot_be_noted_is_not_changed_either():
    class Full:
        async def add(self, entry: Entry) -> int:
            raise StoreBusy(f"The store is held by another process: {entry.kind}.")

    todos = MemoryTodos()
    before = NOTES.set(Notes(cast("UndoLog", Full()), "c1", "task_todos", Caller(agent="a")))
    try:
        with pytest.raises(StoreBusy):
            await NotedTodos(todos).put("a", "s", [Todo("Buy milk")])
    finally:
        NOTES.reset(before)
    gc.collect()  # a change that was begun and dropped would warn here
    assert await todos.get("a", "s") == ()


@pytest.mark.meets("undo:kept:restores")
async def test_a_to_do_list_comes_back(crib: Crib):
    await did(crib, "task_todos", todos=[{"content": "one"}])
    call = await did(crib, "task_todos", todos=[{"content": "two"}, {"content": "three"}])
    await crib.undo(call)
    assert [todo.content for todo in await crib.store.todos.get("helper", "talk")] == ["one"]
    await did(crib, "task_todos", todos=[{"content": "four"}])
    assert "the to-do list was changed since" in await refused("changed_since", crib, call)


@pytest.mark.meets("undo:kept:restores")
async def test_toolboxes_come_back_made_changed_and_deleted(crib: Crib):
    made = await did(crib, "create_toolbox", name="notes", tools=["read_file"])
    changed = await did(crib, "update_toolbox", toolbox="notes", name="papers", add=["grep"])
    deleted = await did(crib, "delete_toolbox", toolbox="papers", confirm=True)
    assert "papers" not in crib.resolver.grants.toolboxes
    await crib.undo(deleted)
    assert crib.resolver.grants.toolboxes["papers"].tools == ("read_file", "grep")
    await refused("nothing_to_undo", crib, made)
    await crib.undo(changed)
    assert crib.resolver.grants.toolboxes["notes"].tools == ("read_file",)
    await crib.undo(made)
    assert await crib.store.shelf.all() == ()


async def test_a_toolbox_call_that_was_refused_by_the_shelf_leaves_nothing_to_undo(crib: Crib):
    first = await did(crib, "create_toolbox", name="notes", tools=["read_file"])
    second = await crib.call("create_toolbox", {"name": "notes", "tools": ["read_file"]}, agent="helper")
    assert not second.ok
    await refused("not_undoable", crib, second.id)
    await crib.undo(first)


@pytest.mark.meets("undo:kept:restores")
async def test_loaded_toolkits_come_back(crib: Crib):
    call = await did(crib, "load_tools", toolkit="web")
    await crib.undo(call)
    state = await crib.store.loaded.get("helper", "talk")
    assert state is not None
    assert state.names == ()


@pytest.mark.meets("undo:kept:restores")
async def test_context_files_come_back(crib: Crib):
    first = await did(crib, "write_file", path="AGENTS.md", content="one")
    second = await did(crib, "write_file", path="AGENTS.md", content="two")
    await crib.undo(second)
    assert (await crib.call("read_file", {"path": "AGENTS.md"}, agent="helper")).text == "one"
    await crib.undo(first)
    assert not (await crib.call("read_file", {"path": "AGENTS.md"}, agent="helper")).ok


async def test_an_agents_denied_paths_hold_for_the_undo_too(opened: Callable[..., Crib], work: Path, tmp_path: Path):
    (work / "a.txt").write_text("old")
    crib = opened()
    call = await did(crib, "write_file", path="a.txt", content="new")
    (work / "a.txt").unlink()
    (work / "a.txt").symlink_to(tmp_path / "outside")
    (tmp_path / "outside").write_text("new")
    with pytest.raises(ToolFailed):
        await crib.undo(call, force=True)
    assert (tmp_path / "outside").read_text() == "new"


def test_copies_are_bounded_by_size_and_age_and_the_oldest_go_first(tmp_path: Path):
    names = [FileCopies(tmp_path).keep(bytes([i]) * 100) for i in range(3)]
    copies = FileCopies(tmp_path, most=250, days=1)
    for age, name in enumerate(reversed(names)):
        os.utime(tmp_path / name[:2] / name, (0, time.time() - 10 * age))
    copies.prune()
    assert [copies.get(name) is not None for name in names] == [False, True, True]
    old = tmp_path / names[1][:2] / names[1]
    os.utime(old, (0, 0))
    copies.prune()
    assert copies.get(names[1]) is None
    assert copies.get(names[2]) == b"\x02" * 100
