"""The way in: one command, one verdict."""

from collections.abc import Sequence

from toolcrib.core.errors import Problem
from toolcrib.safety.shell.judged import ALLOW, ASK, Judged
from toolcrib.safety.shell.marks import foreign
from toolcrib.safety.shell.parse import MOST_BYTES, parse
from toolcrib.safety.shell.rules import ShellRule, check_rules
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.walker import Walk
from toolcrib.safety.shell.walking import Enough
from toolcrib.services.config.values import Config


def judge(command: str, *, rules: Sequence[ShellRule] = (), cwd: str = "", workspace: str = "") -> Judged:
    """What is to be done with a command: allow, ask or deny.

    `cwd` is where it would run: absolute, or relative to the workspace. `workspace` is where the workspace lies, so
    that absolute paths into it count as its own.
    """
    if len(command) > MOST_BYTES:
        return Judged(
            ASK, "limit:length", f"longer than {MOST_BYTES} characters: too much to follow", (0, len(command))
        )
    try:
        source = command.encode()
    except UnicodeEncodeError:
        return Judged(ASK, "encoding", "it holds bytes that are no text in UTF-8", (0, len(command)))
    odd = _odd(command, len(source))
    if odd:
        return Judged(ASK, odd[0], odd[1], (0, len(command)))
    if not command.strip():
        return Judged(ALLOW, "empty", "there is nothing to run")
    walk = Walk(rules, workspace)
    scope = Scope(_within(cwd, workspace))
    try:
        walk.tree(parse(source), scope)
    except (Enough, RecursionError) as error:
        if isinstance(error, RecursionError):
            return Judged(ASK, "limit:depth", "nested too deep to follow", (0, len(command)))
    return _judged(walk, source, command)


def _odd(command: str, size: int) -> tuple[str, str] | None:
    if size > MOST_BYTES:
        return "limit:length", f"longer than {MOST_BYTES} bytes: too much to follow"
    if foreign(command):
        return "encoding", "it holds a NUL or a character that stands for nothing"
    if "\r" in command:
        return "syntax", "it holds a carriage return, which a shell takes for a part of a word"
    if any(sign in command for sign in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200b\u00a0"):
        return "syntax", "it holds signs that a reader does not see"
    return None


def _within(cwd: str, workspace: str) -> str:
    if workspace and (cwd == workspace or cwd.startswith(workspace.rstrip("/") + "/")):
        return cwd[len(workspace.rstrip("/")) + 1 :]
    return "" if cwd == "." else cwd


def _judged(walk: Walk, source: bytes, command: str) -> Judged:
    found = walk.finding
    if found is None:
        rule, why = walk.allowed_by or ("table", "every part of it is among what runs without a question")
        return Judged(ALLOW, rule, why, (0, len(command)))
    begin = len(source[: found.span[0]].decode("utf-8", "replace"))
    end = begin + len(source[found.span[0] : found.span[1]].decode("utf-8", "replace"))
    return Judged(found.level, found.rule, found.why, (begin, end), found.instead, tuple(walk.asked), walk.storable)


def check(rules: Sequence[ShellRule]) -> list[tuple[int, str, str]]:
    """What is wrong with rules: the number of each, the key that is wrong, and why."""
    return check_rules(rules, lambda command, only: judge(command, rules=only))


def problems(config: Config) -> list[Problem]:
    """What is wrong with the rules of a configuration, with their lines."""
    out: list[Problem] = []
    for number, key, why in check(config.shell_rules):
        place = f"shell.rules[{number}]"
        where = f"{place}.{key}"
        line = config.lines.get(where) or config.lines.get(place, 0)
        out.append(Problem(where, why, "Mend the rule or its examples.", line))
    return out
