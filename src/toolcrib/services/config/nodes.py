"""One value of a tree on its way to a kind: what it says, what it is in words, and the variables that it names."""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from toolcrib.core.errors import Problem
from toolcrib.services.config.document import Entries, Items, Node, Text, plain_value

_VARIABLE = re.compile(
    r"\$(?:(?P<escaped>\$)\{|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<default>:-[^}]*)?\}|(?P<open>\{))"
)
_WORD = re.compile(r"[A-Za-z0-9_-]+")
Value = Any  # what a kind reads: the kind decides


class Reading(Struct):
    """What is known while a document is read."""

    env: Mapping[str, str]
    problems: list[Problem] = field(default_factory=list[Problem])
    notes: list[Problem] = field(default_factory=list[Problem])
    lines: dict[str, int] = field(default_factory=dict[str, int])

    def refuse(self, where: str, what: str, line: int, mend: str = "") -> None:
        """Note a problem."""
        self.problems.append(Problem(where, what, mend, line))


class Kind(Protocol):
    """One kind of value."""

    @property
    def words(self) -> str: ...

    def read(self, node: Node, where: str, into: Reading) -> Value:
        """The value, or None when there is none or it was refused."""
        ...


def at(where: str, key: str | int) -> str:
    """The place of a part: agents.helper.tools[1]."""
    if isinstance(key, int):
        return f"{where}[{key}]"
    named = key if _WORD.fullmatch(key) else f'"{key}"'
    return f"{where}.{named}" if where else named


def scalar(node: Node, where: str, into: Reading) -> object:
    """What a word means with its variables filled in: nothing, true, false, a number or text.

    A variable means what its value means, in quotes or not: a mapping in braces cannot do without the quotes.
    """
    if not isinstance(node, Text):
        return None
    text = filled(node, where, into)
    return plain_value(text) if node.plain or "${" in node.text else text


def text_of(node: Node, where: str, into: Reading) -> str | None:
    """A text; None for anything else. What comes from a variable is text whatever it looks like."""
    if isinstance(node, Text) and "${" in node.text:
        return filled(node, where, into)
    value = scalar(node, where, into)
    return value if isinstance(value, str) else None


def filled(node: Text, where: str, into: Reading) -> str:
    """A text with each ${NAME} and ${NAME:-default} replaced. $${ stands for the characters ${ themselves."""
    if "${" not in node.text:
        return node.text

    def value(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "${"
        if found["open"]:
            into.refuse(
                where, "'${' begins a variable, and no name and '}' follow.", node.line, "Write $${ for the characters."
            )
            return ""
        name, default = found["name"], found["default"]
        said = into.env.get(name, "")
        if not said and default is None and name not in into.env:
            mend = f"Set it, or write ${{{name}:-a default}}."
            into.refuse(where, f"The environment variable {name} is not set.", node.line, mend)
        return said or (default or ":-")[2:]

    return _VARIABLE.sub(value, node.text)


def said(node: Node) -> str:
    """What a node is, in words for an error."""
    if isinstance(node, Entries):
        return "a mapping"
    if isinstance(node, Items):
        return "a list"
    value = plain_value(node.text) if node.plain else node.text
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    return "text" if isinstance(value, str) else "a number"
