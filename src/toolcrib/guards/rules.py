"""Rules that people wrote: which calls ask, which are denied, by tool and by argument. The first that fits decides."""

from collections.abc import Callable, Sequence

from toolcrib.core.guard import Call, Verdict, ask, deny
from toolcrib.core.tool import Tool
from toolcrib.services.config.values import CallRule
from toolcrib.services.patterns import fits


class Rules:
    """The rules in order. `names` says what a rule's `tool` means: a name, an alias, a group or a pattern."""

    name = "rules"

    def __init__(self, rules: Sequence[CallRule], means: Callable[[CallRule, Tool], bool]) -> None:
        self._rules = tuple(rules)
        self._means = means
        self._of: dict[str, tuple[CallRule, ...]] = {}

    def watches(self, tool: Tool) -> bool:
        self._of[tool.name] = tuple(rule for rule in self._rules if self._means(rule, tool))
        return bool(self._of[tool.name])

    def check(self, call: Call) -> Verdict | None:
        for rule in self._of[call.tool.name]:
            if fits(rule.where, call):
                return _verdict(rule, call)
        return None


def _verdict(rule: CallRule, call: Call) -> Verdict | None:
    shown = ", ".join(f"{name} like {pattern}" for name, pattern in rule.where.items())
    why = rule.why or f"a rule for {call.tool.name}" + (f" with {shown}" if shown else "")
    if rule.action == "allow":
        return None
    return (deny if rule.action == "deny" else ask)(rule.name, why)
