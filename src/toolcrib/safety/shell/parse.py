"""From text to a tree, with the limits over which nothing is looked at."""

import math
import re
import threading
import time
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.core.heavy import heavy

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_BYTES = 60_000
MOST_NODES = 3_000
MOST_DEPTH = 12
MOST_STEPS = 6_000
MOST_SECONDS = 0.03  # for one text
SHORT = 500  # bytes that are parsed in no time whatever they are

_LEADING_BRACE = re.compile(r"(^|[;&|\n(`]\s*)(?=\{[^\s{},]*,)")


# The grammar ends the word `a$IFS-b$IFS/c` before the second variable; with braces it does not.
_JOINED = re.compile(rb"(?<=[\w/.-])\$([A-Za-z_]\w*)(?=[^\s\w])")


class _Kept(threading.local):
    parser: "Parser | None" = None


_KEPT = _Kept()


@cache
def _language() -> Any:  # noqa: ANN401 - tree_sitter.Language, which comes in late
    return heavy("tree_sitter").Language(heavy("tree_sitter_bash").language())


def parser() -> "Parser":
    """One parser for each thread: making one costs more than using it, and two threads in one end the process."""
    kept = _KEPT.parser
    if kept is None:
        kept = _KEPT.parser = heavy("tree_sitter").Parser(_language())
    return kept


class TooLong(Exception):
    """A text takes too long to parse: what is not in the grammar can cost the square of its length."""


def parse(source: bytes) -> "Node":
    """The tree of a command. A brace expansion as a command's name is not in the grammar: `command` helps it out.

    Raises TooLong.
    """
    if source.count(b"$") > 1:
        source = _JOINED.sub(rb"${\1}", source)
    root = _root(source)
    if root.has_error and b"{" in source:
        helped = _LEADING_BRACE.sub(r"\1command ", source.decode("utf-8", "replace")).encode()
        if helped != source:
            again = _root(helped)
            return root if again.has_error else again
    return root


def _root(source: bytes) -> "Node":
    if len(source) <= SHORT:
        return parser().parse(source).root_node
    end = time.thread_time() + MOST_SECONDS
    late = False

    def read(offset: int, _place: object) -> bytes:
        nonlocal late  # nodes read their texts by this too, long after the parse: then there is no end to keep
        late = late or time.thread_time() > end
        return b"" if late else source[offset : offset + SHORT]

    root = parser().parse(read).root_node
    if late:
        raise TooLong
    end = math.inf
    return root


def text_of(node: "Node") -> str:
    """A node's own text."""
    text = node.text
    return text.decode("utf-8", "replace") if text else ""
