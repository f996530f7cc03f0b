"""From the text of toolcrib.yaml to a `Config`, or to every problem in it with its line."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from toolcrib.core.errors import BadConfig, ToolFailed
from toolcrib.core.policy import AgentRules, KitTool, Names, Policy, ProviderRules, Toolbox, Toolkit
from toolcrib.core.tool import Effect
from toolcrib.services.config.document import parse
from toolcrib.services.config.keys import FIELDS, ROOT
from toolcrib.services.config.kinds import described
from toolcrib.services.config.nodes import Reading, at
from toolcrib.services.config.values import (
    AgentFlow,
    AgentShell,
    ApprovalRules,
    CallRule,
    Config,
    FlowRules,
    Limits,
    McpRules,
    Sandbox,
    Server,
    ShellRule,
    ShellRules,
    SubAgents,
    UndoRules,
    VaultRules,
)
from toolcrib.services.http import Bucket, Network
from toolcrib.services.mcp.reading import server_of
from toolcrib.services.mcp.servers import Server as McpServer
from toolcrib.services.web import Provider, SearchRules

Found = Mapping[str, Any]
_EFFECTS: dict[str, str] = {"destructive": Effect.DESTROY.value}  # people say destructive, as the flag of a tool does


def read_config(text: str, *, source: str = "toolcrib.yaml", env: Mapping[str, str]) -> Config:
    """The configuration in a text. Variables such as ${NAME} come from `env`. Raises BadConfig with all problems."""
    into = Reading(env)
    node = parse(text, source, into.problems)
    found: Found = {}
    if node is not None:
        found = ROOT.read(node, "", into) or {}
    _complete_all(found, into)
    for name, box in found.get("toolboxes", {}).items():
        place = at("toolboxes", name)
        if "tools" not in (box or {}) and at(place, "tools") not in into.lines:
            into.refuse(place, "This toolbox has no 'tools'.", into.lines.get(place, 0), "Add them; [] grants nothing.")
    servers = _servers(found.get("mcpServers", {}), into)
    if into.problems:
        raise BadConfig(sorted(into.problems, key=lambda problem: problem.line), source)
    return replace(_config(found, into, source), servers=servers)


def _servers(found: Found, into: Reading) -> tuple[McpServer, ...]:
    """The MCP servers; one that cannot be is refused with its line."""
    made: list[McpServer] = []
    for name, said in found.items():
        try:
            made.append(server_of(name, said or {})[0])
        except ToolFailed as error:
            where = at("mcpServers", name)
            if not any(problem.where.startswith(where) for problem in into.problems):
                into.refuse(where, error.message, into.lines.get(where, 0), error.hint)
    return tuple(made)


def key_rows() -> list[tuple[str, str, str, str]]:
    """Every key with its place, kind, default and words, for the reference."""
    return list(described(FIELDS))


def _complete_all(found: Found, into: Reading) -> None:
    """What would fit nothing or do nothing without all of its keys."""
    for i, rule in enumerate(found.get("rules", ())):
        _complete(rule, "rule", f"rules[{i}]", ("tool", "action"), into)
    for i, rule in enumerate(found.get("shell", {}).get("rules", ())):
        _complete(rule, "rule", f"shell.rules[{i}]", ("decision", "program"), into)
    for i, provider in enumerate(found.get("search", {}).get("providers", ())):
        _complete(provider, "provider", f"search.providers[{i}]", ("kind",), into)
    for name, bucket in found.get("network", {}).get("buckets", {}).items():
        _complete(bucket, "bucket", at("network.buckets", name), ("calls",), into)


def _complete(part: Found | None, noun: str, where: str, keys: Names, into: Reading) -> None:
    for key in keys:
        place = at(where, key)
        if part is not None and key not in part and place not in into.lines:
            into.refuse(where, f"This {noun} has no {key!r}.", into.lines.get(where, 0), f"Add {key}.")
        elif part is not None and key not in part and not _refused(place, into):
            into.refuse(place, f"A {noun} needs its {key!r}, and this is empty.", into.lines[place])


def _refused(place: str, into: Reading) -> bool:
    return any(problem.where == place for problem in into.problems)


def _config(found: Found, into: Reading, source: str) -> Config:
    said = found.get("policy", {})
    ignored = said.get("empty_allow") == "ignore"
    plain = ("audit", "workspace", "deny_paths", "store")
    return Config(
        agents={name: _agent(name, one, ignored=ignored) for name, one in found.get("agents", {}).items()},
        toolboxes={name: Toolbox(name=name, **one) for name, one in found.get("toolboxes", {}).items()},
        toolkits={name: _toolkit(name, one) for name, one in found.get("toolkits", {}).items()},
        policy=_policy(said, ignored=ignored),
        sub_agents=_sub_agents(said.get("sub_agents", {})),
        rules=tuple(CallRule(name=f"rules[{i}]", **rule) for i, rule in enumerate(found.get("rules", ()))),
        limits=Limits(**found.get("limits", {})),
        flow=_flow(found.get("flow", {})),
        network=_network(found.get("network", {})),
        search=_search(found.get("search", {})),
        shell_rules=tuple(map(_shell_rule, found.get("shell", {}).get("rules", ()))),
        shell=_shell(found.get("shell", {})),
        sandbox=Sandbox(**found.get("sandbox", {})),
        vault=VaultRules(**found.get("vault", {})),
        approvals=ApprovalRules(**found.get("approvals", {})),
        undo=UndoRules(**found.get("undo", {})),
        server=_server(found.get("server", {})),
        mcp=McpRules(**found.get("mcp", {})),
        confirm=_effects(found.get("confirm", ())),
        scrub_env=found.get("scrub", {}).get("env", ()),
        notes=tuple(into.notes),
        lines=into.lines,
        source=source,
        **{key: found[key] for key in plain if key in found},
    )


def _flow(found: Found) -> FlowRules:
    agents = {name: AgentFlow(**one) for name, one in found.get("agents", {}).items()}
    return FlowRules(**{key: found[key] for key in found if key != "agents"}, agents=agents)


def _server(found: Found) -> Server:
    said = dict(found)
    auth = said.pop("auth", "")  # YAML reads on as true
    return Server(**said, auth=("off", "on")[auth] if isinstance(auth, bool) else auth)


def _network(found: Found) -> Network:
    said = dict(found)
    buckets = {name: Bucket(**one) for name, one in said.pop("buckets", {}).items()}
    return Network(**said, buckets=buckets)


def _search(found: Found) -> SearchRules:
    providers = tuple(Provider(**one) for one in found.get("providers", ()))
    return SearchRules(providers=providers, agents=found.get("agents", {}))


def _shell_rule(found: Found) -> ShellRule:
    said = dict(found)
    if isinstance(said.get("arguments"), str):
        said["arguments"] = tuple(said["arguments"].split())
    return ShellRule(**said)


def _shell(found: Found) -> ShellRules:
    agents = {name: AgentShell(**one) for name, one in found.get("agents", {}).items()}
    return ShellRules(**{key: found[key] for key in found if key not in {"agents", "rules"}}, agents=agents)


def _effects(words: Names) -> Names:
    return tuple(_EFFECTS.get(word, word) for word in words)


def _allow(found: Found | None, *, ignored: bool) -> Names | None:
    """None is no rule. An empty list lets nothing pass, unless it was asked to mean no rule."""
    listed: Names | None = None if found is None else found.get("allow")
    return None if ignored and not listed else listed


def _agent(name: str, found: Found, *, ignored: bool) -> AgentRules:
    said = dict(found)
    role = said.pop("role", "")
    providers: Found = said.pop("by_provider", {})
    lists = {provider: _allow(one, ignored=ignored) for provider, one in providers.items()}
    return AgentRules(
        name=name,
        description=said.pop("description", role),
        tools=_entries(said.pop("tools", ())),
        by_provider={provider: listed for provider, listed in lists.items() if listed is not None},
        **({key: said[key] for key in said if key != "allow"}),
        allow=_allow(found, ignored=ignored),
    )


def _entries(found: tuple[tuple[str, dict[str, object]], ...]) -> tuple[KitTool, ...]:
    return tuple(KitTool(name, settings) for name, settings in found)


def _toolkit(name: str, found: Found) -> Toolkit:
    return Toolkit(name=name, description=found.get("description", ""), tools=_entries(found.get("tools", ())))


def _policy(found: Found, *, ignored: bool) -> Policy:
    providers = {
        name: ProviderRules(profile=one.get("profile"), allow=_allow(one, ignored=ignored))
        for name, one in found.get("providers", {}).items()
    }
    groups = {name: _allow(one, ignored=ignored) for name, one in found.get("groups", {}).items()}
    own = ("profile", "deny", "also_allow", "hard_deny", "max_spawn_depth", "tool_limit", "tool_tokens")
    return Policy(
        allow=_allow(found, ignored=ignored),
        providers=providers,
        groups={name: listed for name, listed in groups.items() if listed is not None},
        **{key: found[key] for key in own if key in found},
    )


def _sub_agents(found: Found) -> SubAgents:
    preset = found.get("preset", "")
    return SubAgents(
        preset="" if preset == "default" else preset, deny=found.get("deny"), leaf_deny=found.get("leaf_deny")
    )
