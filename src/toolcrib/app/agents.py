"""Agents as a program writes them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import AgentRules, Grants, KitTool
from toolcrib.core.registry import Registry
from toolcrib.services.config.values import Config

Entries = Sequence[str] | Mapping[str, Any] | AgentRules


def rules_of(name: str, entries: Entries, grants: Grants, registry: Registry) -> AgentRules:
    """An agent as a program writes it. A name that means nothing is refused, as in a file."""
    if isinstance(entries, AgentRules):
        return msgspec.structs.replace(entries, name=name)
    if isinstance(entries, Mapping):
        return heavy("toolcrib.services.agents").read_agent(name, entries, grants, registry)
    if isinstance(entries, str) or not hasattr(entries, "__iter__"):
        what = f"This must be a list of toolbox and tool names, or a mapping, and it is {entries!r}."
        raise BadConfig([Problem(f"agents.{name}", what, f"Write [{entries!r}]." if entries else "")], "agents")
    known = {box.lower() for box in grants.toolboxes}
    named = [entry for entry in entries if entry.lower() in known]
    own = tuple(KitTool(entry) for entry in entries if entry.lower() not in known)
    config = Config(agents={name: AgentRules(name=name, toolboxes=tuple(named), tools=own)}, source="agents")
    problems = heavy("toolcrib.services.config.names").check_names(config, registry, grants)
    if problems:
        raise BadConfig(problems, "agents")
    return config.agents[name]
