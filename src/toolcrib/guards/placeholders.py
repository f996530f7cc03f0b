"""`{{secret:NAME}}` in the arguments of a tool that fills secrets in: what cannot be read is refused before the call.

Other tools take the text as it is: a file may well talk about placeholders.
"""

from toolcrib.core.guard import Call, Verdict, deny
from toolcrib.core.tool import Tool
from toolcrib.services.vault.placeholders import named_in, texts


class Placeholders:
    """Stands before the tools that expand secrets, and refuses what cannot be read."""

    name = "placeholders"

    def watches(self, tool: Tool) -> bool:
        return tool.traits.expands_secrets

    def check(self, call: Call) -> Verdict | None:
        for text in texts(call.arguments):
            for named in named_in(text):
                if named.wrong:
                    return deny("secret", named.wrong, "Write {{secret:NAME}}, with |base64 or |urlencode if need be.")
        return None
