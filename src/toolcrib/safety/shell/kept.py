"""Rules that come of a yes for always: as a person sees and edits them, and as the analyser reads them.

    {"program": "terraform", "arguments": "apply -auto-approve", "runs on": "walls"}

`arguments` has a pattern for each argument, quoted as in a shell; `**` at the end is any more of them. Without `runs on`
a rule holds inside walls only.
"""

import shlex
from collections.abc import Mapping, Sequence

from toolcrib.safety.shell.judged import ALLOW
from toolcrib.safety.shell.rules import REST, ShellRule, open_ended
from toolcrib.services.shell import IN_WALLS

PROGRAM, ARGUMENTS, RUNS_ON = "program", "arguments", "runs on"
_KEYS = frozenset({PROGRAM, ARGUMENTS, RUNS_ON})
_PATTERNS = frozenset("*?[")


def as_patterns(rule: ShellRule, runs_on: str) -> dict[str, str]:
    """A rule as it is kept."""
    return {PROGRAM: rule.program, ARGUMENTS: shlex.join(rule.arguments or ()), RUNS_ON: runs_on}


def wrong(where: Mapping[str, str]) -> str:
    """What is wrong with a rule that a person wrote, or nothing."""
    if strange := sorted(set(where) - _KEYS):
        return f"A rule about commands has no {strange[0]!r}; it has program, arguments and runs on."
    program = where.get(PROGRAM, "")
    if not program or program.split() != [program] or _PATTERNS & set(program):
        return "The program has to be one name, without arguments and patterns."
    if open_ended(program):
        return f"Whoever may start {program} may start anything, so no rule can stand for it."
    try:
        words = shlex.split(where.get(ARGUMENTS, ""))
    except ValueError:
        return "A quote of the arguments is not closed."
    return "`**` can only be the last of the arguments." if REST in words[:-1] else ""


def as_rules(kept: Sequence[Mapping[str, str]], runs_on: str) -> tuple[ShellRule, ...]:
    """The rules that hold where a command runs. What is not sound lets nothing through."""
    return tuple(
        ShellRule(where[PROGRAM], ALLOW, tuple(shlex.split(where.get(ARGUMENTS, ""))), why="a person allowed it")
        for where in kept
        if not wrong(where) and where.get(RUNS_ON, IN_WALLS) == runs_on
    )
