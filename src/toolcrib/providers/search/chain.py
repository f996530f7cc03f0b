"""Searching with one provider after the other until one answers: one's own first, then those with a key, then ddgs."""

from collections.abc import Callable, Mapping

from toolcrib.core.call import Caller
from toolcrib.core.errors import BadConfig, Problem, ToolError, ToolFailed
from toolcrib.providers.search.brave import Brave
from toolcrib.providers.search.metasearch import Ddgs
from toolcrib.providers.search.reply import Engine, fitting
from toolcrib.providers.search.searxng import SearXng
from toolcrib.providers.search.serper import Serper
from toolcrib.providers.search.tavily import Tavily
from toolcrib.safety.reach import Domains
from toolcrib.safety.urls import BadUrl, read_url
from toolcrib.services.http import Http
from toolcrib.services.web import NOT_CONFIGURED, Found, Provider, Query, SearchRules

KINDS: Mapping[str, Callable[[Provider, Http], Engine]] = {
    "searxng": SearXng,
    "brave": Brave,
    "tavily": Tavily,
    "serper": Serper,
    "ddgs": Ddgs,
}
_ORDER = {"searxng": 0, "ddgs": 2}
_KEYED = ("brave", "tavily", "serper")


class Chain:
    """Searches. Which provider an agent uses, and in which order they are asked, is the configuration's."""

    def __init__(self, rules: SearchRules, http: Http) -> None:
        """Raises BadConfig for a provider that cannot be asked as it is written down."""
        problems = [problem for i, one in enumerate(rules.providers) if (problem := _problem(i, one))]
        ordered = sorted(rules.providers, key=lambda one: _ORDER.get(one.kind, 1))
        names = [one.name for one in ordered]
        problems += [
            Problem("search.providers", f"two are called {name!r}.", "Give one of them another slug.")
            for name in sorted({name for name in names if names.count(name) > 1})
        ]
        problems += [
            Problem(f"search.agents.{agent}", f"there is no provider {name!r}.", f"There are: {', '.join(names)}.")
            for agent, name in rules.agents.items()
            if name not in names
        ]
        if problems:
            raise BadConfig(problems)
        self._agents = dict(rules.agents)
        self._engines = {one.name: KINDS[one.kind](one, http) for one in ordered}

    @property
    def missing(self) -> str:
        """Why searching is not there; "" if it is."""
        return "" if self._engines else NOT_CONFIGURED

    async def search(self, query: Query, caller: Caller, provider: str = "") -> Found:
        """Search. `provider` names one, and then no other is asked."""
        _check_domains(query)
        notes: list[str] = []
        for name in self._asked(caller, provider):
            try:
                hits = await self._engines[name].search(query)
            except ToolError as error:
                notes.append(f"{name} failed: {error.message.rstrip('.')}.")
                continue
            return Found(provider=name, hits=fitting(hits, query), notes=tuple(notes))
        raise ToolFailed(
            f"The web was not searched: {' '.join(notes) or NOT_CONFIGURED + '.'}",
            code="search_failed",
            hint="Try again later, or with another provider.",
            retryable=bool(notes),
        )

    def _asked(self, caller: Caller, provider: str) -> list[str]:
        """The providers to ask, in order."""
        if provider:
            if provider not in self._engines:
                there = ", ".join(self._engines) or "none"
                raise ToolFailed(
                    f"There is no search provider {provider[:64]!r}; there are: {there}.", code="unknown_provider"
                )
            return [provider]
        own = self._agents.get(caller.agent)
        return [*([own] if own else ()), *(name for name in self._engines if name != own)]


def _problem(i: int, one: Provider) -> Problem | None:
    where = f"search.providers[{i}]"
    if one.kind not in KINDS:
        return Problem(f"{where}.kind", f"{one.kind!r} is no provider.", f"There are: {', '.join(KINDS)}.")
    return _problem_of_key(f"{where}.key", one) or _problem_of_url(f"{where}.url", one)


def _problem_of_key(where: str, one: Provider) -> Problem | None:
    if "{{" in one.key:
        return Problem(where, "Placeholders are not filled in here.", "Name a variable, such as ${SEARCH_KEY}.")
    if one.kind in _KEYED and not one.key:
        return Problem(where, f"{one.kind} needs a key.", f"Set it, for example as ${{{one.kind.upper()}_KEY}}.")
    if not one.key.isascii() or not one.key.isprintable():
        return Problem(where, "It holds a character that no key has, such as a line break.")
    return None


def _problem_of_url(where: str, one: Provider) -> Problem | None:
    if one.kind == "searxng" and not one.url:
        return Problem(where, "searxng needs the address of a server.", "Such as http://127.0.0.1:8888")
    try:
        if one.url:
            read_url(one.url)
    except BadUrl as error:
        return Problem(where, f"It is no web address: {error}.")
    return None


def _check_domains(query: Query) -> None:
    for name in (*query.include, *query.exclude):
        try:
            Domains((name,))
        except BadUrl as error:
            raise ToolFailed(f"{name[:60]!r} is no domain: {error}.", code="bad_domain") from None
