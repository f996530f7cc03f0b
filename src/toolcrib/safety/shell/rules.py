"""Rules that an administrator adds (`shell.rules` in toolcrib.yaml) or a yes for always leaves: which fit, which are sound."""

import fnmatch
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from toolcrib.safety.shell.judged import ALLOW, ASK, RANK, Judged
from toolcrib.safety.shell.marks import LOOSE, plain, vague
from toolcrib.safety.shell.names import names
from toolcrib.services.config.values import ShellRule
from toolcrib.services.places import IN_WALLS

REST = "**"
RULES = "rules:"  # how the verdicts of rules begin
PROGRAM, ARGUMENTS, RUNS_ON = "program", "arguments", "runs on"
_KEYS = frozenset({PROGRAM, ARGUMENTS, RUNS_ON})
_PATTERNS = frozenset("*?[")
_ESCAPED = re.compile(r"([*?\[])")


@cache
def _expression(pattern: str) -> "re.Pattern[str]":
    return re.compile(fnmatch.translate(pattern), re.DOTALL)


def fits(rule: ShellRule, program: str, words: Sequence[str]) -> bool:
    """Whether a rule is about this command."""
    if not fnmatch.fnmatchcase(program, rule.program):
        return False
    if rule.arguments is None:
        return True
    patterns = list(rule.arguments)
    open_end = bool(patterns) and patterns[-1] == REST
    if open_end:
        patterns.pop()
    if len(words) < len(patterns) or (len(words) > len(patterns) and not open_end):
        return False
    strict = rule.decision == ALLOW
    return all(_suits(pattern, word, strict=strict) for pattern, word in zip(patterns, words, strict=False))


def _suits(pattern: str, word: str, *, strict: bool) -> bool:
    if vague(word):
        return not strict and (LOOSE in word or _expression(pattern).match(plain(word)) is not None)
    return _expression(pattern).match(plain(word)) is not None


def decided(rules: Sequence[ShellRule], program: str, words: Sequence[str]) -> ShellRule | None:
    """The strictest of the rules that fit; of equals, the first."""
    best: ShellRule | None = None
    for rule in rules:
        if (best is None or RANK[rule.decision] > RANK[best.decision]) and fits(rule, program, words):
            best = rule
    return best


def check_rules(
    rules: Sequence[ShellRule], judge: Callable[[str, Sequence[ShellRule]], Judged]
) -> list[tuple[int, str, str]]:
    """What is wrong with the rules: the number of the rule, the key, and why. Examples are judged with their rule alone."""
    problems: list[tuple[int, str, str]] = []
    for number, rule in enumerate(rules):
        wrong = _wrong(rule)
        problems += [(number, key, why) for key, why in wrong]
        problems += [(number, key, why) for key, why in (() if wrong else _examples(rule, judge))]
    return problems


def _examples(rule: ShellRule, judge: Callable[[str, Sequence[ShellRule]], Judged]) -> Iterator[tuple[str, str]]:
    for at, example in enumerate(rule.match):
        judged = judge(example, (rule,))
        if not _seen(rule, judged):
            yield f"match[{at}]", f"`{example}` stands in match, and the rule does not decide it: {judged.why}."
    for at, example in enumerate(rule.not_match):
        if _seen(rule, judge(example, (rule,))):
            yield f"not_match[{at}]", f"`{example}` stands in not_match, and the rule decides it."


def _wrong(rule: ShellRule) -> list[tuple[str, str]]:
    out: list[tuple[str, str]] = []
    if rule.decision not in RANK:
        out.append(("decision", f"The decision is {rule.decision!r}; it can be allow, ask or deny."))
    if not rule.program or "/" in rule.program or rule.program.split() != [rule.program]:
        out.append(("program", "The program has to be one name, without a folder and without arguments."))
    if rule.arguments and REST in rule.arguments[:-1]:
        out.append(("arguments", "`**` can only be the last of the arguments."))
    if rule.decision == ALLOW and not rule.program.strip("*?"):
        out.append(("program", "A rule that allows every program would switch the check off."))
    return out


def _seen(rule: ShellRule, judged: Judged) -> bool:
    if rule.decision == ALLOW:
        return judged.verdict == ALLOW and judged.rule == name_of(rule)
    return judged.rule == name_of(rule)


def name_of(rule: ShellRule) -> str:
    """How a verdict names this rule."""
    return " ".join((RULES + rule.program, *(rule.arguments or ())))


# Whoever may start these may start anything: a stored rule for them would allow everything.
_OPEN_ENDED = frozenset(
    names(
        "sh bash dash zsh ksh fish csh tcsh ash busybox eval source . exec command builtin env sudo doas su",
        "nice nohup timeout time xargs find parallel ssh watch setsid stdbuf chroot unshare nsenter flock",
        "script expect strace ltrace gdb python python2 python3 perl ruby node deno bun php lua awk gawk mawk",
        "nawk sed vim vi ed ex emacs nano less more man trap alias function coproc docker podman kubectl at",
        "batch crontab systemd-run pkexec runuser make npx bunx uvx pipx tclsh osascript powershell pwsh cmd",
        "ionice chrt taskset rm dd mkfs",
    )
)


def escaped(word: str) -> str:
    """A word as a pattern that fits this word only."""
    return _ESCAPED.sub(r"[\1]", word)


def pattern_for(judged: Judged) -> ShellRule | None:
    """The rule that "allow always" would store: one program with exactly these arguments.

    None for a denial, for more than one command, and for whatever could run something else: shells, inline code and
    wrappers; a person writes such a rule by hand or not at all.
    """
    if judged.verdict != ASK or not judged.storable or len(judged.asked) != 1:
        return None
    argv = judged.asked[0]
    if not argv or any(vague(word) for word in argv):
        return None
    program = plain(argv[0])
    if open_ended(program):
        return None
    return ShellRule(program, ALLOW, tuple(escaped(plain(word)) for word in argv[1:]), why="a person allowed it")


def open_ended(program: str) -> bool:
    """Whether whoever may start it may start anything."""
    return "/" in program or program in _OPEN_ENDED or re.match(r"python[\d.]+$", program) is not None


# A rule that came of a yes for always, as a person sees and edits it: `program=terraform`, `arguments=apply -auto-approve`,
# `runs on=walls`. Its arguments are quoted as in a shell. Without `runs on` it holds inside walls only.


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
