"""Taking up a source's tools anew: a new snapshot of all tools, and what is said about those that are not there."""

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.policy import AgentRules, Lent
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Tool


class Beside(Struct, frozen=True, kw_only=True):
    """What a source says beside its tools."""

    awaited: Mapping[str, str] = {}  # a known server, in small letters: why a tool of it is not there
    missing: Mapping[str, str] = {}  # a condition of tools: why it does not hold
    lent: Mapping[str, tuple[Lent, ...]] = {}  # what grants give to agents, and take from them
    users: Mapping[str, tuple[Lent, ...]] = {}  # what grants take from users

    def lend(self, agents: Mapping[str, AgentRules]) -> dict[str, AgentRules]:
        """Agents with what grants lend them."""
        return {
            name: rules if (lent := self.lent.get(name, ())) == rules.lent else replace(rules, lent=lent)
            for name, rules in agents.items()
        }


def taken_up(
    before: Resolver, tools: Iterable[Tool], source: str, beside: Beside, missing: Mapping[str, str]
) -> Resolver:
    """The resolver over the tools there were, with those of one source replaced."""
    kept = [tool for tool in before.registry.tools if tool.source != source]
    names = replace(before.registry.names, awaited=beside.awaited)
    registry = Registry([*kept, *tools], names, generation=before.registry.generation + 1)
    grants = replace(
        before.grants,
        agents=beside.lend(before.grants.agents),
        missing={**missing, **beside.missing},
        users=beside.users,
        revision=before.grants.revision + 1,
    )
    return Resolver(registry, grants)
