"""Random registries, grants and seats for the properties of the resolver."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from tests.reference import Fact, World
from toolcrib.core import registry
from toolcrib.core.call import JsonObject, Spawn, Where
from toolcrib.core.errors import BadArguments
from toolcrib.core.policy import (
    AgentRules,
    Grants,
    KitTool,
    Lent,
    Policy,
    ProviderRules,
    SubAgentRules,
    Toolbox,
    Toolkit,
)
from toolcrib.core.registry import Registry, Reserved
from toolcrib.core.resolver import Seat
from toolcrib.core.tool import Effect, Lane, Tool, Traits

T = TypeVar("T")
Names = tuple[str, ...]


class NoArguments:
    """Takes anything and hands on nothing."""

    schema: JsonObject = {"type": "object", "properties": {}}  # noqa: RUF012 - never changed

    @property
    def decode(self) -> Callable[[bytes], dict[str, Any]]:
        return lambda _: {}

    def told(self, error: ValueError) -> BadArguments:
        return BadArguments(str(error))


async def nothing() -> str:
    """Does nothing."""
    return "done"


# name: source, origin, aliases. `send` is claimed twice, so it means neither of the two.
POOL: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "read_file": ("native", "", ("view",)),
    "write_file": ("native", "", ()),
    "run_shell": ("native", "", ("bash", "exec")),
    "think": ("native", "", ()),
    "report_to_parent": ("native", "", ()),
    "request_input": ("native", "", ()),
    "recall": ("native", "", ("memory_search",)),
    "browser_open": ("native", "", ()),
    "browser_click": ("native", "", ()),
    "spawn_self": ("native", "", ("fork",)),
    "send_agent_message": ("native", "", ("send",)),
    "team_send": ("native", "", ("send",)),
    "search_tools": ("native", "", ()),
    "load_tools": ("native", "", ()),
    "custom_Report": ("custom", "", ()),
    "custom_browser_x": ("custom", "", ()),
    "mcp_git_push": ("mcp", "git", ("mcp_git__push",)),
    "mcp_git_pull": ("mcp", "git", ()),
    "mcp_jira_list": ("mcp", "Jira", ()),
    "plugin_paint_draw": ("plugin", "paint", ()),
    "plugin_paint_wipe": ("plugin", "paint", ("wipe",)),
}
MCP = tuple(name for name, (source, _, _) in POOL.items() if source == "mcp")
# Groups and covers hold native names only: an MCP server may be away, and its names with it.
GROUPS = {
    "fs": ("read_file", "write_file"),
    "runtime": ("bash",),
    "both": ("group:fs", "group:runtime", "recall"),
    "native": ("*native",),
    "all": ("*everything",),
}
COVERS = {"browser": ("browser_open", "browser_click"), "files": ("read_file", "write_file", "create_cron")}
PLAIN = (
    *POOL,
    *("Read_File", "RUN_SHELL", "bash", "Exec", "view", "memory_search", "fork", "send", "mcp_git__push", "wipe"),
    *("group:fs", "group:runtime", "group:both", "Group:FS", "browser", "files", "create_cron", "no_such_tool"),
)
WIDE = (
    *("*", "*native", "*everything", "group:native", "group:all"),
    *("group:mcp", "group:mcp:git", "group:mcp:jira", "group:plugin:paint", "group:mcp:away"),
    *(
        "browser_*",
        "*_file",
        "mcp_*",
        "mcp_git_*",
        "plugin_*",
        "MCP_*_p?sh",
        "*_paint_*",
        "*_git_*",
        "?cp_*",
        "c*",
        "??ll*",
        "[rt]e*",
    ),
)
ENTRIES = (*PLAIN, *PLAIN, *WIDE)
BOXES = ("one", "two", "Three", "exact", "look")
KITS = ("build", "ship")
PROFILES = ("narrow", "wide")
AGENTS = ("ada", "bob")
PROVIDERS = ("", "acme", "other")
CHANNELS = ("", "ops", "open")

HANDS = (frozenset(Where), frozenset({Where.MAIN}), frozenset({Where.SUB_AGENT}))


class Dice:
    """One part of an example, made of one number: a draw apart for each name takes twenty times as long.

    Number 0 is the empty part, so that what fails is made smaller part by part.
    """

    def __init__(self, number: int) -> None:
        self._random = Random(number)
        self.bare = number == 0

    def some(self, names: Sequence[T], most: int) -> tuple[T, ...]:
        """Some of the names in any order, each once."""
        return tuple(self._random.sample(names, 0 if self.bare else self.up_to(min(most, len(names)))))

    def entries(self, most: int = 5) -> Names:
        """A list as somebody may write it."""
        return tuple(self._random.choices(ENTRIES, k=0 if self.bare else self.up_to(most)))

    def up_to(self, most: int) -> int:
        return 0 if self.bare else int(self._random.random() * (most + 1))

    def maybe(self, value: T, often: float = 0.22) -> T | None:
        """None more often than not: most rules are absent."""
        return value if not self.bare and self._random.random() < often else None

    def one(self, names: Sequence[T]) -> T:
        return names[self.up_to(len(names) - 1)]


def parts(make: Callable[[Dice], T]) -> st.SearchStrategy[T]:
    """A part, out of one number."""
    return st.integers(0, 2**24 - 1).map(lambda number: make(Dice(number)))


def subsets(names: tuple[str, ...], most: int = 9) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the names, in any order, each once."""
    return parts(lambda dice: dice.some(names, most))


