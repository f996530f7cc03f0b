"""The whole catalogue as one caller sees it: what there is, what fits a search, what it may ask a person for."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.explain import Explained, explain
from toolcrib.core.registry import Registry, Reserved
from toolcrib.core.resolver import Resolver, Seat, View
from toolcrib.core.tool import Effect, Tool
from toolcrib.services.finding.ranking import Document, Ranking, document

FOUND_KEPT = 16  # deferred tools remembered for one session
SESSIONS_KEPT = 4096
OTHERS_SHOWN = 3
ASK, LOAD = "request_tool_access", "load_tools"


class Listed(Struct, frozen=True, kw_only=True):
    """One tool of the catalogue."""

    name: str
    about: str
    domain: str
    source: str
    availability: tuple[str, ...]
    flags: tuple[str, ...]
    aliases: tuple[str, ...]
    built: bool
    held: bool


class Found(Struct, frozen=True, kw_only=True):
    """A tool that the caller holds and that fits a search. `shown` is False while it is not in the prompt."""

    name: str
    about: str
    domain: str
    shown: bool
    schema: dict[str, object]


class Other(Struct, frozen=True, kw_only=True):
    """A tool that fits and that the caller does not hold, with the way to get it."""

    name: str
    about: str
    how: str


class Search(Struct, frozen=True, kw_only=True):
    """What a search found. `next_request` are the names that come into the prompt then."""

    tools: tuple[Found, ...]
    others: tuple[Other, ...] = ()
    next_request: tuple[str, ...] = ()


class Wish(Struct, frozen=True, kw_only=True):
    """Names that somebody would like to have, sorted by what can come of it."""

    held: tuple[str, ...] = ()
    open: tuple[str, ...] = ()  # a person may grant these
    closed: tuple[Explained, ...] = ()  # no grant would help: a rule takes them out again
    unknown: tuple[Explained, ...] = ()


class Catalogue:
    """Reads the registry and the grants of the moment. It keeps nothing but what searches have found."""

    def __init__(self, current: Callable[[], Resolver]) -> None:
        self._current = current
        self._ranked: tuple[Registry, Ranking] | None = None
        self._found: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    def list(self, view: View, query: str = "", *, domain: str = "", source: str = "") -> tuple[Listed, ...]:
        """Every tool of the four sources, built or not, by domain and name; with a query the best first."""
        every = {one.name: one for one in _listed(view)}
        kept = [one for one in every.values() if domain.lower() in {"", one.domain.lower()}]
        kept = [one for one in kept if source.lower() in {"", one.source}]
        if not query.strip():
            return tuple(sorted(kept, key=lambda one: (one.domain, one.name)))
        hits = self._ranking(view.registry).search(query, len(every), {one.name for one in kept})
        return tuple(every[hit.id] for hit in hits)

    def search(self, view: View, query: str, limit: int = 5, *, session: str | None = None) -> Search:
        """The best of what the caller holds, and a few that it could get.

        With a session, deferred tools that were found are remembered and come into the prompt of its next request.
        """
        registry, ranking = view.registry, self._ranking(view.registry)
        told = {tool.name for tool in view.shown}
        hits = [tool for hit in ranking.search(query, limit, view.names) if (tool := registry.get(hit.id))]
        deferred = [tool.name for tool in hits if tool.name not in told]
        soon = () if session is None else self._remember(view, session, deferred)
        return Search(
            tools=tuple(_found(tool, shown=tool.name in told) for tool in hits),
            others=tuple(self._others(view, query, ranking)),
            next_request=soon,
        )

    def found(self, agent: str, session: str) -> tuple[str, ...]:
        """The deferred tools that searches of this session have found, for `seat_of`."""
        return self._found.get((agent, session), ())

    def explain(self, seat: Seat, name: str) -> Explained:
        """Why whoever sits in this seat holds a tool, or does not."""
        return explain(self._current(), seat, name)

    def wish(self, seat: Seat, names: Sequence[str]) -> Wish:
        """Which of these names are held, which a person could grant, and which not, with the reason."""
        resolver = self._current()
        registry, view = resolver.registry, resolver.view(seat)
        known = {tool.name: None for name in names if (tool := registry.get(name))}
        given = resolver.resolve(replace(seat, granted=(*seat.granted, *known)))
        missing = [name for name in known if name not in view]
        return Wish(
            held=tuple(name for name in known if name in view),
            open=tuple(name for name in missing if name in given),
            closed=tuple(explain(resolver, given.seat, name) for name in missing if name not in given),
            unknown=tuple(explain(resolver, seat, name) for name in names if registry.get(name) is None),
        )

    def _ranking(self, registry: Registry) -> Ranking:
        """Built once for each registry, at the first search."""
        if self._ranked is None or self._ranked[0] is not registry:
            known = [document(tool) for tool in registry.tools]
            self._ranked = registry, Ranking([*known, *map(_reserved, registry.names.reserved.values())])
        return self._ranked[1]

    def _others(self, view: View, query: str, ranking: Ranking) -> Iterator[Other]:
        """The best that is not held and can be had: from a toolkit, or by asking."""
        ways = [name for name in (LOAD, ASK) if name in view]
        if not ways:
            return
        tools = {tool.name: tool for tool in view.registry.tools if tool.name not in view}
        told = 0
        for hit in ranking.search(query, 4 * OTHERS_SHOWN, tools):
            how = self._way(view, hit.id)
            if how and told < OTHERS_SHOWN:
                told += 1
                yield Other(name=hit.id, about=first_line(tools[hit.id].about), how=how)

    def _way(self, view: View, name: str) -> str:
        """How the caller could get a tool; nothing if it cannot."""
        resolver = self._current()
        bit = resolver.mask((name,))
        for kit in view.rules.allowed_toolkits if LOAD in view else ():
            toolkit = resolver.grants.toolkits.get(kit)
            if toolkit and kit not in view.seat.loaded and resolver.mask(tool.name for tool in toolkit.tools) & bit:
                return f'load_tools {{"toolkit": "{kit}"}}'
        open_ = ASK in view and self.wish(view.seat, (name,)).open
        return f'request_tool_access {{"tool_names": ["{name}"], …}}' if open_ else ""

    def _remember(self, view: View, session: str, names: Sequence[str]) -> tuple[str, ...]:
        """Keep what was found, newest first; older finds give way until the new ones fit the prompt."""
        if not names:
            return ()
        key = view.seat.agent, session
        kept = [*names, *(name for name in self._found.get(key, ()) if name not in names)][:FOUND_KEPT]
        shown = self._shown(view, kept)
        while len(kept) > len(names) and not shown.issuperset(names):
            kept.pop()
            shown = self._shown(view, kept)
        self._found[key] = tuple(kept)
        self._found.move_to_end(key)
        if len(self._found) > SESSIONS_KEPT:
            self._found.popitem(last=False)
        return tuple(name for name in names if name in shown)

    def _shown(self, view: View, names: Sequence[str]) -> set[str]:
        resolver = self._current()
        return {tool.name for tool in resolver.resolve(replace(view.seat, found=tuple(names))).shown}


def first_line(about: str) -> str:
    """What a list says of a tool."""
    return about.partition("\n")[0]


def _listed(view: View) -> Iterator[Listed]:
    for tool in view.registry.tools:
        yield Listed(
            name=tool.name,
            about=first_line(tool.about),
            domain=tool.domain,
            source=tool.source,
            availability=tuple(sorted(where.value for where in tool.traits.where)),
            flags=_flags(tool),
            aliases=tool.aliases,
            built=True,
            held=tool.name in view,
        )
    for entry in view.registry.names.reserved.values():
        if view.registry.index(entry.name) is None:
            yield _not_built(entry)


def _not_built(entry: Reserved) -> Listed:
    words = {"R": "read_only", "C": "concurrency_safe", "D": "destructive"}
    return Listed(
        name=entry.name,
        about=entry.about,
        domain=entry.domain,
        source="native",
        availability=("main", "sub_agent") if entry.where == "both" else (entry.where,),
        flags=tuple(word for sign, word in words.items() if sign in entry.flags),
        aliases=entry.aliases,
        built=False,
        held=False,
    )


def _flags(tool: Tool) -> tuple[str, ...]:
    traits = tool.traits
    said = {
        "read_only": traits.effect is Effect.READ,
        "concurrency_safe": traits.parallel,
        "destructive": traits.effect is Effect.DESTROY,
    }
    return tuple(word for word, holds in said.items() if holds)


def _found(tool: Tool, *, shown: bool) -> Found:
    return Found(name=tool.name, about=first_line(tool.about), domain=tool.domain, shown=shown, schema=tool.schema)


def _reserved(entry: Reserved) -> Document:
    return Document(id=entry.name, name=entry.name, aliases=entry.aliases, domain=entry.domain, about=entry.about)
