"""Rules that an administrator adds: a program, a pattern over its arguments, and what to do."""

import fnmatch
import re
from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct

from toolcrib.safety.shell.judged import ALLOW, ASK, DENY, RANK, Judged
from toolcrib.safety.shell.marks import LOOSE, plain, vague
from toolcrib.safety.shell.names import names

REST = "**"
_ESCAPED = re.compile(r"([*?\[])")


class ShellRule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rule. Of the rules that fit, the strictest decides, wherever it stands.

    `arguments` has a glob for each argument, in order; `**` at the end stands for any more of them; without
    `arguments` any will do. An `allow` takes away what the product's own table would ask about that one command. It
    takes away no denial, nothing that is said of a redirection or of another command, and it fits no argument whose
    text is not known before it runs, unless `**` stands for it.
    """

    program: str
    action: str
    arguments: tuple[str, ...] | None = None
    why: str = ""
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()


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
    strict = rule.action == ALLOW
    return all(_suits(pattern, word, strict=strict) for pattern, word in zip(patterns, words, strict=False))


def _suits(pattern: str, word: str, *, strict: bool) -> bool:
    if vague(word):
        return not strict and (LOOSE in word or _expression(pattern).match(plain(word)) is not None)
    return _expression(pattern).match(plain(word)) is not None


def decided(rules: Sequence[ShellRule], program: str, words: Sequence[str]) -> ShellRule | None:
    """The strictest of the rules that fit; of equals, the first."""
    best: ShellRule | None = None
    for rule in rules:
        if (best is None or RANK[rule.action] > RANK[best.action]) and fits(rule, program, words):
            best = rule
    return best


def check_rules(
    rules: Sequence[ShellRule], judge: Callable[[str, Sequence[ShellRule]], Judged]
) -> list[tuple[int, str]]:
    """What is wrong with the rules: the number of the rule, and why. Each example is judged with its rule alone."""
    problems: list[tuple[int, str]] = []
    for number, rule in enumerate(rules):
        problems += [(number, problem) for problem in _wrong(rule)]
        if rule.action not in RANK:
            continue
        for example in rule.match:
            if not _seen(rule, judge(example, (rule,))):
                problems.append((number, f"`{example}` stands in match, and the rule does not decide it"))
        for example in rule.not_match:
            if _seen(rule, judge(example, (rule,))):
                problems.append((number, f"`{example}` stands in not_match, and the rule decides it"))
    return problems


def _wrong(rule: ShellRule) -> list[str]:
    out: list[str] = []
    if rule.action not in RANK:
        out.append(f"action is {rule.action!r}; it can be allow, ask or deny")
    if not rule.program or "/" in rule.program or rule.program.strip() != rule.program or " " in rule.program:
        out.append("program has to be the name of one program, without a path and without arguments")
    if rule.arguments and REST in rule.arguments[:-1]:
        out.append("`**` can only be the last of the arguments")
    if rule.action == ALLOW and rule.program.strip("*?") == "":
        out.append("a rule that allows every program would switch the check off")
    return out


def _seen(rule: ShellRule, judged: Judged) -> bool:
    if rule.action == ALLOW:
        return judged.verdict == ALLOW and judged.rule == name_of(rule)
    return judged.rule == name_of(rule)


def name_of(rule: ShellRule) -> str:
    """How a verdict names this rule."""
    return " ".join(("rules:" + rule.program, *(rule.arguments or ())))


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
    if "/" in program or program in _OPEN_ENDED or re.match(r"python[\d.]+$", program):
        return None
    return ShellRule(program, ALLOW, tuple(escaped(plain(word)) for word in argv[1:]), why="a person allowed it")


__all__ = ["DENY", "ShellRule", "check_rules", "decided", "escaped", "fits", "name_of", "pattern_for"]
