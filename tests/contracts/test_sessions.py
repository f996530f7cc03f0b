"""What an agent keeps in a session: loaded toolkits, and its to-do list."""

from typing import Any

import pytest

from tests.contracts.conftest import Place
from toolcrib.core.tool import Flow
from toolcrib.services.loaded import KitState
from toolcrib.services.todos import Progress, Todo


async def test_a_session_that_never_loaded_anything_is_told_from_one_that_unloaded_all(store: Any) -> None:
    assert await store.loaded.get("anna", "s1") is None
    await store.loaded.put("anna", "s1", [])
    assert await store.loaded.get("anna", "s1") == KitState()


@pytest.mark.meets("toolkit:state:members-apart")
async def test_loaded_toolkits_are_kept_in_order_per_agent_and_session(store: Any) -> None:
    await store.loaded.put("anna", "s1", ["research", "devops"], ["old is gone"])
    await store.loaded.put("anna", "s2", ["mail"])
    assert await store.loaded.get("anna", "s1") == KitState(("research", "devops"), ("old is gone",))
    assert await store.loaded.get("bert", "s1") is None
    await store.loaded.put("anna", "s1", ["devops"])
    assert await store.loaded.get("anna", "s1") == KitState(("devops",))


async def test_without_a_session_nothing_is_loaded(store: Any) -> None:
    await store.loaded.put("anna", "", ["research"])
    assert await store.loaded.get("anna", "") is None


@pytest.mark.meets("toolkit:state:persisted")
async def test_loaded_toolkits_outlive_the_process(place: Place) -> None:
    first = place.open()
    await first.loaded.put("anna", "s1", ["research"])
    await first.close()
    assert await place.open().loaded.get("anna", "s1") == KitState(("research",))


async def test_a_todo_list_is_replaced_as_a_whole(store: Any) -> None:
    assert await store.todos.get("anna", "s1") == ()
    first = (Todo("read", Progress.COMPLETED), Todo("ändern\n\0 x", Progress.IN_PROGRESS), Todo("test"))
    await store.todos.put("anna", "s1", first)
    assert await store.todos.get("anna", "s1") == first
    await store.todos.put("anna", "s1", [Todo("test", Progress.COMPLETED)])
    assert await store.todos.get("anna", "s1") == (Todo("test", Progress.COMPLETED),)
    await store.todos.put("anna", "s1", [])
    assert await store.todos.get("anna", "s1") == ()


async def test_todo_lists_of_agents_and_sessions_are_apart(store: Any) -> None:
    await store.todos.put("anna", "s1", [Todo("one")])
    await store.todos.put("anna", "", [Todo("two")])
    assert await store.todos.get("bert", "s1") == ()
    assert await store.todos.get("anna", "") == (Todo("two"),)
    assert await store.todos.get("anna", "s1") == (Todo("one"),)


@pytest.mark.meets("flow:labels:kept")
async def test_what_a_session_took_in_is_kept_with_the_tool_that_brought_it_first(place: Place) -> None:
    first = place.open()
    await first.labels.add("s1", Flow.PRIVATE, "read_file")
    await first.labels.add("s1", Flow.PRIVATE, "grep")
    await first.labels.add("s1", Flow.UNTRUSTED, "browse_url")
    await first.labels.add("s2", Flow.UNTRUSTED, "browse_url")
    await first.close()
    found = await place.open().labels.of(["s1", "s2", "s3"])
    assert found["s1"] == {Flow.PRIVATE: "read_file", Flow.UNTRUSTED: "browse_url"}
    assert found["s2"] == {Flow.UNTRUSTED: "browse_url"}
    assert not found.get("s3")
