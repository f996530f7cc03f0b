"""Rules that people wrote: which calls ask, which are denied, by tool and by argument. The first that fits decides.

A rule that denies or asks holds for every spelling of a path or an address; one that allows holds for what it says.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from toolcrib.core.call import Caller
from toolcrib.core.guard import Call, Verdict, ask, deny
from toolcrib.core.tool import Tool
from toolcrib.safety.spellings import spellings
from toolcrib.services.config.values import CallRule
from toolcrib.services.patterns import Matches, as_text, fits_closely, matcher

Relative = Callable[[Caller, str], str]


class Rules:
    """The rules in order. `means` says whether a rule's `tool`, a name, a group or a pattern, is about a tool."""

    name = "rules"

    def __init__(self, rules: Sequence[CallRule], means: Callable[[CallRule, Tool], bool], relative: Relative) -> None:
        self._rules = tuple(rules)
        self._means = means
        self._relative = relative
        self._of: dict[str, tuple[_Bound, ...]] = {}

    def watches(self, tool: Tool) -> bool:
        about = (rule for rule in self._rules if self._means(rule, tool))
        self._of[tool.name] = tuple(bound for rule in about if (bound := self._bound(rule, tool)))
        return bool(self._of[tool.name])

    def check(self, call: Call) -> Verdict | None:
        for bound in self._of[call.tool.name]:
            if bound.fits(call):
                return _verdict(bound.rule, call)
        return None

    def _bound(self, rule: CallRule, tool: Tool) -> "_Bound | None":
        """A rule for one tool; None for a tool that lacks one of its arguments."""
        known: dict[str, dict[str, Any]] = tool.schema.get("properties", {})
        if not known.keys() >= rule.where.keys():
            return None
        tests = tuple(_Test(name, known[name].get("default"), matcher(shape)) for name, shape in rule.where.items())
        return _Bound(rule, tests, self._relative)


class _Test(Struct, frozen=True):
    """What one argument has to be like."""

    argument: str
    default: Any
    matches: Matches


class _Bound(Struct, frozen=True):
    """A rule, ready for the calls of one tool."""

    rule: CallRule
    tests: tuple[_Test, ...]
    relative: Relative

    def fits(self, call: Call) -> bool:
        if self.rule.action == "allow":
            return fits_closely(self.rule.where, call)
        for test in self.tests:
            value = call.arguments.get(test.argument, test.default)
            if not (test.matches(as_text(value)) or (isinstance(value, str) and self._otherwise(test, call, value))):
                return False
        return True

    def _otherwise(self, test: _Test, call: Call, value: str) -> bool:
        return any(map(test.matches, spellings(value, partial(self.relative, call.caller))[1:]))


def _verdict(rule: CallRule, call: Call) -> Verdict | None:
    shown = ", ".join(f"{name} like {pattern}" for name, pattern in rule.where.items())
    why = rule.why or f"a rule for {call.tool.name}" + (f" with {shown}" if shown else "")
    if rule.action == "allow":
        return None
    return (deny if rule.action == "deny" else ask)(rule.name, why)
