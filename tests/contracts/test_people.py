"""Rows about people, on every store."""

import asyncio
from typing import Any

from toolcrib.services.people.ports import Kind, Row


def row(key: str, mark: str = "", **more: Any) -> Row:
    return Row(id=key, mark=mark or f"mark of {key}", body="{}", **more)


async def test_a_row_is_kept_as_it_was_added_and_found_by_id_and_mark(store: Any) -> None:
    one = row("a", person="p", until=9.5, made=1.5)
    assert await store.people.add(Kind.KEY, one)
    assert await store.people.get(Kind.KEY, "a") == one
    assert await store.people.find(Kind.KEY, "mark of a") == one
    assert await store.people.get(Kind.PERSON, "a") is None
    assert await store.people.find(Kind.KEY, "mark of b") is None


async def test_an_id_and_a_mark_are_taken_once_within_a_kind(store: Any) -> None:
    assert await store.people.add(Kind.PERSON, row("a", "anna"))
    assert not await store.people.add(Kind.PERSON, row("a", "other"))
    assert not await store.people.add(Kind.PERSON, row("b", "anna"))
    assert await store.people.add(Kind.SESSION, row("a", "anna"))


async def test_only_one_is_the_first(store: Any) -> None:
    tries = [store.people.add(Kind.PERSON, row(f"p{i}"), first=True) for i in range(5)]
    assert sum(await asyncio.gather(*tries)) == 1
    assert len(await store.people.all(Kind.PERSON)) == 1


async def test_a_change_needs_the_revision_that_was_seen(store: Any) -> None:
    await store.people.add(Kind.PERSON, row("a", "anna"))
    await store.people.add(Kind.PERSON, row("b", "bert"))
    seen = await store.people.get(Kind.PERSON, "a")
    assert await store.people.put(Kind.PERSON, seen)
    assert not await store.people.put(Kind.PERSON, seen)
    again = await store.people.get(Kind.PERSON, "a")
    assert again.revision == 2
    assert not await store.people.put(Kind.PERSON, row("a", "bert", revision=2))
    assert not await store.people.put(Kind.PERSON, row("nobody"))


async def test_rows_come_oldest_first_and_by_person(store: Any) -> None:
    for key, made, person in (("new", 3.0, "p"), ("old", 1.0, "p"), ("other", 2.0, "q")):
        await store.people.add(Kind.SESSION, row(key, made=made, person=person))
    assert [one.id for one in await store.people.all(Kind.SESSION)] == ["old", "other", "new"]
    assert [one.id for one in await store.people.all(Kind.SESSION, person="p")] == ["old", "new"]


async def test_what_has_ended_is_swept_away_and_nothing_else(store: Any) -> None:
    for key, until in (("ended", 5.0), ("runs", 50.0), ("for good", 0.0)):
        await store.people.add(Kind.SESSION, row(key, until=until))
    await store.people.sweep(Kind.SESSION, 10.0)
    assert {one.id for one in await store.people.all(Kind.SESSION)} == {"runs", "for good"}
    assert await store.people.remove(Kind.SESSION, "runs")
    assert not await store.people.remove(Kind.SESSION, "runs")
