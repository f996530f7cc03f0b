"""A configuration laid over what is built in: the grants that the resolver reads."""

from collections.abc import Mapping

from msgspec.structs import replace

from toolcrib.core.policy import AgentRules, Grants, SubAgentRules
from toolcrib.core.resolver import overlay
from toolcrib.services.config.values import Config
from toolcrib.services.web import CONDITION, NOT_CONFIGURED


def grants_of(config: Config, base: Grants, presets: Mapping[str, SubAgentRules]) -> Grants:
    """The grants with a configuration in place, one revision on. `presets` are lists for sub-agents by name."""
    kits = {name.lower(): name for name in config.toolkits}
    return replace(
        base,
        toolboxes=overlay(base.toolboxes, config.toolboxes.values()),
        toolkits={**base.toolkits, **config.toolkits},
        agents={**base.agents, **{name: _agent(one, kits) for name, one in config.agents.items()}},
        policy=replace(config.policy, sub_agents=_sub_agents(config, base, presets)),
        missing={**base.missing, **_missing(config)},
        revision=base.revision + 1,
    )


def _missing(config: Config) -> dict[str, str]:
    """Conditions of tools that this configuration does not meet, and why."""
    return {} if config.search.providers else {CONDITION: NOT_CONFIGURED}


def _agent(agent: AgentRules, kits: Mapping[str, str]) -> AgentRules:
    """The agent with its toolkits called as they are written where they are defined."""
    return replace(
        agent,
        allowed_toolkits=tuple(kits.get(name.lower(), name) for name in agent.allowed_toolkits),
        initial_toolkits=tuple(kits.get(name.lower(), name) for name in agent.initial_toolkits),
    )


def _sub_agents(config: Config, base: Grants, presets: Mapping[str, SubAgentRules]) -> SubAgentRules:
    """The preset's lists with what the configuration says instead. The excluded ones stay whatever it says."""
    said = config.sub_agents
    lists = presets[said.preset] if said.preset else base.policy.sub_agents
    return SubAgentRules(
        excluded=base.policy.sub_agents.excluded,
        denied=lists.denied if said.deny is None else said.deny,
        leaf=lists.leaf if said.leaf_deny is None else said.leaf_deny,
    )