def _tools(dice: Dice) -> tuple[Tool, ...]:
    """A registry's tools: part of the pool, in hands and under conditions of any kind."""
    pool = tuple(POOL)
    absent, bound = dice.some(pool, 5), dice.some(pool, 3)
    shy = {name: dice.one(HANDS) for name in dice.some(pool, 6)}
    return tuple(_tool(name, shy.get(name, frozenset(Where)), bound) for name in pool if name not in absent)


def _tool(name: str, where: frozenset[Where], bound: tuple[str, ...]) -> Tool:
    source, origin, aliases = POOL[name]
    condition = "toolkits" if name == "load_tools" else "browser" if name in bound else ""
    traits = Traits(where=where, condition=condition, lane=Lane.DAILY, effect=Effect.READ)
    return Tool(
        name=name, domain="d", about="A tool.", body=nothing, arguments=NoArguments(), traits=traits,
        aliases=aliases, source=source, origin=origin,
    )  # fmt: skip


def _agent(name: str) -> Callable[[Dice], AgentRules]:
    def make(dice: Dice) -> AgentRules:
        return AgentRules(
            name=name,
            toolboxes=dice.some(BOXES, 3),
            tools=tuple(map(KitTool, dice.entries(2))),
            allow=dice.maybe(dice.entries()),
            deny=dice.entries(2),
            also_allow=dice.entries(2),
            by_provider={name: dice.entries() for name in dice.some(PROVIDERS[1:], 1)},
            allowed_toolkits=dice.some(KITS, 2),
            max_spawn_depth=dice.maybe(dice.up_to(3)),
            tool_limit=dice.maybe(dice.up_to(6)),
            tool_tokens=dice.maybe(dice.up_to(200)),
            lent=tuple(Lent("a grant", dice.some(MCP, 2), gives=i == 0) for i in range(dice.up_to(2))),
        )

    return make


def _policy(dice: Dice) -> Policy:
    """What holds for every agent."""
    providers = {
        name: ProviderRules(profile=dice.maybe(dice.one(PROFILES)), allow=dice.maybe(dice.entries()))
        for name in dice.some(PROVIDERS[1:], 2)
    }
    return Policy(
        profile=dice.maybe(dice.one(PROFILES)),
        providers=providers,
        allow=dice.maybe(dice.entries()),
        groups={name: dice.entries() for name in dice.some(CHANNELS[1:], 1)},
        deny=dice.entries(2),
        also_allow=dice.entries(2),
        hard_deny=dice.entries(2),
        sub_agents=SubAgentRules(excluded=dice.entries(2), denied=dice.entries(2), leaf=dice.entries(2)),
        max_spawn_depth=dice.up_to(3),
        tool_limit=dice.maybe(dice.up_to(6)),
    )


