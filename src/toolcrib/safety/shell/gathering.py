"""Puts a command's words together: what stands before it, its name and arguments, and its redirections."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolcrib.safety.shell.expansions import words_of
from toolcrib.safety.shell.judged import ASK
from toolcrib.safety.shell.parse import text_of
from toolcrib.safety.shell.redirects import Redirect, applied, redirect
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.setting import assigned
from toolcrib.safety.shell.walking import Walker

if TYPE_CHECKING:
    from tree_sitter import Node


# Quotes, escapes, braces and substitutions inside of a name. A backslash before it only passes an alias by.
_DISGUISED = re.compile(
    r"\$'|''|\"\"|.\\|`|\$\(\s*(?:echo|printf|rev|tr|base64|xxd|cat)\b|\{[^}$]*,|['\"][^'\"]+['\"]\w|\w['\"]\w"
)


class Gathered:
    """The parts of one command, as they are found."""

    __slots__ = ("_last", "_mark", "argv", "prefix", "redirects")

    def __init__(self) -> None:
        self.argv: list[str] = []
        self.prefix: list[tuple[str, str | list[str]]] = []
        self.redirects: list[Redirect] = []
        self._last = ""
        self._mark = 0

    def word(self, text: str, *, joins: bool, translated: bool) -> None:
        """One more piece. Two pieces without a blank between them are one word, whatever the grammar says."""
        if joins and self.argv:
            text = ("" if self._last == "$" and translated else self._last) + text
            self.argv = self.argv[: self._mark]
        self._last, self._mark = text, len(self.argv)
        self.argv += words_of(text)


def command(walk: Walker, node: "Node", scope: Scope, stdin: str | None, extra: Sequence[str] = ()) -> str:
    """One command of the tree; `extra` words were found behind a redirection."""
    made = Gathered()
    whole, first, last = node.text or b"", node.start_byte, node.start_byte
    children = node.children
    for child in children[:-1] if _descriptor(node) else children:
        gap = whole[last - first : child.start_byte - first]
        last = child.end_byte
        if child.type == "variable_assignment":
            name, value, _ = assigned(walk, child, scope)
            made.prefix.append((name, value))
        elif child.type.endswith("_redirect"):
            made.redirects.append(redirect(child, walk.words, scope))
            made.argv += made.redirects[-1].extra
        else:
            if gap.strip(b" \t\n\\"):
                walk.worry("syntax", "there are signs between the words that a shell may read otherwise")
            if (child.type == "command_name" or whole.startswith(b"command {")) and _DISGUISED.search(text_of(child)):
                walk.worry("name:disguised", "the program's name is written so that nobody can read it")
            joins = not gap and child.type != "command_name"
            made.word(walk.words.text(child, scope), joins=joins, translated=child.type == "string")
    made.argv += extra
    return _started(walk, made, scope, stdin)


def _descriptor(node: "Node") -> bool:
    """Whether the last word is the number of a handle: `sh 0<file`, which the grammar takes for an argument."""
    last = node.children[-1]
    if not text_of(last).isdecimal():
        return False
    following = node.next_sibling
    return (
        following is not None
        and following.type == "file_redirect"
        and following.start_byte == last.end_byte
        and following.child_by_field_name("descriptor") is None
    )


_ENDLESS = frozenset(("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"))


def truncated(walk: Walker, argv: Sequence[str]) -> None:
    """A command whose output replaces a file: one that says nothing empties it, one without end fills the disk."""
    if not argv or argv[0] in {":", "true"} or list(argv) == ["cat", "/dev/null"]:
        walk.note(ASK, "truncate", "it would empty a file")
    elif argv[0] == "yes" or not _ENDLESS.isdisjoint(argv):
        walk.note(ASK, "endless", "it would fill the disk")


def _started(walk: Walker, made: Gathered, scope: Scope, stdin: str | None) -> str:
    """A command with what stands before it and where its streams go."""
    if not walk.depth:
        walk.now = tuple(made.argv)
        walk.ran.append(walk.now)
    for name, value in made.prefix:
        walk.named(name, value)
        if not made.argv:
            scope.assign(name, value)
    flow = applied(walk, scope, made.redirects)
    if flow.truncates:
        truncated(walk, made.argv)
    if not made.argv:
        return flow.written(scope, "")
    within = scope.copy() if any(name == "IFS" for name, _ in made.prefix) else scope
    return flow.written(scope, walk.command(made.argv, within, flow.stdin if flow.stdin is not None else stdin))
