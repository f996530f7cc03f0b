"""What people wrote about who may hold what: toolboxes, toolkits, lists and agents. Plain values, no behaviour.

A list that is None is no rule. A list that is there and empty lets nothing pass.
"""

from collections.abc import Mapping

from msgspec import Struct

Names = tuple[str, ...]


class Toolbox(Struct, frozen=True, kw_only=True):
    """A named allow-list. An exact one replaces the core floor by the reply protocol and `think`."""

    name: str
    tools: Names
    description: str = ""
    exact: bool = False
    builtin: bool = False


class KitTool(Struct, frozen=True):
    """A tool in a toolkit, with the settings that the toolkit gives it."""

    name: str
    overrides: Mapping[str, object] = {}


class Toolkit(Struct, frozen=True, kw_only=True):
    """A named group of tools that an agent may load and unload while it works."""

    name: str
    tools: tuple[KitTool, ...]
    description: str = ""


class ProviderRules(Struct, frozen=True, kw_only=True):
    """What holds for one model provider. Its profile replaces the global one."""

    profile: str | None = None
    allow: Names | None = None


class Lent(Struct, frozen=True):
    """Tools that a grant beside the toolboxes gives, or takes whatever else gives them."""

    why: str
    names: Names
    gives: bool = False
    mend: str = ""


class AgentRules(Struct, frozen=True, kw_only=True):
    """One agent: what it is granted, and what narrows it."""

    name: str
    description: str = ""
    toolboxes: Names = ()
    tools: tuple[KitTool, ...] = ()  # granted beside the toolboxes, as MindRoom's `tools`
    allow: Names | None = None
    deny: Names = ()
    also_allow: Names = ()
    by_provider: Mapping[str, Names] = {}  # provider: allow list
    allowed_toolkits: Names = ()
    initial_toolkits: Names = ()
    max_spawn_depth: int | None = None
    tool_limit: int | None = None  # how many tools the model is shown
    tool_tokens: int | None = None  # how many prompt tokens its tools may cost
    workspace: str = ""
    deny_paths: Names = ()
    context_files: str = ""  # "", "open" or "predefined"
    rate: int | None = None  # calls an hour and session
    lent: tuple[Lent, ...] = ()


class SubAgentRules(Struct, frozen=True, kw_only=True):
    """What a sub-agent never holds, whatever a toolbox says."""

    excluded: Names = ()
    denied: Names = ()
    leaf: Names = ()


class Policy(Struct, frozen=True, kw_only=True):
    """The rules that hold for every agent."""

    profile: str | None = None
    providers: Mapping[str, ProviderRules] = {}
    allow: Names | None = None
    groups: Mapping[str, Names] = {}
    deny: Names = ()
    also_allow: Names = ()
    hard_deny: Names = ()
    sub_agents: SubAgentRules = SubAgentRules()
    max_spawn_depth: int = 1
    tool_limit: int | None = None
    tool_tokens: int | None = None


class Grants(Struct, frozen=True, kw_only=True):
    """Everything that the resolver reads beside the registry. Change it by making a new one with the next revision."""

    floor: Names = ()
    reply: Names = ()
    exact_floor: Names = ()
    toolboxes: Mapping[str, Toolbox] = {}
    toolkits: Mapping[str, Toolkit] = {}
    profiles: Mapping[str, Names] = {}
    agents: Mapping[str, AgentRules] = {}
    policy: Policy = Policy()
    missing: Mapping[str, str] = {}  # condition: why it does not hold, e.g. {"browser": "no browser is configured"}
    users: Mapping[str, tuple[Lent, ...]] = {}  # what grants take from everybody who calls for a user
    revision: int = 1