def _lists(dice: Dice) -> tuple[dict[str, Toolbox], dict[str, Toolkit], dict[str, Names]]:
    boxes = {name: Toolbox(name=name, tools=dice.entries(), exact=name in {"exact", "look"}) for name in BOXES}
    kits = {name: Toolkit(name=name, tools=tuple(map(KitTool, dice.entries(2)))) for name in KITS}
    return boxes, kits, {name: dice.entries() for name in PROFILES}


def _grants(lists: Any, ada: AgentRules, bob: AgentRules, policy: Policy, browser: bool) -> Grants:
    boxes, kits, profiles = lists
    return Grants(
        floor=("read_file", "write_file", "run_shell", "think", "report_to_parent", "request_input"),
        reply=("report_to_parent", "request_input"),
        exact_floor=("report_to_parent", "request_input", "think"),
        toolboxes=boxes,
        toolkits=kits,
        profiles=profiles,
        agents={"ada": ada, "bob": bob},
        policy=policy,
        missing={} if browser else {"browser": "no browser is configured"},
        users={"ann": (Lent("a grant", MCP[:1]),)},
    )


def _seat(dice: Dice) -> Seat:
    """A caller, in any place that a caller can be in."""
    held = dice.maybe(frozenset(dice.some(tuple(POOL), 9)), 0.5)
    return Seat(
        agent=dice.one(AGENTS),
        depth=dice.up_to(3),
        user=dice.one(("", "ann")),
        provider=dice.one(PROVIDERS),
        group=dice.one(CHANNELS),
        in_session=bool(dice.up_to(1)),
        toolboxes=dice.maybe(dice.some((*BOXES, "ONE", "Exact"), 3)),
        loaded=dice.some(KITS, 2),
        granted=dice.maybe(dice.entries(2)) or (),
        only=dice.maybe(dice.entries()),
        spawn=dice.maybe(Spawn(held), 0.4),
    )


tools = parts(_tools)
grants = st.builds(_grants, parts(_lists), parts(_agent("ada")), parts(_agent("bob")), parts(_policy), st.booleans())
seats = parts(_seat)


def names_beside(present: tuple[Tool, ...]) -> registry.Names:
    """Groups and covers, with every native tool that this registry lacks known by name."""
    here = {tool.name for tool in present}
    away = {n: Reserved(n, "A tool.", "d", POOL[n][2]) for n in POOL if n not in here and POOL[n][0] == "native"}
    away["create_cron"] = Reserved("create_cron", "A tool.", "d")
    return registry.Names(groups=GROUPS, covers=COVERS, reserved=away)


def registry_of(present: tuple[Tool, ...]) -> Registry:
    """The registry that the resolver reads."""
    return Registry(present, names_beside(present))


def world_of(present: tuple[Tool, ...], rules: Grants) -> World:
    """The same for the reference."""
    facts = tuple(
        Fact(
            tool.name, tool.source, tool.origin, frozenset(where.value for where in tool.traits.where),
            tool.traits.condition, tool.aliases,
        )
        for tool in present
    )  # fmt: skip
    # A tool that is known and not built claims its aliases too: an alias does not move to the one that is there.
    away = {name: POOL[name][2] for name in POOL if POOL[name][0] == "native"} | {"create_cron": ()}
    claimed = {name: aliases for name, aliases in away.items() if name not in {tool.name for tool in present}}
    return World(facts, GROUPS, COVERS, rules, claimed)


def with_agent(rules: Grants, name: str, **change: object) -> Grants:
    """The same grants with one agent changed."""
    agents_now: dict[str, AgentRules] = {**rules.agents, name: replace(rules.agents[name], **change)}
    return replace(rules, agents=agents_now, revision=rules.revision + 1)
