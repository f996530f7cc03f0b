"""`sed`: reading, unless its script runs or writes something."""

import re

from toolcrib.safety.shell.marks import LOOSE, UNKNOWN, plain, shown, vague
from toolcrib.safety.shell.run import Handle, Run
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.writing import note_read, note_write

_ADDRESS = re.compile(
    r"\s*(?:(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?|\\(.)(?:(?!\1).)*\1)(?:\s*,\s*(?:\+?\d+|~\d+|\$|/(?:[^/\\]|\\.)*/I?))?)?\s*!?\s*"
)
_PLAIN = frozenset("dDgGhHnNpPxzlqQ=Fb:tT{}#aciy")


def sed(run: Run) -> str | None:
    """Judges the script word by word, and the files when they are changed in place."""
    asked = _asked_for(run.words)
    for script in asked.scripts:
        for problem in problems(plain(script)):
            _found(run, problem)
        if vague(script) and script[:1] in UNKNOWN + LOOSE:
            run.ask("sed:unknown", "sed would run a script that is not known")
    if asked.file:
        run.ask("sed:file", "sed would run a script that was not looked at")
    for word in asked.files if asked.in_place else ():
        note_write(run.machine, word, run.scope, "change")
        if vague(word):
            run.ask("path:unknown", f"which files it changes is not known: {shown(word)}")
    return None


class _Asked:
    """What sed's words ask for."""

    __slots__ = ("file", "files", "in_place", "scripts")

    def __init__(self) -> None:
        self.scripts: list[str] = []
        self.files: list[str] = []
        self.file = self.in_place = False

    def option(self, word: str, following: str) -> int:
        """Reads one option; gives how many words it took."""
        bare = plain(word)
        if bare.startswith("--"):
            return self._long(bare, following)
        for at, letter in enumerate(bare[1:], 2):
            if letter == "i":
                self.in_place = True
                return 1
            if letter in "efl":
                if letter == "e":
                    self.scripts.append(word[at:] or following)
                self.file = self.file or letter == "f"
                return 1 if word[at:] else 2
        return 1

    def _long(self, word: str, following: str) -> int:
        name, sign, value = word.partition("=")
        if "--expression".startswith(name) and len(name) > 3:
            self.scripts.append(value if sign else following)
        self.file = self.file or (len(name) > 3 and "--file".startswith(name))
        self.in_place = self.in_place or (len(name) > 3 and "--in-place".startswith(name))
        return 2 if not sign and name[:4] in {"--ex", "--fi", "--li"} else 1


def _asked_for(words: list[str]) -> _Asked:
    asked, at = _Asked(), 0
    while at < len(words):
        word = words[at]
        if word == "--":
            asked.files += words[at + 1 :]
            break
        if word.startswith("-") and word != "-":
            at += asked.option(word, words[at + 1] if at + 1 < len(words) else "")
        else:
            asked.files.append(word)
            at += 1
    if not asked.scripts and not asked.file:
        asked.scripts, asked.files = asked.files[:1], asked.files[1:]
    return asked


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


_TO_LINE_END = {"w": "writes ", "W": "writes ", "r": "reads ", "R": "reads ", "e": "runs "}


def _command(script: str, at: int) -> tuple[int, str]:
    """Where one command of the script ends, and what is wrong with it."""
    sign = script[at]
    line_end = script.find("\n", at)
    line_end = len(script) if line_end < 0 else line_end
    if sign in _TO_LINE_END:
        return line_end, _TO_LINE_END[sign] + script[at + 1 : line_end]
    if sign in "sy":
        return _replacement(script, at, sign, line_end)
    if sign in "aci#":
        return line_end, ""
    if sign in ":btT":
        ends = (script.find(";", at), script.find("}", at), line_end)
        return min((end for end in ends if end > 0), default=line_end), ""
    if sign not in _PLAIN:
        return len(script), "unclear"
    end = at + 1
    while script[end : end + 1] in {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", " "}:
        end += 1
    return end, ""


def _parts_end(script: str, at: int, by: str) -> int:
    """Where the second of two parts ends that `by` closes; 0 when it does not."""
    left, inside = 2, False
    while at < len(script) and left:
        sign = script[at]
        if sign == "\\":
            at += 1
        elif sign == "[" and left == 2 and by != "[" and not inside:
            inside = script.find("]", at + 2) > 0
        elif sign == "]":
            inside = False
        elif sign == by:
            left -= 1
        at += 1
    return 0 if left else at


def _replacement(script: str, at: int, sign: str, line_end: int) -> tuple[int, str]:
    """`s/a/b/flags` and `y/a/b/`."""
    end = _parts_end(script, at + 2, script[at + 1]) if at + 1 < len(script) else 0
    if not end:
        return len(script), "unclear"
    if sign == "y":
        return end, ""
    flags = end
    while flags < len(script) and script[flags] in "gpiIMm0123456789":
        flags += 1
    last = script[flags : flags + 1]
    if last in {"w", "e"}:
        return line_end, "writes " + script[flags + 1 : line_end] if last == "w" else "runs "
    return (flags, "") if last in {"", " ", "\t", "\n", ";", "}"} else (len(script), "unclear")


HANDLES: dict[str, Handle] = {"sed": sed, "gsed": sed}
