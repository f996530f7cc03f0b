"""What looks wrong in a set of grants that is not an error: rules that can never matter, boxes nobody uses, too much."""

from collections.abc import Iterator

from msgspec import Struct

from toolcrib.core.policy import AgentRules
from toolcrib.core.prompt import tokens
from toolcrib.core.registry import UnknownName
from toolcrib.core.resolver import Resolver, Seat
from toolcrib.core.tool import Effect, Flow, Traits

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
        if mask.bit_count() >= BROAD and (risky := _risky(resolver, mask)):
            what = f"A broad toolbox ({mask.bit_count()} tools) holds {risky}."
            yield Finding(
                "L6", f"toolboxes.{box.name}", what, "Move what destroys or reads secrets to a box of its own."
            )


def _risky(resolver: Resolver, mask: int) -> str:
    """The tools that destroy, read secrets, or both read what is private and send: the first of them by name."""
    names = [tool.name for tool in resolver.registry.tools_of(mask) if _risk(tool.traits)]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _risk(traits: Traits) -> bool:
    return traits.effect is Effect.DESTROY or traits.reveals or {Flow.PRIVATE, Flow.SENDS} <= traits.flow


def _agent(resolver: Resolver, rules: AgentRules, many: int, heavy: int) -> Iterator[Finding]:
    at = f"agents.{rules.name}"
    view = resolver.view(Seat(agent=rules.name))
    for name in rules.toolboxes:
        box = resolver.toolbox(name)
        if box is None:
            yield Finding("L7", f"{at}.toolboxes", f"There is no toolbox {name!r}; it grants nothing.", "Name another.")
        elif box.builtin and resolver.box(box.name).bit_count() >= BROAD and (risky := _risky(resolver, view.issued)):
            what = f"Through the broad toolbox {box.name} it holds {risky}."
            yield Finding("L6", f"{at}.toolboxes", what, f"Give it a box of its own: toolcrib suggest {rules.name}.")
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
    yield from _idle(resolver, rules)


def _idle(resolver: Resolver, rules: AgentRules) -> Iterator[Finding]:
    """Entries of an agent's own lists that change nothing."""
    at, grants, policy = f"agents.{rules.name}", resolver.grants, resolver.grants.policy
    boxes = [name for box in rules.toolboxes if (b := resolver.toolbox(box)) for name in b.tools]
    granted = resolver.mask((*boxes, *grants.floor, *(tool.name for tool in rules.tools)))
    restored = resolver.mask((*policy.also_allow, *rules.also_allow))
    passed = resolver.registry.everything if policy.allow is None else resolver.mask(policy.allow)
    for key, names in (("deny", rules.deny), ("allow", rules.allow or ())):
        for name in names:
            mask, where = resolver.mask((name,)), f"{at}.{key}"
            if not mask:
                continue
            if not mask & granted and not rules.allowed_toolkits:
                what = f"Nothing grants {name}, so this entry does nothing."
                yield Finding("L10", where, what, "Remove it, or keep it as a guard.")
            elif key == "allow" and not mask & passed:
                what = f"policy.allow leaves {name} out before, so allowing it here does nothing."
                yield Finding("L11", where, what, "Add it to policy.allow, or remove it here.")
            elif key == "deny" and not mask & ~restored:
                what = f"also_allow restores {name}, so denying it does nothing."
                yield Finding("L12", where, what, "Take it out of also_allow, or put it on policy.hard_deny.")
