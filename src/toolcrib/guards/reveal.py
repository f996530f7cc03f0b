"""`vault.reveal: ask`: a person agrees before a tool gives a secret to a model."""

from toolcrib.core.guard import Call, Verdict, ask
from toolcrib.core.tool import Tool


class Reveal:
    """Stands before the tools that reveal secrets."""

    name = "reveal"

    def watches(self, tool: Tool) -> bool:
        return tool.traits.reveals

    def check(self, call: Call) -> Verdict | None:
        del call
        return ask("vault.reveal", "it gives a secret to the model", "Use {{secret:NAME}} where the secret is needed.")
