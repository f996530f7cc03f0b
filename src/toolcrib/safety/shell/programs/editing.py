"""`sed`: reading, unless its script runs or writes something."""

import re

from toolcrib.safety.shell.marks import UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.writing import note_read, note_write

_ADDRESS = re.compile(
    r"\s*(?:(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?|\\(.)(?:(?!\1).)*\1)(?:\s*,\s*(?:\+?\d+|~\d+|\$|/(?:[^/\\]|\\.)*/I?))?)?\s*!?\s*"
)
_PLAIN = frozenset("dDgGhHnNpPxzlqQ=Fb:tT{}#aciy")


def sed(run: Run) -> str | None:
    """Judges the script word by word, and the files when they are changed in place."""
    if run.has("-f", "--file"):
        run.ask("sed:file", "sed would run a script that was not looked at")
    scripts = [
        run.words[at + 1] for at, word in enumerate(run.words[:-1]) if re.fullmatch(r"-[nErsuz]*e|--expression", word)
    ]
    scripts += [word.partition("=")[2] for word in run.words if word.startswith("--expression=")]
    rest = run.operands("-e -f -l --expression --file --line-length")
    if not scripts and not run.has("-f", "--file"):
        scripts, rest = rest[:1], rest[1:]
    elif any(re.fullmatch(r"-[nErsuz]+e", word) for word in run.words):
        rest = [word for word in rest if word not in scripts]
    for script in scripts:
        for problem in problems(plain(script)):
            _found(run, problem)
        if vague(script) and script[:1] in "\ufdd0\ufdd1":
            run.ask("sed:unknown", "sed would run a script that is not known")
    if any(re.match(r"-[nErsuz]*i|--in-place", word) for word in run.words):
        for word in rest:
            note_write(run.machine, word, run.scope, "change")
            if vague(word):
                run.ask("path:unknown", f"which files it changes is not known: {shown(word)}")
    return None


def _found(run: Run, problem: str) -> None:
    kind, _, rest = problem.partition(" ")
    if kind == "runs":
        if rest.strip():
            run.code(rest, Scope(run.cwd), UNKNOWN)
        run.machine.storable = False
        run.ask("sed:runs", "sed would run what it reads as a command")
    elif kind == "writes":
        note_write(run.machine, rest.strip(), run.scope)
        run.ask("sed:writes", f"sed would write {rest.strip()}")
    elif kind == "reads":
        note_read(run.machine, rest.strip(), run.scope)
    else:
        run.ask("sed:unclear", "sed's script could not be followed")


def problems(script: str) -> list[str]:
    """What in a script is more than editing text."""
    out: list[str] = []
    at = 0
    for _ in range(200):
        while at < len(script) and script[at] in " \t\n;}":
            at += 1
        if at >= len(script):
            return out
        found = _ADDRESS.match(script, at)
        at = found.end() if found else at
        if at >= len(script):
            return [*out, "unclear"]
        at, problem = _command(script, at)
        if problem:
            out.append(problem)
    return [*out, "unclear"]


def _command(script: str, at: int) -> tuple[int, str]:
    sign = script[at]
    line_end = script.find("\n", at)
    line_end = len(script) if line_end < 0 else line_end
    if sign in "wW":
        return line_end, "writes " + script[at + 1 : line_end]
    if sign in "rR":
        return line_end, "reads " + script[at + 1 : line_end]
    if sign == "e":
        return line_end, "runs " + script[at + 1 : line_end]
    if sign in "sy":
        return _replacement(script, at, sign, line_end)
    if sign in "aci#" or sign in ":btT":
        end = (
            line_end
            if sign in "aci#"
            else min((n for n in (script.find(";", at), line_end) if n > 0), default=line_end)
        )
        return end, ""
    if sign in _PLAIN:
        end = at + 1
        while end < len(script) and script[end] in "0123456789 ":
            end += 1
        return end, ""
    return len(script), "unclear"


def _replacement(script: str, at: int, sign: str, line_end: int) -> tuple[int, str]:
    if at + 1 >= len(script):
        return len(script), "unclear"
    by = script[at + 1]
    end, left, inside = at + 2, 2, False
    while end < len(script) and left:
        if script[end] == "\\":
            end += 1
        elif script[end] == "[" and left == 2 and by != "[" and not inside:
            inside = script.find("]", end + 2) > 0
        elif script[end] == "]":
            inside = False
        elif script[end] == by:
            left -= 1
        end += 1
    if left:
        return len(script), "unclear"
    if sign == "y":
        return end, ""
    flags = end
    while flags < len(script) and script[flags] in "gpiIMm0123456789":
        flags += 1
    if flags < len(script) and script[flags] == "w":
        return line_end, "writes " + script[flags + 1 : line_end]
    if flags < len(script) and script[flags] == "e":
        return line_end, "runs "
    return (flags, "") if flags >= len(script) or script[flags] in " \t\n;}" else (len(script), "unclear")


HANDLES: dict[str, Handle] = {"sed": sed, "gsed": sed}
