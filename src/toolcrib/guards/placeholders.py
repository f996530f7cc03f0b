"""`{{secret:NAME}}` in the arguments of a tool that fills secrets in: refused while there is no vault to fill from.

Other tools take the text as it is: a file may well talk about placeholders.
"""

from collections.abc import Mapping
from typing import Any

from toolcrib.core.guard import Call, Verdict, deny
from toolcrib.core.tool import Tool

MARK = "{{secret:"


class Placeholders:
    """Stands before the tools that expand secrets."""

    name = "placeholders"

    def watches(self, tool: Tool) -> bool:
        return tool.traits.expands_secrets

    def check(self, call: Call) -> Verdict | None:
        if not _holds(call.arguments):
            return None
        return deny("secret", "it names a secret, and this crib has no vault", "Call it without the placeholder.")


def _holds(value: Any) -> bool:  # noqa: ANN401 - checked arguments, of any shape
    """Whether any text in the arguments names a secret, however JSON wrote it."""
    if isinstance(value, str):
        return MARK in value
    if isinstance(value, Mapping):
        return any(_holds(part) for pair in value.items() for part in pair)  # pyright: ignore[reportUnknownVariableType]
    return isinstance(value, list | tuple) and any(map(_holds, value))  # pyright: ignore[reportUnknownArgumentType]
