"""The way in: one command, one verdict."""

from collections.abc import Sequence

from toolcrib.core.errors import Problem
from toolcrib.safety.shell.judged import ALLOW, ASK, Judged
from toolcrib.safety.shell.marks import UNSEEN, foreign
from toolcrib.safety.shell.parse import MOST_BYTES, TooLong, parse
from toolcrib.safety.shell.places import no_workspace
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
    refused = _odd(command)
    if refused is not None:
        return Judged(ASK, refused[0], refused[1], (0, len(command)))
    if not command.strip():
        return Judged(ALLOW, "empty", "there is nothing to run")
    walk = Walk(rules, "" if no_workspace(workspace) else workspace)
    if too_much := _walked(walk, command.encode(), Scope(_within(cwd, workspace))):
        return Judged(ASK, f"limit:{too_much}", "it is too much to follow", (0, len(command)))
    return _judged(walk, command)


def _walked(walk: Walk, source: bytes, scope: Scope) -> str:
    """Walks; gives the limit that was reached before anything was found."""
    try:
        walk.tree(parse(source), scope)
    except TooLong:
        return "time"
    except RecursionError:
        return "depth"
    except Enough:
        pass  # what was found says enough
    return ""


def _odd(command: str) -> tuple[str, str] | None:
    """What stands against reading the text at all."""
    if len(command) > MOST_BYTES or len(command.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return "limit:length", f"longer than {MOST_BYTES:,} bytes: too much to follow"
    if foreign(command):
        return "encoding", "it holds a NUL, or what is no text in UTF-8"
    if "\r" in command:
        return "syntax", "it holds a carriage return, which a shell takes for a part of a word"
    if any(sign in command for sign in UNSEEN):
        return "syntax", "it holds signs that a reader does not see"
    return None


def _within(cwd: str, workspace: str) -> str:
    if workspace and (cwd == workspace or cwd.startswith(workspace.rstrip("/") + "/")):
        return cwd[len(workspace.rstrip("/")) + 1 :]
    return "" if cwd == "." else cwd


def _judged(walk: Walk, command: str) -> Judged:
    source = command.encode()
    found = walk.finding
    if found is None:
        rule, why = walk.allowed_by or ("table", "every part of it is among what runs without a question")
        return Judged(ALLOW, rule, why, (0, len(command)), ran=tuple(walk.ran))
    begin = len(source[: found.span[0]].decode("utf-8", "replace"))
    end = begin + len(source[found.span[0] : found.span[1]].decode("utf-8", "replace"))
    return Judged(
        found.level,
        found.rule,
        found.why,
        (begin, end),
        found.instead,
        tuple(walk.asked),
        walk.storable,
        tuple(walk.ran),
        walk.ruled,
    )


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
