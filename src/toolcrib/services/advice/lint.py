"""What looks wrong in a set of grants that is not an error: rules that can never matter, boxes nobody uses, too much."""

from collections.abc import Iterator

from msgspec import Struct

from toolcrib.core.policy import AgentRules
from toolcrib.core.prompt import tokens
from toolcrib.core.registry import UnknownName
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.core.tool import Effect, Flow

TOOLS_MANY = 60
TOKENS_MANY = 20_000
BROAD = 20  # tools from which on a toolbox is broad


class Finding(Struct, frozen=True):
    """One thing to look at, with what to do about it."""

    id: str
    where: str
    what: str
    mend: str


def lint(resolver: Resolver, *, many: int = TOOLS_MANY, heavy: int = TOKENS_MANY) -> Iterator[Finding]:
    """Every finding, by kind."""
    yield from _unknown(resolver)
    yield from _shadowed(resolver)
    yield from _boxes(resolver)
    for rules in resolver.grants.agents.values():
        yield from _agent(resolver, rules, many, heavy)


def _lists(resolver: Resolver) -> Iterator[tuple[str, tuple[str, ...]]]:
    policy = resolver.grants.policy
    yield from (("policy.deny", policy.deny), ("policy.hard_deny", policy.hard_deny))
    yield from (("policy.allow", policy.allow or ()), ("policy.also_allow", policy.also_allow))
    for rules in resolver.grants.agents.values():
        at = f"agents.{rules.name}"
        yield from ((f"{at}.allow", rules.allow or ()), (f"{at}.deny", rules.deny))
        yield f"{at}.also_allow", rules.also_allow


def _unknown(resolver: Resolver) -> Iterator[Finding]:
    """A name that is neither a tool nor in the catalogue: it grants and denies nothing."""
    for where, names in (*_lists(resolver), *_granted(resolver)):
        for name in names:
            try:
                resolver.registry.check(name)
            except UnknownName as unknown:
                yield Finding("L0", where, unknown.what, unknown.mend or "Correct it, or take it out.")


def _granted(resolver: Resolver) -> Iterator[tuple[str, tuple[str, ...]]]:
    for rules in resolver.grants.agents.values():
        yield f"agents.{rules.name}.tools", tuple(tool.name for tool in rules.tools)
    for box in resolver.grants.toolboxes.values():
        yield f"toolboxes.{box.name}", () if box.builtin else box.tools


def _shadowed(resolver: Resolver) -> Iterator[Finding]:
    """An entry that cannot matter: nothing by that name is here yet, or a hard deny stands behind it."""
    hard = resolver.mask(resolver.grants.policy.hard_deny)
    denied = resolver.mask(resolver.grants.policy.deny)
    for where, names in _lists(resolver):
        for name in names:
            mask = resolver.mask((name,))
            if not mask and resolver.registry.reserved(name):
                yield Finding("L1", where, f"{name} is in the catalogue, not in this version.", "It has no effect yet.")
            elif mask and "allow" in where and not mask & ~hard:
                yield Finding(
                    "L2", where, f"{name} is hard-denied, so allowing it does nothing.", "Remove one of both."
                )
            elif mask and where.startswith("agents.") and where.endswith(".deny") and not mask & ~denied:
                yield Finding("L3", where, f"{name} is denied globally already.", "Remove it here.")


def _boxes(resolver: Resolver) -> Iterator[Finding]:
    used = {name.lower() for rules in resolver.grants.agents.values() for name in rules.toolboxes}
    for box in resolver.grants.toolboxes.values():
        if box.builtin:
            continue
        if box.name.lower() not in used:
            yield Finding("L4", f"toolboxes.{box.name}", "No agent uses this toolbox.", "Give it to one, or delete it.")
        mask = resolver.box(box.name)
        if not mask:
            yield Finding(
                "L5", f"toolboxes.{box.name}", "It grants nothing in this version.", "Add tools, or delete it."
            )
        if mask.bit_count() >= BROAD:
            risky = [t.name for t in resolver.registry.tools_of(mask) if _risky(t.traits.effect, t.traits.flow)]
            if risky:
                what = f"A broad toolbox ({mask.bit_count()} tools) holds {', '.join(risky[:5])}."
                yield Finding(
                    "L6", f"toolboxes.{box.name}", what, "Move what destroys or reads secrets to a box of its own."
                )


def _risky(effect: Effect, flow: frozenset[Flow]) -> bool:
    return effect is Effect.DESTROY or {Flow.PRIVATE, Flow.SENDS} <= flow


def _agent(resolver: Resolver, rules: AgentRules, many: int, heavy: int) -> Iterator[Finding]:
    at, grants = f"agents.{rules.name}", resolver.grants
    for name in rules.toolboxes:
        if resolver.toolbox(name) is None:
            yield Finding("L7", f"{at}.toolboxes", f"There is no toolbox {name!r}; it grants nothing.", "Name another.")
    view = resolver.view(Seat(agent=rules.name))
    if len(view) > many:
        yield Finding(
            "L8",
            at,
            f"It holds {len(view)} tools; models choose badly among so many.",
            "Use narrower boxes or toolkits.",
        )
    cost = sum(tokens(tool) for tool in view.shown)
    if cost > heavy:
        yield Finding(
            "L9", at, f"Its tools cost about {cost:,} tokens in every request.", "Set tool_tokens, or use toolkits."
        )
    granted = resolver.mask(name for box in rules.toolboxes if (b := resolver.toolbox(box)) for name in b.tools)
    for name in rules.deny:
        mask = resolver.mask((name,))
        floor = resolver.mask((*grants.floor, *(tool.name for tool in rules.tools)))
        if mask and not mask & (granted | floor) and not rules.allowed_toolkits:
            yield Finding(
                "L10",
                f"{at}.deny",
                f"Nothing grants {name}, so denying it does nothing.",
                "Remove it, or keep it as a guard.",
            )
