"""Assignments and declarations: what a variable holds afterwards."""

from typing import TYPE_CHECKING

from toolcrib.safety.shell.launch import declared
from toolcrib.safety.shell.parse import text_of
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.walking import Walker

if TYPE_CHECKING:
    from tree_sitter import Node


def assignment(walk: Walker, node: "Node", scope: Scope, _stdin: str | None) -> str:
    """A `name=value` that stands alone."""
    name, value, more = assigned(walk, node, scope)
    walk.named(name, value)
    if name:
        scope.assign(name, value, more=more)
    return ""


def assigned(walk: Walker, node: "Node", scope: Scope) -> tuple[str, str | list[str], bool]:
    """A `name=value`: the name, the value, and whether it is added."""
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    more = any(child.type == "+=" for child in node.children)
    label = text_of(name) if name else ""
    if name is not None and name.type == "subscript":
        walk.words.text(name, scope, quoted=True)
        label = label.partition("[")[0]
        more = True
    if value is None:
        return label, "", more
    if value.type != "array":
        return label, walk.words.one(value, scope), more
    items: list[str] = []
    for child in value.children:
        if child.type == "variable_assignment":
            items.append(str(assigned(walk, child, scope)[1]))
        elif child.is_named:
            items += walk.words.words(child, scope)
    return label, items, more


def declaration(walk: Walker, node: "Node", scope: Scope, _stdin: str | None) -> str:
    """`export`, `declare`, `local` and their kin."""
    words = [text_of(node.children[0])]
    for child in node.children[1:]:
        if child.type == "variable_assignment":
            assignment(walk, child, scope, None)
            words.append("x=")
        elif child.is_named:
            words += walk.words.words(child, scope)
    for word in words[1:]:
        if "=" in word and word != "x=":  # declare "x=$y" and the like
            name, _, value = word.partition("=")
            walk.named(name, value)
            scope.assign(name, value)
    if any(word.startswith("-") and "i" in word for word in words):
        _sums(walk, scope)
    return declared(walk, words, scope)


def _sums(walk: Walker, scope: Scope) -> None:
    for value in scope.names.values():
        for part in [value] if isinstance(value, str) else value:
            _index(walk, part)


def _index(walk: Walker, text: str) -> None:
    """A sum, or an index, runs the substitution that its text holds."""
    if "$(" in text or "`" in text:
        walk.worry("arithmetic", "arithmetic would run the command that a text holds")


def unset(walk: Walker, node: "Node", scope: Scope, _stdin: str | None) -> str:
    """`unset name`."""
    for child in node.children[1:]:
        if child.is_named:
            for word in walk.words.words(child, scope):
                walk.named(word, "")
                _index(walk, word)
                scope.names[word] = ""
    return ""
