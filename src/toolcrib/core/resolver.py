"""Which tools an agent holds, and why it does not hold the others: the ten steps of the rule, in order.

    universe ► grant ► seven allow lists ► deny ► also-allow ► hard deny ► sub-agent floor ► no escalation
             ► request list ► shown or deferred

One `View` answers what a caller may see and what it may call, so the two cannot drift apart. Every step leaves
its mask behind, and that trace is all that `explain` reads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from toolcrib.core.call import Caller, Spawn, Where
from toolcrib.core.errors import ToolError
from toolcrib.core.policy import AgentRules, Grants, Toolbox
from toolcrib.core.prompt import Budget, shown
from toolcrib.core.registry import Registry, near
from toolcrib.core.tool import Tool

VIEWS_KEPT = 4096
TOOLKITS = "toolkits"  # the condition under which the meta tools of dynamic toolkits are there
FINDER = "search_tools"  # what brings a deferred tool into the prompt


class UnknownAgent(ToolError):
    """No agent of that name is configured."""

    code = "unknown_agent"


class Seat(Struct, frozen=True, cache_hash=True, kw_only=True):
    """All that a view depends on beside the registry and the grants. Two callers in one seat hold the same."""

    agent: str
    depth: int = 0
    provider: str = ""
    group: str = ""
    in_session: bool = False
    toolboxes: tuple[str, ...] | None = None
    loaded: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()  # unexpired temporary grants
    found: tuple[str, ...] = ()  # deferred tools that a search has brought into the prompt
    only: tuple[str, ...] | None = None
    spawn: Spawn | None = None
    user: str = ""  # only where grants say something of this user

    @property
    def where(self) -> Where:
        """Main hands, or a sub-agent's."""
        return Where.SUB_AGENT if self.depth else Where.MAIN


def seat_of(caller: Caller, loaded: Iterable[str] = (), granted: Iterable[str] = (), found: Iterable[str] = ()) -> Seat:
    """The seat in which a caller sits just now."""
    return Seat(
        agent=caller.agent,
        depth=caller.depth,
        provider=caller.provider,
        group=caller.group,
        in_session=bool(caller.session),
        toolboxes=caller.toolboxes,
        loaded=tuple(loaded),
        granted=tuple(granted),
        found=tuple(found),
        only=caller.only,
        spawn=caller.spawn,
    )


class Step(Struct, frozen=True):
    """What one step did: it let the tools of its mask in, or it took them out."""

    name: str
    why: str
    mask: int
    adds: bool = False
    mend: str = ""


