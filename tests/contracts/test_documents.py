"""Texts by agent, user and path, and the routes of seed 004 that lead to them."""

from typing import Any

import pytest

from toolcrib.core.call import Caller
from toolcrib.core.errors import ToolFailed
from toolcrib.services.content.documents import Document
from toolcrib.services.content.routing import CONTEXT_FILES, DocumentRoutes

KINDS = {"olga": "open", "pia": "predefined"}


def who(agent: str, user: str = "u1") -> Caller:
    return Caller(agent=agent, user=user)


async def test_a_text_is_kept_by_agent_user_and_path(store: Any) -> None:
    await store.documents.put("a", "u", "SOUL.md", "me\r\nü")
    assert await store.documents.get("a", "u", "SOUL.md") == "me\r\nü"
    for other in (("b", "u", "SOUL.md"), ("a", "", "SOUL.md"), ("a", "u", "soul.md")):
        assert await store.documents.get(*other) is None
    await store.documents.put("a", "u", "SOUL.md", "")
    assert await store.documents.get("a", "u", "SOUL.md") == ""
    assert await store.documents.delete("a", "u", "SOUL.md") is True
    assert await store.documents.delete("a", "u", "SOUL.md") is False


async def test_paths_are_listed_sorted_by_their_beginning(store: Any) -> None:
    for path in ("memory/b.md", "MEMORY.md", "memory/a.md", "memory_x", "Memory/z"):
        await store.documents.put("a", "u", path, "x")
    assert await store.documents.paths("a", "u", "memory/") == ("memory/a.md", "memory/b.md")
    assert await store.documents.paths("a", "u") == ("MEMORY.md", "Memory/z", "memory/a.md", "memory/b.md", "memory_x")
    assert await store.documents.paths("a", "other") == ()


@pytest.mark.meets("routing:context:open")
async def test_an_open_agents_context_files_are_each_users_with_the_agents_as_fallback(store: Any) -> None:
    routes = DocumentRoutes(store.documents, KINDS)
    await store.documents.put("olga", "", "SOUL.md", "template")
    assert await routes.read(who("olga"), "SOUL.md") == "template"
    await routes.write(who("olga"), "SOUL.md", "mine")
    assert await routes.read(who("olga"), "SOUL.md") == "mine"
    assert await routes.read(who("olga", "u2"), "SOUL.md") == "template"
    assert await routes.read(who("olga"), "USER.md") is None


@pytest.mark.meets("routing:context:predefined")
async def test_of_a_predefined_agent_only_user_md_is_each_users(store: Any) -> None:
    routes = DocumentRoutes(store.documents, KINDS)
    for path in CONTEXT_FILES:
        await routes.write(who("pia"), path, f"{path} by u1")
    for path in CONTEXT_FILES:
        expected = None if path == "USER.md" else f"{path} by u1"
        assert await routes.read(who("pia", "u2"), path) == expected
        assert await routes.read(who("pia"), path) == f"{path} by u1"
    await store.documents.put("pia", "", "USER.md", "template")
    assert await routes.read(who("pia", "u2"), "USER.md") is None  # the chart gives it no fallback


@pytest.mark.meets("routing:context:bootstrap")
@pytest.mark.parametrize("agent", KINDS)
async def test_an_empty_bootstrap_is_removed_and_other_files_may_be_empty(store: Any, agent: str) -> None:
    routes = DocumentRoutes(store.documents, KINDS)
    for path in ("BOOTSTRAP.md", "SOUL.md"):
        await routes.write(who(agent), path, "first run")
        await routes.write(who(agent), path, "")
    assert await routes.read(who(agent), "BOOTSTRAP.md") is None
    assert await routes.read(who(agent), "SOUL.md") == ""


@pytest.mark.meets("routing:memory:user-first")
@pytest.mark.parametrize("agent", KINDS)
@pytest.mark.parametrize("path", ["MEMORY.md", "memory.md", "memory/2026/notes.txt"])
async def test_memories_are_the_users_first_and_everybodys_after(store: Any, agent: str, path: str) -> None:
    routes = DocumentRoutes(store.documents, KINDS)
    await routes.write(who(agent, ""), path, "for all")
    assert await routes.read(who(agent), path) == "for all"
    await routes.write(who(agent), path, "for u1")
    assert await routes.read(who(agent), path) == "for u1"
    assert await routes.read(who(agent, "u2"), path) == "for all"


@pytest.mark.meets("routing:memory:indexed")
async def test_a_memory_in_markdown_is_indexed_when_it_is_written(store: Any) -> None:
    told: list[Document] = []

    async def index(document: Document) -> None:
        told.append(document)

    routes = DocumentRoutes(store.documents, KINDS, index=index)
    for path in ("memory/a.md", "memory/a.txt", "MEMORY.md", "SOUL.md"):
        await routes.write(who("olga"), path, "text")
    assert [(one.agent, one.user, one.path, one.content) for one in told] == [
        ("olga", "u1", "memory/a.md", "text"),
        ("olga", "u1", "MEMORY.md", "text"),
    ]


@pytest.mark.meets("routing:context:seven", "routing:context:root-only")
async def test_only_the_seven_names_and_memories_at_the_root_are_routed(store: Any) -> None:
    routes = DocumentRoutes(store.documents, KINDS)
    assert len(CONTEXT_FILES) == 7
    for path in (*CONTEXT_FILES, "MEMORY.md", "memory.md", "memory/a.md", "memory/a/b"):
        assert routes.claims(who("olga"), path), path
        assert not routes.claims(who("somebody"), path), path
    for path in (
        "notes/SOUL.md",
        "soul.md",
        "memory",
        "memory/",
        "Memory/a",
        "a/memory/b",
        "MEMORY.md/x",
        "memory/../x",
    ):
        assert not routes.claims(who("olga"), path), path


async def test_a_listing_shows_what_this_user_can_read(store: Any) -> None:
    routes = DocumentRoutes(store.documents, KINDS)
    await store.documents.put("olga", "", "SOUL.md", "template")
    await routes.write(who("olga"), "memory/a.md", "x")
    await routes.write(who("olga"), "memory/deep/b.md", "x")
    await routes.write(who("olga", "u2"), "USER.md", "x")
    assert await routes.listing(who("olga"), ".") == ["SOUL.md", "memory/"]
    assert await routes.listing(who("olga", "u2"), ".") == ["SOUL.md", "USER.md"]
    assert await routes.listing(who("olga"), "memory") == ["memory/a.md", "memory/deep/"]
    assert await routes.listing(who("olga"), "memory/deep") == ["memory/deep/b.md"]
    assert list(await routes.listing(who("somebody"), ".")) == []


@pytest.mark.parametrize(
    ("path", "content", "code"), [("memory/" + "a" * 1000, "x", "bad_path"), ("MEMORY.md", "a\0", "bad_text")]
)
async def test_what_a_store_cannot_keep_is_refused(store: Any, path: str, content: str, code: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        await DocumentRoutes(store.documents, KINDS).write(who("olga"), path, content)
    assert caught.value.as_fault().code == code


async def test_an_unknown_kind_is_refused_at_once(store: Any) -> None:
    with pytest.raises(ValueError, match="closed"):
        DocumentRoutes(store.documents, {"olga": "closed"})
