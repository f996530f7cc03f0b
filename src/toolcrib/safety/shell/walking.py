"""What the parts of a walk share."""

from typing import TYPE_CHECKING, Protocol

from toolcrib.safety.shell.run import Machine
from toolcrib.safety.shell.scope import Scope
from toolcrib.safety.shell.words import Words

if TYPE_CHECKING:
    from tree_sitter import Node


class Enough(Exception):
    """A limit is reached, or nothing stricter can be found: the walk ends."""


class Walker(Machine, Protocol):
    """The walk, as its parts see it."""

    words: Words
    now: tuple[str, ...]
    ran: list[tuple[str, ...]]

    def visit(self, node: "Node", scope: Scope, stdin: str | None = None) -> str: ...

    def statements(self, node: "Node", scope: Scope, stdin: str | None) -> str: ...
