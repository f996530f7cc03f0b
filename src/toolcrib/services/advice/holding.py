"""What an agent holds, as people look at it: each tool with what let it in, and what it costs the prompt.

All of it is read off the trace that the resolver leaves. Nothing is worked out a second time.
"""

from collections.abc import Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.call import Where
from toolcrib.core.errors import ToolFailed
from toolcrib.core.explain import Explained, explain, explain_all
from toolcrib.core.policy import AgentRules, Toolbox
from toolcrib.core.prompt import tokens
from toolcrib.core.registry import Registry, near
from toolcrib.core.resolver import Resolver, Seat, View
from toolcrib.core.tool import Effect, Tool
from toolcrib.services.drawers import key_of
from toolcrib.services.finding.catalogue import first_line

_costs: WeakKeyDictionary[Registry, dict[str, int]] = WeakKeyDictionary()


class Facts(Struct, frozen=True, kw_only=True):
    """One tool in a list."""

    name: str
    about: str
    domain: str
    source: str
    read_only: bool
    destructive: bool
    approval: bool
    only: str  # "main only" or "sub-agent only", where it is
    tokens: int


class Held(Struct, frozen=True, kw_only=True):
    """A tool that an agent holds."""

    tool: Facts
    by: tuple[str, ...]  # all that let it in, in the order of the steps
    shown: bool  # in the prompt; otherwise it waits for a search
    gained: bool = False  # it is not held as things are now


class Holding(Struct, frozen=True, kw_only=True):
    """What an agent holds, in numbers and by name."""

    tools: tuple[Held, ...]
    lost: tuple[str, ...] = ()  # held as things are now, and not any more
    read_only: int = 0
    destructive: int = 0
    deferred: int = 0
    tokens: int = 0  # of what is shown

    @property
    def gained(self) -> int:
        """How many are new."""
        return sum(one.gained for one in self.tools)

    def by_domain(self) -> list[tuple[str, list[Held]]]:
        """The tools in their domains, by name."""
        domains: dict[str, list[Held]] = {}
        for one in self.tools:
            domains.setdefault(one.tool.domain, []).append(one)
        return sorted(domains.items())


def facts_of(registry: Registry, tool: Tool) -> Facts:
    """A tool as lists show it."""
    known = _costs.setdefault(registry, {})
    if tool.name not in known:
        known[tool.name] = tokens(tool)
    traits = tool.traits
    only = {frozenset({Where.MAIN}): "main only", frozenset({Where.SUB_AGENT}): "sub-agent only"}.get(traits.where, "")
    return Facts(
        name=tool.name,
        about=first_line(tool.about),
        domain=tool.domain,
        source=tool.source,
        read_only=traits.effect is Effect.READ,
        destructive=traits.effect is Effect.DESTROY,
        approval=traits.approval,
        only=only,
        tokens=known[tool.name],
    )


def holding(resolver: Resolver, seat: Seat, before: View | None = None) -> Holding:
    """What is held from a seat. With `before`, also what is gained and lost against it."""
    view = resolver.view(seat)
    had = before.issued if before is not None else view.issued
    shown = {tool.name for tool in view.shown}
    held = tuple(
        Held(
            tool=facts_of(view.registry, tool),
            by=_by(view, bit),
            shown=tool.name in shown,
            gained=not had & bit,
        )
        for tool in view
        if (bit := view.registry.bits((tool,)))
    )
    return Holding(
        tools=held,
        lost=view.registry.names_of(had & ~view.issued),
        read_only=sum(one.tool.read_only for one in held),
        destructive=sum(one.tool.destructive for one in held),
        deferred=sum(not one.shown for one in held),
        tokens=sum(one.tool.tokens for one in held if one.shown),
    )


def _by(view: View, bit: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step.why for step in view.steps if step.adds and step.mask & bit))


class Holder(Struct, frozen=True):
    """An agent, and whether it holds a tool."""

    agent: str
    told: Explained


def holders(resolver: Resolver, tool: str) -> list[Holder]:
    """Every agent, and why it holds a tool or does not."""
    return [Holder(agent, explain(resolver, Seat(agent=agent), tool)) for agent in sorted(resolver.grants.agents)]


def granting(resolver: Resolver, tool: str) -> list[str]:
    """The toolboxes that hold a tool."""
    bit = resolver.mask((tool,))
    return sorted(name for name in resolver.grants.toolboxes if resolver.box(name) & bit)


def matrix(resolver: Resolver, agents: Sequence[str], *, depth: int = 0) -> dict[str, dict[str, Explained]]:
    """For every tool and every agent, whether it is held and what decided."""
    found: dict[str, dict[str, Explained]] = {tool.name: {} for tool in resolver.registry.tools}
    for agent in agents:
        for told in explain_all(resolver, Seat(agent=agent, depth=depth)):
            found[told.tool][agent] = told
    return found


def with_agent(resolver: Resolver, agent: str, **changed: object) -> Resolver:
    """The same rules, with an agent changed. Nothing is saved."""
    rules = replace(resolver.rules_of(agent), **changed)
    agents: Mapping[str, AgentRules] = {**resolver.grants.agents, rules.name: rules}
    return _changed(resolver, agents=agents)


def with_toolbox(
    resolver: Resolver, name: str, tools: Iterable[str] | None, *, exact: bool = False, renamed: str = ""
) -> Resolver:
    """The same rules, with a toolbox made, changed or (without tools) taken away. Nothing is saved."""
    kept = {own: box for own, box in resolver.grants.toolboxes.items() if key_of(own) != key_of(name)}
    if tools is not None:
        kept[renamed or name] = Toolbox(name=renamed or name, tools=tuple(tools), exact=exact)
    return _changed(resolver, toolboxes=kept)


def _changed(resolver: Resolver, **fields: object) -> Resolver:
    grants = replace(resolver.grants, revision=resolver.grants.revision + 1, **fields)
    return Resolver(resolver.registry, grants)


def known_box(resolver: Resolver, name: str) -> Toolbox:
    """The toolbox of that name, or a refusal with the nearest ones."""
    box = resolver.toolbox(name)
    if box is None:
        close = near(name, resolver.grants.toolboxes)
        meant = f"Did you mean {' or '.join(close)}?" if close else ""
        raise ToolFailed(f"There is no toolbox named {name!r}.", code="TOOLBOX_NOT_FOUND", hint=meant)
    return box
