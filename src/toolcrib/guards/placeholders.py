"""`{{secret:NAME}}` in the arguments of a tool that fills secrets in: refused while there is no vault to fill from.

Other tools take the text as it is: a file may well talk about placeholders.
"""

from toolcrib.core.guard import Call, Verdict, deny
from toolcrib.core.tool import Tool

MARK = b"{{secret:"


class Placeholders:
    """Stands before the tools that expand secrets."""

    name = "placeholders"

    def watches(self, tool: Tool) -> bool:
        return tool.traits.expands_secrets

    def check(self, call: Call) -> Verdict | None:
        if MARK not in call.raw:
            return None
        return deny("secret", "it names a secret, and this crib has no vault", "Call it without the placeholder.")
