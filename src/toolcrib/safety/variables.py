"""`{{secret:NAME}}` in a command: it becomes a variable, so that no value stands where others read command lines.

The value is never read as shell text: it is one word, whatever is in it. Where a shell replaces no variables (in single
quotes, in a here-document with a quoted mark, in a name) a placeholder is refused.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from toolcrib.safety.shell.parse import TooLong, parse
from toolcrib.services.vault.placeholders import OPEN, Named, named_in, replaced

if TYPE_CHECKING:
    from tree_sitter import Node

VARIABLE = "TOOLCRIB_SECRET_"
_QUOTED = frozenset(("string", "heredoc_body"))
_LITERAL = {
    "raw_string": "in single quotes, where a shell replaces nothing",
    "ansi_c_string": "in $'…', where a shell replaces nothing",
    "comment": "in a comment",
    "command_name": "where the program's name stands",
    "arithmetic_expansion": "in a sum",
    "variable_name": "in a variable's name",
    "heredoc_start": "in the mark of a here-document",
}
MOST = 20


class Written(Struct, frozen=True):
    """A command with variables where it had placeholders. `wrong` says why it cannot be run."""

    text: str
    named: tuple[tuple[str, Named], ...] = ()  # each variable with what it holds
    wrong: str = ""


def with_variables(command: str) -> Written:
    """The command as a shell gets it."""
    if OPEN not in command:
        return Written(command)
    if VARIABLE in command:
        return Written(command, wrong=f"it uses names that begin with {VARIABLE}, which are for secrets")
    found = tuple(named_in(command))
    many = f"it has more than {MOST} placeholders" if len(found) > MOST else ""
    if wrong := many or next((one.wrong for one in found if one.wrong), ""):
        return Written(command, wrong=wrong)
    named = tuple((f"{VARIABLE}{number}X", one) for number, one in enumerate(found))
    names = iter(named)
    text = replaced(command, lambda _: next(names)[0])  # plain letters: a word wherever one may stand
    written = text
    for variable, _ in named:
        kinds = _around(text, variable)
        if wrong := _misplaced(kinds):
            return Written(command, wrong=wrong)
        nearest = next((kind for kind in kinds if kind in _QUOTED or kind == "command_substitution"), "")
        mark = "${" + variable + "}"
        written = written.replace(variable, mark if nearest in _QUOTED else f'"{mark}"')
    return Written(written, named)


def _misplaced(kinds: Sequence[str]) -> str:
    if not kinds:
        return "it could not be parsed, so nobody knows where its placeholders stand"
    why = next((_LITERAL[kind] for kind in kinds if kind in _LITERAL), "")
    return f"a placeholder stands {why}" if why else ""


def _around(text: str, variable: str) -> list[str]:
    """The kinds of what a variable stands in, the nearest first; none when the text cannot be read."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        root = parse(data)
    except TooLong:
        return []
    if root.has_error:
        return []
    start = data.index(variable.encode())
    node: Node | None = root.descendant_for_byte_range(start, start + len(variable))
    kinds: list[str] = []
    while node is not None:
        kinds.append("heredoc_start" if _is_quoted_document(node) else node.type)
        node = node.parent
    return kinds


def _is_quoted_document(node: "Node") -> bool:
    """A here-document whose mark is quoted, so that nothing in it is replaced."""
    if node.type != "heredoc_body" or node.parent is None:
        return False
    marks = [child.text or b"" for child in node.parent.children if child.type == "heredoc_start"]
    return any(set(mark) & set(b"'\"\\") for mark in marks)
