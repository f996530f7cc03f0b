"""Searching the web: a port, and the values that pass through it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Caller

CONDITION = "web_search"
NOT_CONFIGURED = "no web search provider is configured; set search.providers in toolcrib.yaml"


class Freshness(StrEnum):
    """How old a page may be."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class Provider(Struct, frozen=True, kw_only=True):
    """One provider as a configuration has it."""

    kind: str  # searxng, brave, tavily, serper or ddgs
    slug: str = ""  # its name here; the kind unless given
    url: str = ""  # where it answers; needed for searxng
    key: str = ""

    @property
    def name(self) -> str:
        """What a call and a configuration name it by."""
        return self.slug or self.kind


class SearchRules(Struct, frozen=True, kw_only=True):
    """What a configuration says about searching."""

    providers: tuple[Provider, ...] = ()
    agents: Mapping[str, str] = {}  # agent: the name of its provider


class Query(Struct, frozen=True, kw_only=True):
    """What to look for."""

    text: str
    count: int = 5
    freshness: Freshness | None = None
    include: tuple[str, ...] = ()  # only these domains
    exclude: tuple[str, ...] = ()
    lang: str = ""


class Hit(Struct, frozen=True, omit_defaults=True):
    """One page that was found. All of it was written by strangers."""

    title: str
    url: str
    snippet: str = ""
    date: str = ""


class Found(Struct, frozen=True, kw_only=True):
    """What a search gave. `notes` say which providers failed before, and why."""

    provider: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


class WebSearch(Protocol):
    """Searches with the agent's provider, or with the first that answers."""

    async def search(self, query: Query, caller: Caller, provider: str = "") -> Found:
        """Search. `provider` names one, and then no other is asked."""
        ...
