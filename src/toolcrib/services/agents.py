"""All agents in one place: written in the configuration, given by a program, and made by people and kept in the store.

An agent that is kept is written as in toolcrib.yaml, so there is one notation and one check.
"""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, cast

import msgspec
from msgspec import Struct

from toolcrib.core.errors import BadConfig, Problem, ToolFailed
from toolcrib.core.policy import AgentRules, Grants
from toolcrib.core.registry import Registry, near
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.services.config.names import check_names
from toolcrib.services.config.reading import read_config
from toolcrib.services.config.values import Config
from toolcrib.services.drawers import Drawers, Kept, Kind, NameTaken, key_of

NAME_MOST = 64
Definition = Mapping[str, Any]


class Origin(StrEnum):
    """Where an agent comes from. Only those of the store can be changed here."""

    CONFIGURED = "configured"
    STORE = "store"


class Shown(Struct, frozen=True, kw_only=True):
    """One agent as people see it. `definition` is what would stand in toolcrib.yaml."""

    name: str
    origin: Origin
    definition: Definition
    tools: int  # how many it holds now
    created_by: str = ""
    revision: int = 0
    changed: float = 0.0


class Agents:
    """Lists and changes agents. After each change `changed` is waited for, so that a new resolver is in force."""

    def __init__(
        self,
        current: Callable[[], Resolver],
        fixed: Callable[[], Mapping[str, AgentRules]],
        drawers: Drawers,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self._current = current
        self._fixed = fixed
        self._drawers = drawers
        self._changed = changed

    async def all(self) -> tuple[Shown, ...]:
        """Every agent by name. One of the store whose name the configuration took is left out."""
        fixed = {key_of(name): rules for name, rules in self._fixed().items()}
        kept = [self._kept(one) for one in await self._drawers.all(Kind.AGENT) if key_of(one.name) not in fixed]
        found = [*(self._shown(rules) for rules in fixed.values()), *kept]
        return tuple(sorted(found, key=lambda one: key_of(one.name)))

    async def get(self, name: str) -> Shown:
        """The agent of that name."""
        rules = self._of_fixed(name)
        if rules is not None:
            return self._shown(rules)
        kept = await self._drawers.get(Kind.AGENT, name)
        if kept is None:
            raise self._missing(name)
        return self._kept(kept)

    async def create(self, name: str, definition: Definition, *, by: str = "") -> Shown:
        """Keep a new agent."""
        name = _clean(name)
        if self._of_fixed(name) is not None:
            raise NameTaken(Kind.AGENT, name)
        body = self._checked(name, definition)
        kept = await self._drawers.create(Kind.AGENT, Kept(name=name, body=body, created_by=by))
        await self._changed()
        return self._kept(kept)

    async def update(self, name: str, definition: Definition, *, revision: int | None = None) -> Shown:
        """Replace what is written of an agent, whole or not at all. `revision` is the one that was seen."""
        self._refuse_fixed(name, "changed")
        kept = await self._drawers.get(Kind.AGENT, name)
        if kept is None:
            raise self._missing(name)
        new = Kept(name=kept.name, body=self._checked(kept.name, definition))
        seen = kept.revision if revision is None else revision
        saved = await self._drawers.update(Kind.AGENT, name, new, revision=seen)
        await self._changed()
        return self._kept(saved)

    async def delete(self, name: str, *, revision: int | None = None) -> Shown:
        """Take an agent away. What is on record of it stays."""
        self._refuse_fixed(name, "deleted")
        kept = await self._drawers.get(Kind.AGENT, name)
        if kept is None:
            raise self._missing(name)
        gone = self._kept(kept)
        await self._drawers.delete(Kind.AGENT, name, revision=revision)
        await self._changed()
        return gone

    def _shown(self, rules: AgentRules) -> Shown:
        return Shown(
            name=rules.name, origin=Origin.CONFIGURED, definition=definition_of(rules), tools=self._held(rules.name)
        )

    def _kept(self, kept: Kept) -> Shown:
        return Shown(
            name=kept.name,
            origin=Origin.STORE,
            definition=msgspec.json.decode(kept.body),
            tools=self._held(kept.name),
            created_by=kept.created_by,
            revision=kept.revision,
            changed=kept.changed,
        )

    def _held(self, name: str) -> int:
        resolver = self._current()
        return resolver.view(Seat(agent=name)).issued.bit_count() if name in resolver.grants.agents else 0

    def _of_fixed(self, name: str) -> AgentRules | None:
        return next((rules for own, rules in self._fixed().items() if key_of(own) == key_of(name)), None)

    def _refuse_fixed(self, name: str, done: str) -> None:
        if self._of_fixed(name) is not None:
            raise ToolFailed(
                f"The agent {name!r} is written in toolcrib.yaml and cannot be {done} here.",
                code="AGENT_CONFIGURED_READONLY",
                hint="Change it in toolcrib.yaml.",
            )

    def _checked(self, name: str, definition: Definition) -> str:
        """The definition as it is kept, or a refusal that names every problem."""
        resolver = self._current()
        try:
            read_agent(name, definition, resolver.grants, resolver.registry)
        except BadConfig as error:
            raise invalid(error) from None
        return msgspec.json.encode(definition).decode()

    def _missing(self, name: str) -> ToolFailed:
        close = near(name, self._current().grants.agents)
        meant = f"Did you mean {' or '.join(close)}?" if close else ""
        return ToolFailed(f"There is no agent named {name!r}.", code="not_found", hint=meant)


def read_agent(name: str, definition: Definition, grants: Grants, registry: Registry) -> AgentRules:
    """An agent as it is written in a program or on a page. Raises BadConfig with every problem."""
    text = msgspec.json.encode({"agents": {name: definition}}).decode()  # JSON is YAML
    config = read_config(text, source=f"agent {name}", env={})
    known = Config(agents=config.agents, toolkits=grants.toolkits, source=config.source)
    if problems := check_names(known, registry, grants):
        raise BadConfig(problems, config.source)
    return config.agents[name]


def invalid(error: BadConfig) -> ToolFailed:
    """What is wrong with a definition, as an answer: nothing was saved."""
    told = [Problem(one.where, one.what, one.mend) for one in error.problems]
    return ToolFailed(
        "Nothing was saved: " + " ".join(str(Problem(one.where, one.what)) for one in told),
        code="AGENT_INVALID",
        hint=" ".join(dict.fromkeys(one.mend for one in told if one.mend)),
        data={"problems": [{"where": one.where, "what": one.what, "mend": one.mend} for one in told]},
    )


def kept_agents(kept: tuple[Kept, ...], fixed: Mapping[str, AgentRules], grants: Grants) -> dict[str, AgentRules]:
    """The agents of the store as the resolver reads them. What is configured wins over the store.

    Names in them may mean nothing any more: then they grant nothing, and lint says so.
    """
    taken = set(map(key_of, fixed))
    found: dict[str, AgentRules] = {}
    kits = {name.lower(): name for name in grants.toolkits}
    for one in kept:
        if key_of(one.name) in taken:
            continue
        text = f'{{"agents": {{{msgspec.json.encode(one.name).decode()}: {one.body}}}}}'
        rules = read_config(text, source=f"agent {one.name}", env={}).agents[one.name]
        found[one.name] = msgspec.structs.replace(
            rules,
            allowed_toolkits=tuple(kits[name.lower()] for name in rules.allowed_toolkits if name.lower() in kits),
            initial_toolkits=tuple(kits[name.lower()] for name in rules.initial_toolkits if name.lower() in kits),
        )
    return found


def definition_of(rules: AgentRules) -> dict[str, Any]:
    """An agent as it would be written in toolcrib.yaml, without what is as it comes."""
    plain = AgentRules(name=rules.name)
    found: dict[str, Any] = {
        name: _plain(getattr(rules, name))
        for name in AgentRules.__struct_fields__
        if name not in {"name", "tools", "by_provider"} and getattr(rules, name) != getattr(plain, name)
    }
    if rules.tools:
        found["tools"] = [{one.name: dict(one.overrides)} if one.overrides else one.name for one in rules.tools]
    if rules.by_provider:
        found["by_provider"] = {name: {"allow": list(names)} for name, names in rules.by_provider.items()}
    return found


def _plain(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _clean(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_MOST or not name.isprintable():
        raise ToolFailed(f"An agent needs a name of 1 to {NAME_MOST} printable characters.", code="AGENT_INVALID")
    return name
