"""What comes out: a verdict with its rule, its reason, its place in the command, and what could be run instead."""

from typing import Any

from msgspec import Struct

ALLOW, ASK, DENY = "allow", "ask", "deny"
RANK = {ALLOW: 0, ASK: 1, DENY: 2}


class Judged(Struct, frozen=True):
    """The verdict about a whole command. The strictest finding wins; of equals, the first."""

    verdict: str
    rule: str
    why: str
    span: tuple[int, int] = (0, 0)
    instead: str = ""
    # What `pattern_for` makes a rule from: the commands that were asked about, and whether a rule could tell them apart.
    asked: tuple[tuple[str, ...], ...] = ()
    storable: bool = False
    ran: tuple[tuple[str, ...], ...] = ()  # the commands of the text itself, as far as their words are known
    ruled: bool = False  # a rule of the installation asks

    def as_json(self) -> dict[str, Any]:
        """The shape that programs get."""
        return {
            "verdict": self.verdict,
            "rule": self.rule,
            "why": self.why,
            "span": list(self.span),
            "instead": self.instead,
        }


class Finding(Struct, frozen=True):
    """One reason not to run a command without a question."""

    level: str
    rule: str
    why: str
    span: tuple[int, int]
    instead: str = ""
