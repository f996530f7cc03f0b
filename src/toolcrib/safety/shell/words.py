"""Evaluates words as the shell would, without running anything: quotes, variables, expansions, substitutions."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from toolcrib.safety.shell.expansions import arithmetic, closed, parameter, unescaped, words_of
from toolcrib.safety.shell.marks import (
    CLOSE,
    COMMA,
    LOOSE,
    NOTHING,
    ONE,
    OPEN,
    SET,
    SPLIT,
    STAR,
    UNKNOWN,
    vague,
)
from toolcrib.safety.shell.parse import text_of
from toolcrib.safety.shell.scope import PATH, Scope

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_TEXT = 20_000
_SPECIAL = re.compile(r"[\\*?\[{},~]")
_ACTIVE = {"*": STAR, "?": ONE, "[": SET, "{": OPEN, ",": COMMA, "}": CLOSE}
_TO_GLOB = str.maketrans({"*": STAR, "?": ONE, "[": SET})
_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_RUNS_INSIDE = re.compile(r"\$\(|`")
# What these hold is not known, but what a slice of them begins with is.
_LIKELY = {"HOME": "/root", "PWD": "/work", "SHELL": "/bin/bash", "PATH": PATH}
_PROCESS_SPECIAL = frozenset("?$!#-_")


class Runs(Protocol):
    """What a word may make run: the commands of a substitution."""

    def inside(self, node: "Node", scope: Scope) -> str: ...

    def process(self, node: "Node", scope: Scope) -> str: ...

    def worry(self, rule: str, why: str) -> None: ...


class Words:
    """Turns the nodes of one text into words."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self._kinds: dict[str, Callable[[Node, Scope, bool], str]] = {
            "word": self._word,
            "number": self._word,
            "extglob_pattern": self._word,
            "regex": lambda node, _scope, _quoted: text_of(node),
            "variable_name": lambda node, _scope, _quoted: text_of(node),
            "string_content": lambda node, _scope, _quoted: _IN_QUOTES.sub(_dequoted, text_of(node)),
            "raw_string": lambda node, _scope, _quoted: text_of(node)[1:-1] or NOTHING,
            "ansi_c_string": lambda node, _scope, _quoted: unescaped(text_of(node)[2:-1]) or NOTHING,
            "string": self._string,
            "translated_string": lambda node, scope, quoted: self._string(node.children[-1], scope, quoted),
            "concatenation": self._joined,
            "simple_expansion": self._simple,
            "expansion": self._expansion,
            "command_substitution": self._substitution,
            "process_substitution": lambda node, scope, _quoted: self.runs.process(node, scope),
            "arithmetic_expansion": self._arithmetic,
            "brace_expression": lambda node, _scope, _quoted: _braced(text_of(node)),
            "command_name": self._joined,
            "heredoc_body": lambda node, scope, _quoted: self._inner(node, scope, node.start_byte, node.end_byte),
            "heredoc_content": lambda node, _scope, _quoted: _IN_QUOTES.sub(_dequoted, text_of(node)),
        }

    def words(self, node: "Node", scope: Scope) -> list[str]:
        """The words that a node becomes: none, one, or more."""
        return words_of(self.text(node, scope))

    def one(self, node: "Node", scope: Scope) -> str:
        """A node where no splitting takes place: an assignment, a here-string, a redirection."""
        return closed(self.text(node, scope, quoted=True)).replace(NOTHING, "").replace(SPLIT, " ")

    def text(self, node: "Node", scope: Scope, *, quoted: bool = False) -> str:
        """A node's text with marks."""
        kind = self._kinds.get(node.type)
        if kind is not None:
            made = kind(node, scope, quoted)
            return made if len(made) <= MOST_TEXT else UNKNOWN
        if not node.is_named:
            return _unescaped(text_of(node)) if not quoted else text_of(node)
        self._visit(node, scope)
        return UNKNOWN if quoted else LOOSE

    def _visit(self, node: "Node", scope: Scope) -> None:
        for child in node.children:
            if child.is_named:
                self.text(child, scope, quoted=True)

    def _word(self, node: "Node", _scope: Scope, quoted: bool) -> str:  # noqa: FBT001 - one shape for every kind
        text = text_of(node)
        if not _SPECIAL.search(text):
            return text
        made = _unescaped(text)
        return made if not quoted else made.replace(OPEN, "{").replace(COMMA, ",").replace(CLOSE, "}")

    def _string(self, node: "Node", scope: Scope, _quoted: bool) -> str:  # noqa: FBT001
        return self._inner(node, scope, node.start_byte + 1, node.end_byte - 1) or NOTHING

    def _inner(self, node: "Node", scope: Scope, begin: int, end: int) -> str:
        """The children of a quoted text with what stands between them: the grammar leaves blanks out."""
        whole = node.text or b""
        first, at = node.start_byte, begin
        out: list[str] = []
        for child in node.children:
            if child.start_byte < begin or child.end_byte > end or child.type == '"':
                continue
            out.append(whole[at - first : child.start_byte - first].decode("utf-8", "replace"))
            out.append(self.text(child, scope, quoted=True))
            at = child.end_byte
        out.append(whole[at - first : end - first].decode("utf-8", "replace"))
        return _IN_QUOTES.sub(_dequoted, "".join(out)) if len(out) == 1 else "".join(out)

    def _joined(self, node: "Node", scope: Scope, quoted: bool) -> str:  # noqa: FBT001
        children = node.children
        out: list[str] = []
        for at, child in enumerate(children):
            # `$` before a string asks for a translation, which changes nothing.
            if child.type == "$" and at + 1 < len(children) and children[at + 1].type == "string":
                continue
            out.append(self.text(child, scope, quoted=quoted))
        return "".join(out)

    def _simple(self, node: "Node", scope: Scope, quoted: bool) -> str:  # noqa: FBT001
        return self.value(text_of(node)[1:], scope, quoted=quoted)

    def value(self, name: str, scope: Scope, *, quoted: bool) -> str:
        """What `$name` gives."""
        found = scope.value(name)
        if found is None:
            return UNKNOWN if quoted else LOOSE
        if isinstance(found, list):
            if name in {"@", "*"}:
                return SPLIT.join(part if quoted else self.spread(part, scope) for part in found)
            found = found[0] if found else ""
        return found if quoted else self.spread(found, scope)

    def spread(self, value: str, scope: Scope) -> str:
        """An unquoted value: it is split at IFS, and its patterns act."""
        ifs = scope.value("IFS")
        made = value.translate(_TO_GLOB)
        for sign in ifs if isinstance(ifs, str) else " \t\n":
            made = made.replace(sign, SPLIT)
        return made.replace(UNKNOWN, LOOSE) if UNKNOWN in made else made

    def _expansion(self, node: "Node", scope: Scope, quoted: bool) -> str:  # noqa: FBT001
        children = node.children[1:-1]
        if not children:
            return UNKNOWN if quoted else LOOSE
        sign = children[0].type if children[0].type in {"!", "#"} and len(children) > 1 else ""
        children = children[1:] if sign else children
        name, value = self._named(children[0], scope, sign)
        sure = all(child.type not in {"simple_expansion", "command_substitution"} for child in children[1:])
        rest = self._rest(node, children[0].end_byte, children[1:], scope)
        if isinstance(value, list):
            return self._many(value, rest, quoted=quoted)
        if sign == "#":
            return UNKNOWN if value is None or vague(value) or name in _PROCESS_SPECIAL else str(len(value))
        if name in _PROCESS_SPECIAL and (rest or sign):
            value = None
        made = self._likely(name, rest) if name not in scope.names and rest else ""
        made = made or parameter(value, rest, sure=sure)
        if rest[:1] == "=" or rest[:2] == ":=":
            scope.assign(name, made)
        return made if quoted else self.spread(made, scope)

    @staticmethod
    def _likely(name: str, rest: str) -> str:
        """A part of a value that is not known, but of which it is known how such values begin."""
        if name not in _LIKELY:
            return ""
        made = parameter(_LIKELY[name], rest, sure=False)
        return "/" if made == "/" + UNKNOWN else made

    def _named(self, node: "Node", scope: Scope, sign: str) -> tuple[str, str | list[str] | None]:
        name = text_of(node)
        if node.type == "subscript":
            array, _, index = name.partition("[")
            self._visit(node, scope)
            return array, self._element(scope.value(array), index[:-1], scope)
        value = scope.value(name)
        if sign == "!":
            name = value if isinstance(value, str) else ""
            value = scope.value(name) if name and not vague(name) else None
        return name, (value[0] if value else "") if isinstance(value, list) and name not in {"@", "*"} else value

    @staticmethod
    def _element(value: str | list[str] | None, index: str, scope: Scope) -> str | list[str] | None:
        if index in {"@", "*"}:
            return [value] if isinstance(value, str) else value
        if index.startswith("$"):
            known = scope.value(index.strip("${}"))
            index = known if isinstance(known, str) else ""
        if isinstance(value, str):
            return value if index == "0" else None
        if value is None or not re.fullmatch(r"-?\d{1,4}", index):
            return None
        return value[int(index)] if -len(value) <= int(index) < len(value) else ""

    def _rest(self, node: "Node", begin: int, children: "list[Node]", scope: Scope) -> str:
        whole = node.text or b""
        first, at = node.start_byte, begin
        out: list[str] = []
        for child in children:
            out.append(whole[at - first : child.start_byte - first].decode("utf-8", "replace"))
            out.append(self.text(child, scope, quoted=True).replace(NOTHING, "") if child.is_named else text_of(child))
            at = child.end_byte
        out.append(whole[at - first : -1].decode("utf-8", "replace"))
        return "".join(out)

    @staticmethod
    def _many(values: list[str], rest: str, *, quoted: bool) -> str:
        if found := re.fullmatch(r":\s*(\d+)\s*(?::\s*(\d+))?", rest):
            begin = max(int(found.group(1)) - 1, 0)
            values = values[begin:] if found.group(2) is None else values[begin : begin + int(found.group(2))]
        elif rest:
            return UNKNOWN if quoted else LOOSE
        return SPLIT.join(values)

    def _substitution(self, node: "Node", scope: Scope, quoted: bool) -> str:  # noqa: FBT001
        made = self.runs.inside(node, scope).rstrip("\n")
        return made if quoted else self.spread(made, scope)

    def _arithmetic(self, node: "Node", scope: Scope, _quoted: bool) -> str:  # noqa: FBT001
        self.sums(node, scope)
        text = text_of(node)
        inner = text[3:-2] if text.startswith("$((") else text[2:-1]
        known = re.sub(r"\$?\{?([A-Za-z_]\w*)\}?", lambda m: self._digit(m.group(1), scope), inner)
        return arithmetic(known)

    @staticmethod
    def _digit(name: str, scope: Scope) -> str:
        value = scope.names.get(name, "0" if name not in {"RANDOM", "SECONDS", "LINENO"} else UNKNOWN)
        return value if isinstance(value, str) and not vague(value) else "?"

    def sums(self, node: "Node", scope: Scope) -> None:
        """Arithmetic runs what stands in its substitutions, and in values that it reads."""
        self._visit(node, scope)
        for value in scope.names.values():
            for part in [value] if isinstance(value, str) else value:
                if _RUNS_INSIDE.search(part):
                    self.runs.worry("arithmetic", "arithmetic would run the command that a variable's text holds")


def _unescaped(text: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and at + 1 < len(text):
            at += 1
            out.append("" if text[at] == "\n" else text[at])
        else:
            out.append(_ACTIVE.get(sign, sign))
        at += 1
    return "".join(out)


def _dequoted(found: "re.Match[str]") -> str:
    return "" if found.group(1) == "\n" else found.group(1)


def _braced(text: str) -> str:
    return OPEN + text[1:-1] + CLOSE
