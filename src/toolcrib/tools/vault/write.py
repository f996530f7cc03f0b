"""Changing what the vault holds."""

from collections.abc import Sequence
from typing import Annotated

from annotated_types import Len, MaxLen

from toolcrib.core.call import Caller, Result
from toolcrib.core.tool import Effect, Lane
from toolcrib.services.vault.secrets import Secrets, Wanted
from toolcrib.services.vault.values import LONGEST_NAME, LONGEST_VALUE
from toolcrib.tools.vault.family import family

Key = Annotated[str, Len(1, LONGEST_NAME), "Name of the secret"]
Value = Annotated[str, Len(1, LONGEST_VALUE), "The secret value"]
About = Annotated[str, MaxLen(500), "What it is for"]
Tools = Annotated[list[str], MaxLen(50), "The only tools that it may be filled in for"]
Hosts = Annotated[list[str], MaxLen(50), "The only hosts that it may be sent to"]


@family.tool(Effect.WRITE, lane=Lane.ORG, entrusts=True)
async def create_secret(
    secrets: Secrets,
    me: Caller,
    *,
    key: Key,
    value: Value,
    description: About = "",
    allowed_tools: Tools | None = None,
    allowed_hosts: Hosts | None = None,
) -> Result:
    """Store a new secret. Tools use it as {{secret:KEY}}."""
    wanted = Wanted(value=value, description=description, tools=_tuple(allowed_tools), hosts=_tuple(allowed_hosts))
    made = await secrets.create(key, wanted, team=me.team, by=me.agent)
    mark = "{{secret:" + key + "}}"
    return Result(text=f"Stored {key}. Use it as {mark}.", structured={"key": key, "version": made.version})


@family.tool(Effect.WRITE, lane=Lane.ORG, entrusts=True)
async def update_secret(
    secrets: Secrets,
    me: Caller,
    *,
    key: Key,
    value: Value,
    description: About | None = None,
    allowed_tools: Tools | None = None,
    allowed_hosts: Hosts | None = None,
) -> Result:
    """Change the value of a secret that you stored. What you leave out stays."""
    wanted = Wanted(value=value, description=description, tools=_tuple(allowed_tools), hosts=_tuple(allowed_hosts))
    made = await secrets.update(key, wanted, team=me.team, by=me.agent)
    return Result(
        text=f"Changed {key}; it is version {made.version}.", structured={"key": key, "version": made.version}
    )


@family.tool(Effect.DESTROY, aliases=("vault_delete",), lane=Lane.DAILY)
async def delete_secret(secrets: Secrets, me: Caller, *, key: Key) -> Result:
    """Delete a secret that you stored, or a value of the team."""
    deleted = await secrets.delete(key, team=me.team, by=me.agent)
    text = f"Deleted {key}." if deleted else f"The vault holds nothing named {key}."
    return Result(text=text, structured={"deleted": deleted})


@family.tool(Effect.WRITE)
async def vault_set(
    secrets: Secrets,
    me: Caller,
    *,
    key: Annotated[str, Len(1, LONGEST_NAME), "Name of the value"],
    value: Annotated[str, MaxLen(LONGEST_VALUE), "The value, which is no secret"],
) -> Result:
    """Keep a value for all agents of the team. For secrets use create_secret.

    It takes the place of the last value of that name.
    """
    made = await secrets.put_value(key, value, team=me.team, by=me.agent)
    return Result(text=f"Kept {key}.", structured={"key": key, "version": made.version})


def _tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
