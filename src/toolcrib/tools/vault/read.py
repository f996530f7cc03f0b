"""Looking into the vault."""

from typing import Annotated

from annotated_types import Len, MaxLen

from toolcrib.core.call import Caller, Result
from toolcrib.core.tool import Effect, Flow
from toolcrib.services.vault.secrets import Secrets
from toolcrib.services.vault.values import LONGEST_NAME, Secret
from toolcrib.tools.vault.family import family

Key = Annotated[str, Len(1, LONGEST_NAME), "Name of the secret"]


@family.tool(Effect.READ, aliases=("vault_get",), parallel=True, flow=(Flow.PRIVATE,), whole=True, reveals=True)
async def get_secret(secrets: Secrets, me: Caller, *, key: Key) -> Result:
    """Get a secret by its key.

    Prefer writing {{secret:KEY}} in the arguments of http_request: then you need not see it.
    """
    secret = await secrets.get(key, team=me.team)
    if secret.is_secret and not secrets.reveals:
        mark = "{{secret:" + key + "}}"
        text = f"{key} is there, and its value is not shown to agents. Write {mark} where a tool fills secrets in."
        return Result(text=text, structured={"key": key, "placeholder": mark, "is_secret": True})
    return Result(
        text=secret.value or "", structured={"key": key, "value": secret.value, "is_secret": secret.is_secret}
    )


@family.tool(Effect.READ, aliases=("vault_list",), parallel=True)
async def search_secrets(
    secrets: Secrets,
    me: Caller,
    *,
    query: Annotated[str, MaxLen(200), "Words in the name or the description; none lists all"] = "",
    prefix: Annotated[str, MaxLen(LONGEST_NAME), "How the name begins"] = "",
) -> Result:
    """Find secrets by name or description. Values of secrets are not shown."""
    found = await secrets.search(query, prefix=prefix, team=me.team)
    lines = [_line(one) for one in found]
    text = "\n".join(lines) or "The vault holds nothing like that."
    return Result(text=text, structured={"secrets": found, "count": len(found)})


def _line(secret: Secret) -> str:
    about = f": {secret.description}" if secret.description else ""
    value = "" if secret.is_secret else f" = {secret.value}"
    limits = "".join(
        f" (only for {', '.join(names)})" for names in (secret.allowed_tools, secret.allowed_hosts) if names
    )
    return f"{secret.key}{value}{about}{limits}"
