"""What a change would do before it is made, and what an agent really needs, read off what it has called."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from toolcrib.core.policy import Grants
from toolcrib.core.resolver import Resolver, Seat, all_exact


class Past(Struct, frozen=True):
    """Calls of the record: an agent, a tool, how often."""

    agent: str
    tool: str
    calls: int


class Change(Struct, frozen=True, kw_only=True):
    """What one agent gains and loses, and which of its recorded calls would now be refused."""

    agent: str
    gains: tuple[str, ...] = ()
    loses: tuple[str, ...] = ()
    refused: Mapping[str, int] = {}
    gone: bool = False  # the agent itself would be no more
    new: bool = False


def simulate(before: Resolver, after: Resolver, past: Iterable[Past] = ()) -> list[Change]:
    """Every agent that the change touches."""
    history: dict[str, dict[str, int]] = {}
    for call in past:
        history.setdefault(call.agent, {})[call.tool] = call.calls
    agents = sorted({*before.grants.agents, *after.grants.agents})
    changes = (_change(before, after, agent, history.get(agent, {})) for agent in agents)
    return [c for c in changes if c.gains or c.loses or c.refused or c.gone or c.new]


def _change(before: Resolver, after: Resolver, agent: str, past: Mapping[str, int]) -> Change:
    had = set(before.view(Seat(agent=agent)).names) if agent in before.grants.agents else set[str]()
    has = set(after.view(Seat(agent=agent)).names) if agent in after.grants.agents else set[str]()
    return Change(
        agent=agent,
        gains=tuple(sorted(has - had)),
        loses=tuple(sorted(had - has)),
        refused={tool: past[tool] for tool in sorted(past) if tool in had and tool not in has},
        gone=agent not in after.grants.agents,
        new=agent not in before.grants.agents,
    )


class Suggestion(Struct, frozen=True, kw_only=True):
    """The smallest toolbox that would have served an agent's recorded calls, and the boxes that come nearest."""

    agent: str
    box: str  # a name for it that no toolbox has
    calls: int
    exact: bool = False  # its boxes are exact: the box that is suggested has to be so too
    tools: tuple[str, ...]  # beside the floor
    floor: tuple[str, ...]  # used, and held anyway
    unused: tuple[str, ...]  # held now, and never called
    nearest: tuple[tuple[str, int], ...]  # boxes that hold them all, with how many tools they bring too much
    lost: tuple[str, ...] = ()  # called, and no longer a tool here


def suggest(resolver: Resolver, agent: str, past: Iterable[Past]) -> Suggestion:
    """From what an agent called with success, what it needs."""
    rules = resolver.rules_of(agent)
    calls = [call for call in past if call.agent == agent]
    registry = resolver.registry
    used = resolver.mask(call.tool for call in calls)
    exact = all_exact([box for name in rules.toolboxes if (box := resolver.toolbox(name))])
    floor = resolver.mask(resolver.grants.exact_floor if exact else resolver.grants.floor)
    needed = used & ~floor
    held = resolver.view(Seat(agent=agent)).issued
    boxes = sorted(
        ((resolver.box(name) & ~needed & ~floor).bit_count(), name)
        for name, box in resolver.grants.toolboxes.items()
        if box.exact >= exact and needed and not needed & ~resolver.box(name)
    )
    return Suggestion(
        agent=rules.name,
        box=agent if resolver.toolbox(agent) is None else f"{agent}-only",
        exact=exact,
        calls=sum(call.calls for call in calls),
        tools=registry.names_of(needed),
        floor=registry.names_of(used & floor),
        unused=registry.names_of(held & ~used & ~floor),
        nearest=tuple((name, extra) for extra, name in boxes[:3]),
        lost=tuple(sorted({call.tool for call in calls if registry.get(call.tool) is None})),
    )


def grants_with(grants: Grants, **change: object) -> Grants:
    """The same grants with some fields changed, one revision on."""
    fields = {name: getattr(grants, name) for name in grants.__struct_fields__} | change
    return Grants(**{**fields, "revision": grants.revision + 1})  # type: ignore[arg-type]
