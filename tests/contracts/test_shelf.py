"""Toolboxes that people made."""

import asyncio
from typing import Any

import pytest

from tests.contracts.conftest import Place
from toolcrib.core.errors import ToolFailed
from toolcrib.services.shelf import Box


async def refused(code: str, doing: Any) -> None:
    with pytest.raises(ToolFailed) as caught:
        await doing
    assert caught.value.as_fault().code == code


async def test_a_box_is_kept_as_it_was_made(store: Any) -> None:
    box = Box(name="My Box", description="for me", tools=("grep", "glob"), exact=True, created_by="anna")
    made = await store.shelf.create(box)
    assert (made.revision, made.changed > 0) == (1, True)
    assert await store.shelf.get("My Box") == made
    assert (made.tools, made.exact, made.created_by) == (("grep", "glob"), True, "anna")


async def test_names_are_the_same_however_they_are_capitalised(store: Any) -> None:
    made = await store.shelf.create(Box(name="Größe"))
    assert await store.shelf.get("GRÖSSE") == made
    await refused("name_taken", store.shelf.create(Box(name="grÖße")))


async def test_a_name_that_is_not_there_gives_nothing(store: Any) -> None:
    assert await store.shelf.get("none") is None
    await refused("not_found", store.shelf.delete("none"))
    await refused("not_found", store.shelf.update("none", Box(name="none"), revision=1))


async def test_boxes_are_listed_by_name(store: Any) -> None:
    for name in ("b", "A", "c"):
        await store.shelf.create(Box(name=name))
    assert [box.name for box in await store.shelf.all()] == ["A", "b", "c"]


async def test_a_change_counts_the_revision_and_keeps_who_made_it(store: Any) -> None:
    await store.shelf.create(Box(name="box", created_by="anna"))
    changed = await store.shelf.update("BOX", Box(name="box", tools=("grep",), created_by="bert"), revision=1)
    assert (changed.revision, changed.created_by, changed.tools) == (2, "anna", ("grep",))
    assert await store.shelf.get("box") == changed


async def test_a_change_to_an_older_revision_is_refused(store: Any) -> None:
    await store.shelf.create(Box(name="box"))
    await store.shelf.update("box", Box(name="box", tools=("grep",)), revision=1)
    await refused("revision_conflict", store.shelf.update("box", Box(name="box"), revision=1))
    assert (await store.shelf.get("box")).tools == ("grep",)


async def test_a_box_may_be_renamed_but_not_onto_another(store: Any) -> None:
    await store.shelf.create(Box(name="one"))
    await store.shelf.create(Box(name="two"))
    await refused("name_taken", store.shelf.update("one", Box(name="Two"), revision=1))
    assert [box.name for box in await store.shelf.all()] == ["one", "two"]
    await store.shelf.update("one", Box(name="ONE"), revision=1)
    await store.shelf.update("one", Box(name="three"), revision=2)
    assert [box.name for box in await store.shelf.all()] == ["three", "two"]


async def test_a_deleted_box_is_given_back_once(store: Any) -> None:
    made = await store.shelf.create(Box(name="box"))
    assert await store.shelf.delete("Box") == made
    assert await store.shelf.get("box") is None
    await refused("not_found", store.shelf.delete("box"))


async def test_the_version_grows_with_each_change_and_with_no_refusal(store: Any) -> None:
    seen = [await store.drawers.version()]
    await store.shelf.create(Box(name="box"))
    seen.append(await store.drawers.version())
    await refused("name_taken", store.shelf.create(Box(name="box")))
    assert await store.drawers.version() == seen[-1]
    await store.shelf.update("box", Box(name="box"), revision=1)
    seen.append(await store.drawers.version())
    await store.shelf.delete("box")
    seen.append(await store.drawers.version())
    assert seen == sorted(set(seen))


async def test_of_two_changes_at_once_one_is_refused(store: Any) -> None:
    await store.shelf.create(Box(name="box"))
    tried = await asyncio.gather(
        *(store.shelf.update("box", Box(name="box", tools=(name,)), revision=1) for name in "abcd"),
        return_exceptions=True,
    )
    assert sum(isinstance(one, Box) for one in tried) == 1
    assert {one.as_fault().code for one in tried if isinstance(one, ToolFailed)} == {"revision_conflict"}


async def test_of_two_boxes_made_at_once_under_one_name_one_is_refused(store: Any) -> None:
    tried = await asyncio.gather(*(store.shelf.create(Box(name=n)) for n in ("box", "BOX")), return_exceptions=True)
    assert sum(isinstance(one, Box) for one in tried) == 1


async def test_another_process_sees_the_change_and_the_version(place: Place) -> None:
    first, second = place.open(), place.open()
    before = await second.drawers.version()
    await first.shelf.create(Box(name="box"))
    assert await second.drawers.version() > before
    assert (await second.shelf.get("box")).name == "box"
