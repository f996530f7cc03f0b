"""Whether every name in a configuration means something, and whether its toolkits fit its agents."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from toolcrib.core.call import Where
from toolcrib.core.errors import Problem
from toolcrib.core.policy import AgentRules, Grants, KitTool, Names
from toolcrib.core.registry import Registry, UnknownName, near
from toolcrib.core.toolkit import CONTROL, conflict
from toolcrib.services.config.meaning import all_meant, meant
from toolcrib.services.config.nodes import at
from toolcrib.services.config.values import CallRule, Config

CONTROLS = frozenset({*CONTROL, "dynamic_tools"})  # the last one is what MindRoom calls the three together


def check_names(
    config: Config, registry: Registry, base: Grants, *, boxes: Iterable[str] = (), agents: Iterable[str] = ()
) -> list[Problem]:
    """What is wrong with a configuration's names, in the order of its lines.

    `boxes` and `agents` are toolboxes and agents that are kept elsewhere.
    """
    check = _Check(config, registry, base, boxes, frozenset((*config.agents, *agents)))
    found = [*check.lists(), *check.own_names(), *check.single_tools(), *check.toolkits(), *check.agents()]
    return sorted(found, key=lambda problem: problem.line)


class _Check:
    """One check of one configuration."""

    def __init__(
        self, config: Config, registry: Registry, base: Grants, boxes: Iterable[str], agents: frozenset[str]
    ) -> None:
        self.config = config
        self.registry = registry
        self.base = base
        every = (*base.toolboxes, *config.toolboxes, *boxes)
        self.known_agents = agents
        self.boxes = {name.lower(): name for name in every}
        self._wrong: dict[str, tuple[str, str] | None] = {}
        self.kits = {name.lower(): kit for name, kit in config.toolkits.items()}

    def problem(self, where: str, what: str, mend: str = "") -> Problem:
        return Problem(where, what, mend, self.config.line(where))

    def lists(self) -> Iterator[Problem]:
        """Every entry of every list of tools."""
        for where, names in self._lists():
            for i, name in enumerate(names or ()):
                yield from self._entry(at(where, i), name)

    def _entry(self, where: str, name: str) -> Iterator[Problem]:
        if name not in self._wrong:
            self._wrong[name] = self._wrong_with(name)
        if wrong := self._wrong[name]:
            yield self.problem(where, *wrong)

    def _wrong_with(self, name: str) -> tuple[str, str] | None:
        """What is wrong with an entry and how to mend it. The nearest names cost much more than the check."""
        try:
            self.registry.check(name)
        except UnknownName as error:
            return error.what, error.mend
        return None

    def _lists(self) -> Iterator[tuple[str, Names | None]]:
        config, policy = self.config, self.config.policy
        yield from ((f"policy.{key}", getattr(policy, key)) for key in ("allow", "deny", "also_allow", "hard_deny"))
        for key in ("deny", "leaf_deny"):
            yield f"policy.sub_agents.{key}", getattr(config.sub_agents, key)
        for name, provider in policy.providers.items():
            yield at(at("policy.providers", name), "allow"), provider.allow
        for name, names in policy.groups.items():
            yield at(at("policy.groups", name), "allow"), names
        for name, box in config.toolboxes.items():
            yield at(at("toolboxes", name), "tools"), box.tools
        for name, agent in config.agents.items():
            yield from self._of_agent(at("agents", name), agent)
        yield "flow.tools", config.flow.tools

    def _of_agent(self, where: str, agent: AgentRules) -> Iterator[tuple[str, Names | None]]:
        yield at(where, "tools"), tuple(tool.name for tool in agent.tools)
        yield from ((at(where, key), getattr(agent, key)) for key in ("allow", "deny", "also_allow"))
        for provider, names in agent.by_provider.items():
            yield at(at(at(where, "by_provider"), provider), "allow"), names

    def own_names(self) -> Iterator[Problem]:
        """Names that the configuration gives, and profiles that it uses."""
        builtin = {name.lower() for name, box in self.base.toolboxes.items() if box.builtin}
        for name in self.config.toolboxes:
            if name.lower() in builtin:
                what = f"{name!r} is a built-in toolbox, and those cannot be changed."
                yield self.problem(at("toolboxes", name), what, "Choose another name.")
        for kind in ("toolboxes", "toolkits", "agents"):
            yield from self._doubles(kind, getattr(self.config, kind))
        policy = self.config.policy
        used = [("policy.profile", policy.profile)]
        used += [(at(at("policy.providers", name), "profile"), one.profile) for name, one in policy.providers.items()]
        for where, name in used:
            if name is not None and name not in self.base.profiles:
                yield self.problem(where, f"There is no profile {name!r}.", _meant(name, self.base.profiles))

    def _doubles(self, kind: str, named: Mapping[str, object]) -> Iterator[Problem]:
        seen: dict[str, str] = {}
        for name in named:
            first = seen.setdefault(name.lower(), name)
            if first != name:
                what = f"{name!r} and {first!r} are one name: capitals make no difference."
                yield self.problem(at(kind, name), what, "Rename one of them.")

    def single_tools(self) -> Iterator[Problem]:
        """Keys and rules that name a tool."""
        for rule in self.config.rules:
            yield from self._entry(at(rule.name, "tool"), rule.tool)
            yield from self._arguments(rule)
        for key, named in (("tools", self.config.limits.tools), ("seconds", self.config.limits.seconds)):
            for name in named:
                yield from self._entry(at(f"limits.{key}", name), name)
        for name in self.config.network.tools:
            yield from self._entry(at("network.tools", name), name)
        for key in ("limits", "flow", "network", "search", "shell", "sandbox"):
            for name in getattr(self.config, key).agents:
                if name not in self.known_agents:
                    what = f"There is no agent {name!r}."
                    yield self.problem(at(f"{key}.agents", name), what, _meant(name, self.known_agents))

    def _arguments(self, rule: CallRule) -> Iterator[Problem]:
        """A pattern for an argument that none of a rule's tools has: the rule would never fit."""
        tools = self.registry.tools_of(self.registry.mask((rule.tool,))) if rule.where else ()
        known = {name for tool in tools for name in tool.schema.get("properties", {})}
        for name in rule.where if tools else ():
            if name not in known:
                what = f"{rule.tool} has no argument {name!r}."
                mend = _meant(name, known) or f"Its arguments: {', '.join(sorted(known)[:20])}."
                yield self.problem(at(at(rule.name, "where"), name), what, mend)

    def toolkits(self) -> Iterator[Problem]:
        """What a toolkit may hold: each tool once, none that steers the toolkits, none that only sub-agents have."""
        for name, kit in self.config.toolkits.items():
            held: set[str] = set()
            for i, tool in enumerate(kit.tools):
                where = at(at(at("toolkits", name), "tools"), i)
                names = meant(self.registry, tool.name) or {tool.name.lower()}
                yield from self._fits(where, tool.name, names)
                if twice := sorted(held & names):
                    yield self.problem(where, f"The toolkit holds {twice[0]} twice.", "Take one of them out.")
                held |= names

    def _fits(self, where: str, name: str, names: AbstractSet[str]) -> Iterator[Problem]:
        misfit = kit_misfit(self.registry, names)
        if not misfit or misfit[0] not in CONTROLS:
            yield from self._entry(where, name)
        if misfit:
            yield self.problem(where, f"{misfit[0]} {misfit[1]}.", "Take it out.")

    def agents(self) -> Iterator[Problem]:
        """What each agent refers to."""
        for name, agent in self.config.agents.items():
            where = at("agents", name)
            for i, box in enumerate(agent.toolboxes):
                if box.lower() not in self.boxes:
                    place = at(at(where, "toolboxes"), i)
                    yield self.problem(place, f"There is no toolbox {box!r}.", self._no_box(box))
            known = True
            for problem in self._kits_of(where, agent):
                known = False
                yield problem
            if known:
                yield from self._conflict(where, agent)

    def _no_box(self, name: str) -> str:
        """What to write instead of a toolbox that is not there."""
        if name == "*":
            return "The toolbox of every tool is called all."
        if self._wrong_with(name) is None:
            return "It is a tool or a group: put it under `tools`."
        return _meant(name, self.boxes.values())

    def _kits_of(self, where: str, agent: AgentRules) -> Iterator[Problem]:
        allowed = {name.lower() for name in agent.allowed_toolkits}
        for key in ("allowed_toolkits", "initial_toolkits"):
            seen: set[str] = set()
            names: Names = getattr(agent, key)
            for i, name in enumerate(names):
                place = at(at(where, key), i)
                if name.lower() not in self.kits:
                    mend = _meant(name, self.config.toolkits)
                    yield self.problem(place, f"There is no toolkit {name!r}.", mend)
                elif name.lower() in seen:
                    yield self.problem(place, f"{name} is listed twice.", "Take one of them out.")
                elif name.lower() not in allowed:
                    what = f"{name} is loaded from the start and not among allowed_toolkits."
                    yield self.problem(place, what, "Add it to allowed_toolkits.")
                seen.add(name.lower())

    def _conflict(self, where: str, agent: AgentRules) -> Iterator[Problem]:
        """Toolkits that are loaded together from the start must agree on their tools' settings."""
        kits = [self.kits[name.lower()] for name in agent.initial_toolkits]
        found = conflict(self.registry, self._static(agent), kits) if kits else None
        if found:
            what = f"{found[0]} would be loaded with two different settings: {dict(found[1])} and {dict(found[2])}."
            yield self.problem(at(where, "initial_toolkits"), what, "Make them the same, or load one of the two later.")

    def _static(self, agent: AgentRules) -> list[KitTool]:
        """What the agent holds anyway. Its own settings stand against a toolbox, which has none."""
        every = {**self.base.toolboxes, **self.config.toolboxes}
        wanted = {name.lower() for name in agent.toolboxes}
        boxes = [box for name, box in every.items() if name.lower() in wanted]
        own = all_meant(self.registry, (tool.name for tool in agent.tools))
        granted = all_meant(self.registry, (entry for box in boxes for entry in box.tools))
        return [*agent.tools, *(KitTool(name) for name in sorted(granted - own))]


def kit_misfit(registry: Registry, names: AbstractSet[str]) -> tuple[str, str] | None:
    """The first of these tools that cannot be in a toolkit, and why."""
    if steering := sorted(names & CONTROLS):
        return steering[0], "cannot be in a toolkit: an agent has it, or has not, whatever it loads"
    only = sorted(name for name in names if not _in_main_hands(registry, name))
    return (only[0], "is for sub-agents only, and toolkits are for main agents") if only else None


def _in_main_hands(registry: Registry, name: str) -> bool:
    tool = registry.get(name)
    if tool is not None:
        return Where.MAIN in tool.traits.where
    reserved = registry.reserved(name)
    return reserved is None or reserved.where != Where.SUB_AGENT.value


def _meant(name: str, among: Iterable[str]) -> str:
    """The question that helps."""
    close = near(name, among)
    return f"Did you mean {' or '.join(close)}?" if close else ""
