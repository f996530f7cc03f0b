"""A second, slow reading of grants.md, in plain sets of names: what the resolver is compared with.

It was written from the specification alone and shares no code with the resolver. Where the specification leaves
room, the comment says which way was taken.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

from toolcrib.core.policy import AgentRules, Grants
from toolcrib.core.resolver import Seat


class Fact(NamedTuple):
    """What the evaluator has to know of one tool."""

    name: str
    source: str
    origin: str
    where: frozenset[str]
    condition: str
    aliases: tuple[str, ...]


class World(NamedTuple):
    """Everything that stands beside the seat."""

    tools: tuple[Fact, ...]
    groups: Mapping[str, tuple[str, ...]]
    covers: Mapping[str, tuple[str, ...]]
    grants: Grants
    unbuilt: Mapping[str, tuple[str, ...]] = {}  # known by name and not there; they hold on to their aliases


class Answer(NamedTuple):
    """Whether a tool is issued, and the step that decided."""

    issued: bool
    step: str


def evaluate(world: World, seat: Seat) -> dict[str, Answer]:
    """The nine steps that decide what is issued, one after the other, for every tool there is."""
    return _Evaluation(world, seat).run()


def issued(world: World, seat: Seat) -> set[str]:
    """The names of what is issued."""
    return {name for name, answer in evaluate(world, seat).items() if answer.issued}


def members(world: World, entries: Iterable[str]) -> set[str]:
    """The canonical names that a list stands for."""
    found: set[str] = set()
    for entry in entries:
        found |= _members_of(world, entry.lower(), ())
    return found


def _members_of(world: World, entry: str, inside: tuple[str, ...]) -> set[str]:
    stars = {"*": ("native", "custom"), "*native": ("native",), "*everything": ("native", "custom", "mcp", "plugin")}
    if entry in stars:
        return {tool.name for tool in world.tools if tool.source in stars[entry]}
    if entry.startswith("group:"):
        return _group(world, entry.removeprefix("group:"), inside)
    exact = {tool.name for tool in world.tools if tool.name.lower() == entry}
    if exact:
        return exact
    covered = [members for name, members in world.covers.items() if name.lower() == entry]
    if covered and entry not in inside:
        return set().union(*(_members_of(world, name.lower(), (*inside, entry)) for name in covered[0]))
    if any(sign in entry for sign in "*?["):
        own = entry.startswith(("mcp_", "plugin_"))
        return {
            tool.name
            for tool in world.tools
            if fnmatchcase(tool.name.lower(), entry) and (own or tool.source in {"native", "custom"})
        }
    claims = {tool.name: tool.aliases for tool in world.tools} | dict(world.unbuilt)
    claimed = {name for name, aliases in claims.items() if entry in {alias.lower() for alias in aliases}}
    # An alias of two tools must be qualified: by itself it means neither.
    return {tool.name for tool in world.tools if claimed == {tool.name}}


def _group(world: World, name: str, inside: tuple[str, ...]) -> set[str]:
    if name == "mcp":
        return {tool.name for tool in world.tools if tool.source == "mcp"}
    for source in ("mcp", "plugin"):
        if name.startswith(f"{source}:"):
            origin = name.removeprefix(f"{source}:")
            return {tool.name for tool in world.tools if tool.source == source and tool.origin.lower() == origin}
    for known, listed in world.groups.items():
        if known.lower() == name and name not in inside:
            return set().union(*(_members_of(world, entry.lower(), (*inside, name)) for entry in listed))
    return set()


class _Evaluation:
    def __init__(self, world: World, seat: Seat) -> None:
        self.world = world
        self.grants = world.grants
        self.seat = seat
        self.rules = self._rules()
        self.universe = {tool.name for tool in world.tools if self._is_there(tool)}
        self.held: set[str] = set()
        self.step = {tool.name: "grant" if tool.name in self.universe else "universe" for tool in world.tools}

    def run(self) -> dict[str, Answer]:
        self.add("grant", self.granted())
        lent = self.rules.lent if self.seat.toolboxes is None else ()  # a task holds what it was given
        self.add("grant", self.list(name for one in lent if one.gives for name in one.names) & self.universe)
        self.narrow_by_policy()
        self.remove("global_deny", self.list(self.grants.policy.deny))
        self.remove("agent_deny", self.list(self.rules.deny))
        also = self.list(self.grants.policy.also_allow) | self.list(self.rules.also_allow)
        self.add("also_allow", also & self.universe)
        self.remove("hard_deny", self.list(self.grants.policy.hard_deny))
        takes = [*(one for one in self.rules.lent if not one.gives), *self.grants.users.get(self.seat.user, ())]
        self.remove("mcp_grant", self.list(name for one in takes for name in one.names))
        if self.seat.depth > 0:
            self.remove("sub_agent_floor", self.floor_of_sub_agents())
        if self.seat.spawn is not None:
            self.keep("no_escalation", self.bound_of_task())
        if self.seat.only is not None:
            replies = self.list(self.grants.reply) if self.seat.depth > 0 else set()
            self.keep("request_list", self.list(self.seat.only) | replies)
        return {name: Answer(name in self.held, step) for name, step in self.step.items()}

    def add(self, step: str, names: set[str]) -> None:
        for name in names - self.held:
            self.step[name] = step
        self.held |= names

    def remove(self, step: str, names: set[str]) -> None:
        for name in names & self.held:
            self.step[name] = step
        self.held -= names

    def keep(self, step: str, names: set[str]) -> None:
        self.remove(step, self.held - names)

    def list(self, entries: Iterable[str]) -> set[str]:
        return members(self.world, entries)

    def _rules(self) -> AgentRules:
        for name, rules in self.grants.agents.items():
            if name.lower() == self.seat.agent.lower():
                return rules
        raise KeyError(self.seat.agent)

    def _is_there(self, tool: Fact) -> bool:
        """Step 1: it works in these hands, and its own condition holds."""
        hands = "sub_agent" if self.seat.depth > 0 else "main"
        if hands not in tool.where:
            return False
        if tool.condition == "toolkits":
            return bool(self.rules.allowed_toolkits) and self.seat.in_session
        return not tool.condition or tool.condition not in self.grants.missing

    def granted(self) -> set[str]:
        """Step 2: the floor, the boxes, the loaded toolkits and what a person granted for a while."""
        frozen = self.seat.toolboxes is not None
        names = self.rules.toolboxes if self.seat.toolboxes is None else self.seat.toolboxes
        wanted = {name.lower() for name in names}
        boxes = [box for name, box in self.grants.toolboxes.items() if name.lower() in wanted]
        # A box replaces the floor only if no other box brings it back: adding one must never remove a tool.
        exact = bool(boxes) and all(box.exact for box in boxes)
        found = self.list(self.grants.exact_floor if exact else self.grants.floor)
        for box in boxes:
            found |= self.list(box.tools)
        if not frozen:  # the agent's own list is no part of what a task was given
            found |= self.list(tool.name for tool in self.rules.tools)
        for name, kit in self.grants.toolkits.items():
            if name in self.seat.loaded:
                found |= self.list(tool.name for tool in kit.tools)
        found |= self.list(self.seat.granted)
        found |= {tool.name for tool in self.world.tools if tool.condition == "toolkits"}
        if self.limit() is not None or self.budget() is not None:
            found |= self.list(["search_tools"])
        return found & self.universe

    def limit(self) -> int | None:
        own = self.rules.tool_limit
        return self.grants.policy.tool_limit if own is None else own

    def budget(self) -> int | None:
        own = self.rules.tool_tokens
        return self.grants.policy.tool_tokens if own is None else own

    def narrow_by_policy(self) -> None:
        """Step 3: seven lists, each of which may be absent."""
        policy, provider = self.grants.policy, self.seat.provider
        theirs = policy.providers.get(provider)
        if theirs is not None and theirs.profile is not None:
            self.keep("provider_profile", self.list(self.grants.profiles[theirs.profile]))
        elif policy.profile is not None:
            self.keep("global_profile", self.list(self.grants.profiles[policy.profile]))
        lists = {
            "global_allow": policy.allow,
            "provider_allow": None if theirs is None else theirs.allow,
            "agent_allow": self.rules.allow,
            "agent_provider_allow": self.rules.by_provider.get(provider),
            "group_allow": policy.groups.get(self.seat.group),
        }
        for step, entries in lists.items():
            if entries is not None:
                self.keep(step, self.list(entries))

    def floor_of_sub_agents(self) -> set[str]:
        """Step 7: what no sub-agent holds, and what none at the deepest level holds."""
        lists = self.grants.policy.sub_agents
        own = self.rules.max_spawn_depth
        deepest = self.grants.policy.max_spawn_depth if own is None else own
        leaf = self.list(lists.leaf) if self.seat.depth >= deepest else set[str]()
        return self.list(lists.excluded) | self.list(lists.denied) | leaf

    def bound_of_task(self) -> set[str]:
        """Step 8: what the spawner held, or what the agent itself holds as a main one; and the reply protocol."""
        spawn = self.seat.spawn
        if spawn is not None and spawn.held is not None:
            bound = self.list(spawn.held)
        else:
            bound = issued(self.world, Seat(agent=self.seat.agent, provider=self.seat.provider))
        return bound | self.list(self.grants.reply)
