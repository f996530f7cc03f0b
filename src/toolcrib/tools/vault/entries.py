"""Structured entries: cards, credentials, notes, and types of one's own."""

from typing import Annotated, NotRequired

from annotated_types import Len, MaxLen
from typing_extensions import TypedDict

from toolcrib.core.call import Attachment, Caller, Result, Where
from toolcrib.core.errors import ToolFailed
from toolcrib.core.tool import Effect, Flow, Lane
from toolcrib.services.vault.entries import Entries
from toolcrib.services.vault.secrets import Secrets
from toolcrib.services.vault.values import LONGEST_NAME, EntryType, FieldRule
from toolcrib.tools.vault.family import family, told

MAIN = (Where.MAIN,)
HIDDEN = "(hidden)"
Key = Annotated[str, Len(1, LONGEST_NAME), "Name of the entry"]
Slug = Annotated[str, Len(1, 64), "Short name of the type, such as wifi"]


class Field(TypedDict):
    """One field of a new type."""

    name: Annotated[str, Len(1, 64)]
    label: NotRequired[Annotated[str, MaxLen(100)]]
    secret: NotRequired[bool]
    required: NotRequired[bool]


@family.tool(Effect.READ, parallel=True, where=MAIN, flow=(Flow.PRIVATE,), whole=True, reveals=True)
async def get_vault_entry(entries: Entries, secrets: Secrets, me: Caller, *, key: Key) -> Result:
    """Get a structured vault entry with its fields and the names of its attachments."""
    entry, kind = await entries.get(key, team=me.team)
    hidden: set[str] = set() if secrets.reveals else {rule.name for rule in kind.fields if rule.secret}
    if not kind.fields and not secrets.reveals:
        hidden = set(entry.value)  # its type is gone, so nobody knows which are secret
    value = {name: HIDDEN if name in hidden else part for name, part in entry.value.items()}
    lines = [f"{name}: {part}" for name, part in value.items()]
    text = "\n".join([f"{key} ({kind.name})", *lines, f"Attachments: {told(entry.attachments)}"])
    structured = {"key": key, "entry_type": entry.entry_type, "value": value, "attachments": entry.attachments}
    return Result(text=text, structured=structured)


@family.tool(Effect.WRITE, where=MAIN, lane=Lane.ORG, entrusts=True)
async def create_vault_entry(
    entries: Entries,
    me: Caller,
    *,
    key: Key,
    entry_type: Annotated[str, Len(1, 64), "text, credential, card, note, identity, or a type of your own"],
    value: Annotated[dict[str, str], MaxLen(50), "Its fields by name"],
) -> Result:
    """Create a structured vault entry."""
    made = await entries.create(key, entry_type, value, team=me.team, by=me.agent)
    return Result(text=f"Stored {key} ({made.entry_type}).", structured={"key": key, "entry_type": made.entry_type})


@family.tool(Effect.WRITE, where=MAIN)
async def create_vault_type(
    entries: Entries,
    me: Caller,
    *,
    name: Annotated[str, Len(1, 100), "Name of the type, such as WiFi network"],
    slug: Slug,
    fields: Annotated[list[Field], Len(1, 50), "Its fields"],
    icon: Annotated[str, MaxLen(64), "Name of an icon"] = "",
) -> Result:
    """Define an own type of vault entry."""
    rules = tuple(FieldRule(**one) for one in fields)
    made = await entries.create_type(
        EntryType(slug=slug, name=name, icon=icon, fields=rules), team=me.team, by=me.agent
    )
    text = f"Made the type {made.slug} with the fields {told([rule.name for rule in made.fields])}."
    return Result(text=text, structured={"slug": made.slug, "fields": made.fields})


@family.tool(Effect.READ, where=MAIN, flow=(Flow.PRIVATE,), whole=True, reveals=True)
async def get_vault_attachment(
    entries: Entries,
    secrets: Secrets,
    me: Caller,
    *,
    key: Key,
    name: Annotated[str, Len(1, LONGEST_NAME), "Name of the attachment"],
) -> Result:
    """Get a file attached to a vault entry."""
    if not secrets.reveals:
        raise ToolFailed(
            "The attachment was not opened: what the vault keeps is not shown to agents here.",
            code="not_revealed",
            hint="Ask a person for it; vault.reveal in the configuration decides this.",
        )
    file: Attachment = await entries.attachment(key, name, team=me.team)
    structured = {"key": key, "name": name, "media_type": file.media_type, "size": len(file.data)}
    text = f"{name} ({file.media_type}, {len(file.data):,} bytes) is attached."
    return Result(text=text, structured=structured, attachments=(file,))
