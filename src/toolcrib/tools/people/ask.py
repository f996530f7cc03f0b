"""Asking a person."""

from typing import Annotated

from annotated_types import Len, MaxLen

from toolcrib.core.call import Caller, Result, Where
from toolcrib.core.tool import Effect
from toolcrib.services.vault.asking import SecretPrompt
from toolcrib.services.vault.ports import SecretAsked
from toolcrib.services.vault.values import LONGEST_NAME
from toolcrib.tools.people.family import family


@family.tool(Effect.WRITE, where=(Where.MAIN,), seconds=600)
async def prompt_secret(
    prompt: SecretPrompt,
    me: Caller,
    *,
    key: Annotated[str, Len(1, LONGEST_NAME), "Name to store it under"],
    label: Annotated[str, Len(1, 200), "What the person is asked for"],
    description: Annotated[str, MaxLen(500), "Why, and where they find it"] = "",
) -> Result:
    """Ask a person for a secret that goes straight to the vault. You never see it."""
    await prompt.ask(SecretAsked(key=key, label=label, description=description, caller=me))
    mark = "{{secret:" + key + "}}"
    return Result(text=f"The person entered {key}; it is in the vault. Use it as {mark}.", structured={"key": key})