class View:
    """What one caller holds, with the step that decided for every tool."""

    def __init__(self, registry: Registry, seat: Seat, walk: "_Walk") -> None:
        self.registry = registry
        self.seat = seat
        self.rules = walk.rules
        self.universe = walk.universe
        self.issued = walk.held
        self.steps = tuple(walk.steps)
        # The runner's way to each tool that was called, outside a team and inside one; a hit is the bit test.
        self.lines: dict[str, Any] = {}
        self.team_lines: dict[str, Any] = {}
        self._budget = walk.budget
        self._pinned = walk.pinned

    def __contains__(self, name: object) -> bool:
        i = self.registry.index(name) if isinstance(name, str) else None
        return i is not None and bool(self.issued >> i & 1)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.registry.tools_of(self.issued))

    def __len__(self) -> int:
        return self.issued.bit_count()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of what is held, in the order that prompts keep."""
        return self.registry.names_of(self.issued)

    @cached_property
    def shown(self) -> tuple[Tool, ...]:
        """What the model is told of. The order is fixed, so that prompt caches hit."""
        if not self._budget:
            return tuple(self)
        needed, floor = self._pinned
        newest, older = self.registry.mask(self.seat.found[:1]), self.registry.mask(self.seat.found[1:])
        # However small the budget, the search itself and the best of the last one come first: else it would be of no use.
        return tuple(shown(self.registry, self.issued, (needed, newest, floor, older), self._budget))

    @cached_property
    def deferred(self) -> tuple[Tool, ...]:
        """Held and callable, and left out of the prompt until a search finds it."""
        told = {tool.name for tool in self.shown}
        return tuple(tool for tool in self if tool.name not in told)


class _Views(dict[Seat, View]):
    """The views that were worked out, up to a bound."""

    def __init__(self, resolve: Callable[[Seat], View]) -> None:
        super().__init__()
        self._resolve = resolve

    def __missing__(self, seat: Seat) -> View:
        if len(self) >= VIEWS_KEPT:
            self.clear()
        view = self[seat] = self._resolve(seat)
        return view


class Resolver:
    """The rule over one registry and one set of grants. A change of either makes a new resolver."""

    def __init__(self, registry: Registry, grants: Grants) -> None:
        self.registry = registry
        self.grants = grants
        self.views = _Views(self.resolve)  # indexed by seat; a hit costs one look-up
        self._boxes: dict[str, int] = {}
        self.mask = registry.mask

    def view(self, seat: Seat) -> View:
        """The view from a seat: worked out once, then remembered."""
        return self.views[seat]

    def resolve(self, seat: Seat) -> View:
        """The ten steps."""
        rules = self.rules_of(seat.agent)
        walk = _Walk(self, seat, rules)
        for step in _STEPS:
            step(walk)
        return View(self.registry, seat, walk)

    def rules_of(self, agent: str) -> AgentRules:
        """The rules of one agent."""
        rules = self.grants.agents.get(agent)
        if rules is None:
            close = near(agent, self.grants.agents)
            meant = f"Did you mean {' or '.join(close)}?" if close else "Define it under `agents` first."
            raise UnknownAgent(f"There is no agent {agent!r}.", hint=meant)
        return rules

    def box(self, name: str) -> int:
        """What a toolbox grants."""
        known = self._boxes.get(name)
        if known is None:
            box = self.toolbox(name)
            known = self._boxes[name] = self.mask(box.tools) if box else 0
        return known

    def toolbox(self, name: str) -> Toolbox | None:
        """The toolbox of that name, in any case of letters."""
        found = self.grants.toolboxes.get(name)
        return found or next((b for n, b in self.grants.toolboxes.items() if n.lower() == name.lower()), None)


class _Walk:
    """The state of one resolution."""

    def __init__(self, resolver: Resolver, seat: Seat, rules: AgentRules) -> None:
        self.resolver = resolver
        self.grants = resolver.grants
        self.policy = resolver.grants.policy
        self.seat = seat
        self.rules = rules
        self.universe = self.held = 0
        self.pinned: tuple[int, int] = (0, 0)  # what is shown before all else, and the floor
        self.steps: list[Step] = []
        self.budget = Budget(
            self.policy.tool_limit if rules.tool_limit is None else rules.tool_limit,
            self.policy.tool_tokens if rules.tool_tokens is None else rules.tool_tokens,
        )

    def lets_in(self, why: str, mask: int, name: str = "grant") -> None:
        mask &= self.universe
        self.held |= mask
        self.steps.append(Step(name, why, mask, adds=True))

    def takes_out(self, name: str, why: str, mask: int, mend: str = "") -> None:
        """Only what was held just now is taken out, so the trace names the step that really decided."""
        self.steps.append(Step(name, why, self.held & mask, mend=mend))
        self.held &= ~mask

    def keeps(self, name: str, why: str, names: Iterable[str] | None, mend: str) -> None:
        if names is not None:
            self.takes_out(name, why, self.resolver.registry.everything & ~self.resolver.mask(names), mend)

    def profile(self, step: str, name: str | None, mend: str) -> None:
        if name is not None:
            self.keeps(step, f"the profile {name} leaves it out", self.grants.profiles.get(name, ()), mend)


def all_exact(boxes: Sequence[Toolbox]) -> bool:
    """Whether these boxes leave the floor out. Each must be exact: adding a box never takes a tool away."""
    return bool(boxes) and all(box.exact for box in boxes)


def _universe(walk: _Walk) -> None:
    registry, seat = walk.resolver.registry, walk.seat
    works = registry.masks_by(seat.where)
    out = registry.everything & ~works
    hands = "not available to sub-agents" if seat.depth else "only sub-agents have it"
    walk.universe = works
    if out:
        walk.steps.append(Step("universe", hands, out))
    for condition, mask in registry.conditional.items():
        if why := _missing(walk, condition):
            walk.steps.append(Step("universe", why, mask & walk.universe))
            walk.universe &= ~mask


def _missing(walk: _Walk, condition: str) -> str:
    if condition != TOOLKITS:
        return walk.grants.missing.get(condition, "")
    if not walk.rules.allowed_toolkits:
        return "this agent has no toolkits: list some under allowed_toolkits"
    return "" if walk.seat.in_session else "dynamic toolkits need a session"


def _grant(walk: _Walk) -> None:
    resolver, seat, rules = walk.resolver, walk.seat, walk.rules
    named = rules.toolboxes if seat.toolboxes is None else seat.toolboxes
    boxes = [box for name in named if (box := resolver.toolbox(name))]
    exact = all_exact(boxes)
    floor = walk.grants.exact_floor if exact else walk.grants.floor
    walk.lets_in("the reply protocol and think" if exact else "the core floor", resolver.mask(floor))
    for box in boxes:
        walk.lets_in(f"toolbox {box.name}", resolver.box(box.name))
    if seat.toolboxes is None and rules.tools:
        walk.lets_in("the agent's own tools", resolver.mask(tool.name for tool in rules.tools))
    for name in seat.loaded:
        kit = walk.grants.toolkits.get(name)
        walk.lets_in(f"toolkit {name}", resolver.mask(tool.name for tool in kit.tools) if kit else 0)
    if rules.allowed_toolkits and seat.in_session and (meta := resolver.registry.conditional.get(TOOLKITS)):
        walk.lets_in("it may load and unload toolkits", meta)
    if seat.granted:
        walk.lets_in("a temporary grant", resolver.mask(seat.granted))
    if walk.budget:
        walk.lets_in("some of its tools may be deferred", resolver.mask((FINDER,)))
    meta = resolver.registry.conditional.get(TOOLKITS, 0)
    walk.pinned = resolver.mask((*walk.grants.reply, FINDER)) | meta, resolver.mask(floor)


def _lend(walk: _Walk) -> None:
    for lent in (one for one in walk.rules.lent if one.gives and walk.seat.toolboxes is None):
        walk.lets_in(lent.why, walk.resolver.mask(lent.names))


def _policy(walk: _Walk) -> None:
    policy, rules, seat = walk.policy, walk.rules, walk.seat
    provider = policy.providers.get(seat.provider) if seat.provider else None
    if provider and provider.profile is not None:
        walk.profile("provider_profile", provider.profile, f"Change policy.providers.{seat.provider}.profile.")
    else:
        walk.profile("global_profile", policy.profile, "Change policy.profile.")
    walk.keeps("global_allow", "the global allow list leaves it out", policy.allow, "Add it to policy.allow.")
    if provider:
        where = f"policy.providers.{seat.provider}.allow"
        walk.keeps(
            "provider_allow", f"the allow list of {seat.provider} leaves it out", provider.allow, f"Add it to {where}."
        )
    at = f"agents.{rules.name}"
    walk.keeps("agent_allow", "the agent's allow list leaves it out", rules.allow, f"Add it to {at}.allow.")
    walk.keeps(
        "agent_provider_allow",
        f"the agent's allow list for {seat.provider} leaves it out",
        rules.by_provider.get(seat.provider) if seat.provider else None,
        f"Add it to {at}.by_provider.{seat.provider}.allow.",
    )
    walk.keeps(
        "group_allow",
        f"the allow list of the group {seat.group} leaves it out",
        policy.groups.get(seat.group) if seat.group else None,
        f"Add it to policy.groups.{seat.group}.allow.",
    )


def _deny(walk: _Walk) -> None:
    mask = walk.resolver.mask
    walk.takes_out("global_deny", "denied by the global policy", mask(walk.policy.deny), "Take it out of policy.deny.")
    mend = f"Take it out of agents.{walk.rules.name}.deny."
    walk.takes_out("agent_deny", "denied by agent policy", mask(walk.rules.deny), mend)


def _also_allow(walk: _Walk) -> None:
    for why, names in (("policy", walk.policy.also_allow), (f"agents.{walk.rules.name}", walk.rules.also_allow)):
        if names:
            walk.lets_in(f"{why}.also_allow adds it", walk.resolver.mask(names), "also_allow")


def _hard_deny(walk: _Walk) -> None:
    denied = walk.resolver.mask(walk.policy.hard_deny)
    walk.takes_out("hard_deny", "on the hard-deny list, which nothing undoes", denied, "Only policy.hard_deny can.")


def _lent(walk: _Walk) -> None:
    for lent in (*(one for one in walk.rules.lent if not one.gives), *walk.grants.users.get(walk.seat.user, ())):
        walk.takes_out("mcp_grant", lent.why, walk.resolver.mask(lent.names), lent.mend)


def _sub_agent_floor(walk: _Walk) -> None:
    if not walk.seat.depth:
        return
    lists = walk.policy.sub_agents
    mask = walk.resolver.mask
    own = walk.rules.max_spawn_depth
    deepest = walk.policy.max_spawn_depth if own is None else own
    walk.takes_out("sub_agent_floor", "sub-agents never hold it", mask(lists.excluded))
    walk.takes_out(
        "sub_agent_floor", "denied to sub-agents", mask(lists.denied), "Take it out of policy.sub_agents.deny."
    )
    if walk.seat.depth >= deepest:
        walk.takes_out(
            "sub_agent_floor",
            f"denied to leaves: depth {walk.seat.depth} is the deepest allowed",
            mask(lists.leaf),
            "Raise max_spawn_depth.",
        )


def _no_escalation(walk: _Walk) -> None:
    spawn, resolver = walk.seat.spawn, walk.resolver
    if spawn is None:
        return
    if spawn.held is None:
        own = resolver.view(Seat(agent=walk.seat.agent, provider=walk.seat.provider))
        bound, why = own.issued, f"{walk.rules.name} does not hold it itself"
    else:
        bound, why = resolver.mask(spawn.held), "its spawner did not hold it"
    bound |= resolver.mask(walk.grants.reply)
    walk.takes_out("no_escalation", why, resolver.registry.everything & ~bound)


def _request_list(walk: _Walk) -> None:
    if walk.seat.only is None:
        return
    kept = walk.resolver.mask(walk.seat.only)
    if walk.seat.depth:
        kept |= walk.resolver.mask(walk.grants.reply)
    why = "this request allows no tools" if not walk.seat.only else "this request's list leaves it out"
    walk.takes_out("request_list", why, walk.resolver.registry.everything & ~kept)


_STEPS: tuple[Callable[[_Walk], None], ...] = (
    _universe, _grant, _lend, _policy, _deny, _also_allow, _hard_deny, _lent, _sub_agent_floor, _no_escalation, _request_list,
)  # fmt: skip


def overlay(base: Mapping[str, Toolbox], own: Iterable[Toolbox]) -> dict[str, Toolbox]:
    """Toolboxes with the user-made ones beside the built-in ones. A built-in name cannot be taken."""
    taken = {name.lower() for name, box in base.items() if box.builtin}
    return {**base, **{box.name: box for box in own if box.name.lower() not in taken}}
