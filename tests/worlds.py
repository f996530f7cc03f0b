"""Random registries, grants and seats for the properties of the resolver."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from tests.reference import Fact, World
from toolcrib.core.call import JsonObject, Spawn, Where
from toolcrib.core.errors import BadArguments
from toolcrib.core.policy import AgentRules, Grants, KitTool, Policy, ProviderRules, SubAgentRules, Toolbox, Toolkit
from toolcrib.core.registry import Names, Registry, Reserved
from toolcrib.core.resolver import Seat
from toolcrib.core.tool import Effect, Lane, Tool, Traits

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]


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
    *("browser_*", "*_file", "mcp_*", "mcp_git_*", "plugin_*", "MCP_*_p?sh", "*_paint_*", "c*", "??ll*", "[rt]e*"),
)
ENTRIES = (*PLAIN, *PLAIN, *WIDE)
BOXES = ("one", "two", "Three", "exact", "look")
KITS = ("build", "ship")
PROFILES = ("narrow", "wide")
AGENTS = ("ada", "bob")
PROVIDERS = ("", "acme", "other")
CHANNELS = ("", "ops", "open")

SEEDS = st.integers(0, 2**24 - 1)


def some(names: Sequence[T], most: int, *, twice: bool = False) -> st.SearchStrategy[tuple[T, ...]]:
    """Some of the names in any order, out of one number: drawing each apart takes ten times as long. 0 is none."""

    def pick(number: int) -> tuple[T, ...]:
        dice = Random(number)
        many = dice.randint(0, min(most, len(names))) if number else 0
        return tuple(dice.choices(names, k=many) if twice else dice.sample(names, many))

    return SEEDS.map(pick)


lists = some(ENTRIES, 5, twice=True)
short = some(ENTRIES, 2, twice=True)
HANDS = (frozenset(Where), frozenset(Where), frozenset({Where.MAIN}), frozenset({Where.SUB_AGENT}))


def subsets(names: tuple[str, ...], most: int = 9) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the names, in any order, each once."""
    return some(names, most)


def maybe(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    """None more often than not: most rules are absent."""
    return st.one_of(st.none(), st.none(), strategy)


@st.composite
def tools(draw: Draw) -> tuple[Tool, ...]:
    """A registry's tools: part of the pool, in hands and under conditions of any kind."""
    absent = draw(some(tuple(POOL), 5))
    present = [name for name in POOL if name not in absent]
    shy = dict(zip(draw(some(tuple(POOL), 6)), draw(some(HANDS * 2, 6)), strict=False))
    bound = draw(some(tuple(POOL), 3))
    return tuple(_tool(name, shy.get(name, frozenset(Where)), bound) for name in present)


def _tool(name: str, where: frozenset[Where], bound: tuple[str, ...]) -> Tool:
    source, origin, aliases = POOL[name]
    condition = "toolkits" if name == "load_tools" else "browser" if name in bound else ""
    traits = Traits(where=where, condition=condition, lane=Lane.DAILY, effect=Effect.READ)
    return Tool(
        name=name, domain="d", about="A tool.", body=nothing, arguments=NoArguments(), traits=traits,
        aliases=aliases, source=source, origin=origin,
    )  # fmt: skip


@st.composite
def agents(draw: Draw, name: str) -> AgentRules:
    """One agent's rules."""
    allowed = draw(subsets(KITS))
    return AgentRules(
        name=name,
        toolboxes=draw(subsets(BOXES, 3)),
        tools=tuple(KitTool(tool) for tool in draw(short)),
        allow=draw(maybe(lists)),
        deny=draw(short),
        also_allow=draw(short),
        by_provider=draw(st.dictionaries(st.sampled_from(PROVIDERS[1:]), lists, max_size=1)),
        allowed_toolkits=allowed,
        max_spawn_depth=draw(maybe(st.integers(0, 3))),
        tool_limit=draw(maybe(st.integers(0, 6))),
        tool_tokens=draw(maybe(st.integers(0, 200))),
    )


@st.composite
def policies(draw: Draw) -> Policy:
    """What holds for every agent."""
    rules = st.builds(ProviderRules, profile=maybe(st.sampled_from(PROFILES)), allow=maybe(lists))
    return Policy(
        profile=draw(maybe(st.sampled_from(PROFILES))),
        providers=draw(st.dictionaries(st.sampled_from(PROVIDERS[1:]), rules, max_size=2)),
        allow=draw(maybe(lists)),
        groups=draw(st.dictionaries(st.sampled_from(CHANNELS[1:]), lists, max_size=1)),
        deny=draw(short),
        also_allow=draw(short),
        hard_deny=draw(short),
        sub_agents=SubAgentRules(excluded=draw(short), denied=draw(short), leaf=draw(short)),
        max_spawn_depth=draw(st.integers(0, 3)),
        tool_limit=draw(maybe(st.integers(0, 6))),
    )


@st.composite
def grants(draw: Draw) -> Grants:
    """Everything that the resolver reads beside the registry."""
    boxes = {name: Toolbox(name=name, tools=draw(lists), exact=name in {"exact", "look"}) for name in BOXES}
    kits = {name: Toolkit(name=name, tools=tuple(KitTool(tool) for tool in draw(short))) for name in KITS}
    return Grants(
        floor=("read_file", "write_file", "run_shell", "think", "report_to_parent", "request_input"),
        reply=("report_to_parent", "request_input"),
        exact_floor=("report_to_parent", "request_input", "think"),
        toolboxes=boxes,
        toolkits=kits,
        profiles={name: draw(lists) for name in PROFILES},
        agents={name: draw(agents(name)) for name in AGENTS},
        policy=draw(policies()),
        missing=draw(st.sampled_from(({}, {"browser": "no browser is configured"}))),
    )


@st.composite
def seats(draw: Draw) -> Seat:
    """A caller, in any place that a caller can be in."""
    depth = draw(st.integers(0, 3))
    held = st.builds(Spawn, held=st.one_of(st.none(), subsets(tuple(POOL)).map(frozenset)))
    return Seat(
        agent=draw(st.sampled_from(AGENTS)),
        depth=depth,
        provider=draw(st.sampled_from(PROVIDERS)),
        group=draw(st.sampled_from(CHANNELS)),
        in_session=draw(st.booleans()),
        toolboxes=draw(maybe(subsets((*BOXES, "ONE", "Exact"), 3))),
        loaded=draw(subsets(KITS)),
        granted=draw(maybe(short)) or (),
        only=draw(maybe(lists)),
        spawn=draw(maybe(held)),
    )


def names_beside(present: tuple[Tool, ...]) -> Names:
    """Groups and covers, with every native tool that this registry lacks known by name."""
    here = {tool.name for tool in present}
    away = {n: Reserved(n, "A tool.", "d", POOL[n][2]) for n in POOL if n not in here and POOL[n][0] == "native"}
    away["create_cron"] = Reserved("create_cron", "A tool.", "d")
    return Names(groups=GROUPS, covers=COVERS, reserved=away)


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
