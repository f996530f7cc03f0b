"""From text to a tree, with the limits over which nothing is looked at."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.core.heavy import heavy

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_BYTES = 60_000
MOST_NODES = 3_000
MOST_DEPTH = 12
MOST_STEPS = 6_000

_LEADING_BRACE = re.compile(r"(^|[;&|\n(`]\s*)(?=\{[^\s{},]*,)")


@cache
def parser() -> "Parser":
    """One parser for the process: making one costs more than using it."""
    bash: Any = heavy("tree_sitter_bash")
    sitter: Any = heavy("tree_sitter")
    return sitter.Parser(sitter.Language(bash.language()))


def parse(source: bytes) -> "Node":
    """The tree of a command. A brace expansion as a command's name is not in the grammar: `command` helps it out."""
    root = parser().parse(source).root_node
    if root.has_error and b"{" in source:
        helped = _LEADING_BRACE.sub(r"\1command ", source.decode("utf-8", "replace")).encode()
        if helped != source:
            again = parser().parse(helped).root_node
            return root if again.has_error else again
    return root


def text_of(node: "Node") -> str:
    """A node's own text."""
    text = node.text
    return text.decode("utf-8", "replace") if text else ""
