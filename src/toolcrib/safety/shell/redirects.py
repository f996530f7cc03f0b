"""Redirections: where a command's input comes from and where its output goes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolcrib.safety.shell.marks import SECRET, UNKNOWN
from toolcrib.safety.shell.parse import text_of
from toolcrib.safety.shell.places import is_harmless, resolved
from toolcrib.safety.shell.run import Machine
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.words import Words
from toolcrib.safety.shell.writing import note_read, note_write

if TYPE_CHECKING:
    from tree_sitter import Node

_WRITES = frozenset((">", ">>", ">|", "&>", "&>>", "<>", ">&"))
_READS = frozenset(("<", "<>"))


class Redirect:
    """One redirection: `fd sign target`, or a text as input."""

    __slots__ = ("extra", "fd", "more", "sign", "target", "text", "then")

    def __init__(self, sign: str, target: str = "", text: str | None = None) -> None:
        self.sign, self.target, self.text = sign, target, text
        self.fd = ""
        self.extra: list[str] = []
        self.then: list[Any] = []
        self.more: list[Redirect] = []


class Flow:
    """What the redirections of one command come to."""

    __slots__ = ("_to", "stdin")

    def __init__(self) -> None:
        self.stdin: str | None = None
        self._to: list[tuple[str, bool]] | None = None

    @property
    def truncates(self) -> bool:
        """Whether a file is written from its beginning."""
        return any(path and not more and not path.startswith("/dev/") for path, more in self._to or ())

    def sends(self, path: str, *, more: bool) -> None:
        self._to = [*(self._to or []), (path, more)]

    def written(self, scope: Scope, out: str) -> str:
        """What is left of the output after it went where it should."""
        if self._to is None:
            return out
        for path, more in self._to:
            if path and not path.startswith("/dev/"):
                scope.files[path] = (scope.files.get(path, UNKNOWN) if more and path in scope.files else "") + out
                scope.wrote = True
        return ""


def redirect(node: "Node", words: Words, scope: Scope) -> Redirect:
    """Reads one redirection off its node."""
    if node.type == "herestring_redirect":
        text = words.one(node.children[-1], scope)
        return Redirect("<<<", text=text + "\n")
    if node.type == "heredoc_redirect":
        return _heredoc(node, words, scope)
    sign = next((child.type for child in node.children if not child.is_named), ">")
    made = Redirect(sign)
    for child in node.children:
        if child.type == "file_descriptor":
            made.fd = text_of(child)
    targets: list[str] = []
    for at, child in enumerate(node.children):
        if node.field_name_for_child(at) == "destination":
            if not targets:
                targets.append("".join(words.words(child, scope)))
            else:  # the grammar takes the words behind a target for targets too
                made.extra += words.words(child, scope)
    made.target = targets[0] if targets else ""
    return made


def _heredoc(node: "Node", words: Words, scope: Scope) -> Redirect:
    made = Redirect("<<", text="")
    raw = dashed = False
    for child in node.children:
        if child.type == "heredoc_start":
            raw = any(sign in text_of(child) for sign in "'\"\\")
        elif child.type == "<<-":
            dashed = True
        elif child.type == "heredoc_body":
            made.text = text_of(child) if raw else words.one(child, scope)
        elif child.type.endswith("_redirect"):
            made.more.append(redirect(child, words, scope))
        elif child.is_named and child.type != "heredoc_end":
            _behind(made, child, words, scope)
    if dashed and made.text:
        made.text = "\n".join(line.lstrip("\t") for line in made.text.split("\n"))
    return made


_WORDS = frozenset(("word", "concatenation", "string", "raw_string", "number", "simple_expansion", "expansion"))


def _behind(made: Redirect, node: "Node", words: Words, scope: Scope) -> None:
    if node.type in _WORDS:
        made.extra += words.words(node, scope)
    else:
        made.then.append(node)


def applied(machine: Machine, scope: Scope, redirects: Sequence[Redirect]) -> Flow:
    """Judges the redirections and says what they come to."""
    flow = Flow()
    todo = list(redirects)
    while todo:
        each = todo.pop(0)
        todo = each.more + todo
        if each.text is not None:
            flow.stdin = each.text
        elif each.sign in {">&", "<&"} and (
            each.target.isdigit() or each.target in {"-", ""} or each.target[:-1].isdigit()
        ):
            continue
        else:
            _file(machine, scope, each, flow)
    return flow


def _file(machine: Machine, scope: Scope, each: Redirect, flow: Flow) -> None:
    path = resolved(each.target, scope.cwd)
    if each.sign in _READS:
        secret = note_read(machine, each.target, scope)
        empty = "" if path == "/dev/null" else UNKNOWN
        flow.stdin = scope.files.get(path, empty) + (SECRET if secret else "")
    if each.sign in _WRITES:
        note_write(machine, each.target, scope)
        if machine.depth and not is_harmless(each.target):
            machine.note("ask", "write:nested", "a shell inside of the command would write a file")
        if each.fd in {"", "1"} or each.sign.startswith("&"):
            flow.sends(path, more=">>" in each.sign)


__all__ = ["Flow", "Redirect", "applied", "redirect"]
