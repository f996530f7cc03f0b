"""What becomes of a server's tools when it lists them: which are there, which wait, which are quarantined.

The first list after an approval is what was approved. Later a changed tool is quarantined alone, and a new or renamed
one waits for a person.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from difflib import unified_diff

from msgspec import Struct
from msgspec.structs import replace

from toolcrib.core.call import JsonObject
from toolcrib.services.mcp.arguments import fault_of_schema
from toolcrib.services.mcp.names import name_of
from toolcrib.services.mcp.servers import Pin, Pinned, Server, changes, digest

LONGEST_NAME = 256  # of a tool, as its server gives it
LARGEST = 256 * 1024  # bytes of one definition, about
LINES = 60  # of a diff


class Observed(Struct, frozen=True):
    """A list of tools as it was found."""

    definitions: dict[str, JsonObject]
    notes: tuple[str, ...] = ()


def read_tools(listed: Sequence[JsonObject]) -> Observed:
    """The tools of a list that can be used; what cannot is noted. Of two with one name the first counts."""
    found: dict[str, JsonObject] = {}
    notes: list[str] = []
    for definition in listed:
        name = definition.get("name")
        if not isinstance(name, str) or not name or len(name) > LONGEST_NAME or not name.isprintable():
            notes.append(f"a tool with the name {str(name)[:60]!r} was left out")
        elif name in found:
            notes.append(f"there are two tools {name!r}; the first one counts")
        elif len(str(definition)) > LARGEST:
            notes.append(f"{name} was left out: its definition is larger than {LARGEST >> 10} KB")
        elif fault := fault_of_schema(definition.get("inputSchema")):
            notes.append(f"{name} was left out: {fault}")
        else:
            found[name] = definition
    return Observed(found, tuple(notes))


def pinned(
    server: Server, before: Sequence[Pin], seen: Mapping[str, JsonObject], taken: Collection[str], now: float
) -> list[Pin] | None:
    """The pins of a server after its tools were listed; None when nothing changed.

    `taken` are the names, in small letters, that tools of others have.
    """
    names = set(taken)
    first = not before
    made: list[Pin] = []
    for pin in before:
        names.add(pin.name.lower())
        made.append(_again(pin, seen.get(pin.tool), now))
    known = {pin.tool for pin in before}
    state = Pinned.APPROVED if first or server.accept_new else Pinned.PENDING
    for tool, definition in seen.items():
        if tool not in known:
            name = name_of(server.name, tool, names)
            names.add(name.lower())
            made.append(Pin(server=server.name, tool=tool, name=name, definition=definition, state=state, changed=now))
    made.sort(key=lambda pin: pin.tool)
    return None if made == list(before) else made


def _again(pin: Pin, seen: JsonObject | None, now: float) -> Pin:
    """A pin after its tool was looked at again."""
    if seen is None:
        if pin.state is Pinned.PENDING:
            return pin
        return pin if pin.state is Pinned.GONE else replace(pin, state=Pinned.GONE, changed=now)
    if pin.state is Pinned.PENDING:
        return pin if digest(pin.definition) == digest(seen) else replace(pin, definition=seen, changed=now)
    if digest(pin.definition) == digest(seen):
        state = Pinned.APPROVED
        same = pin.state is state and pin.seen is None and pin.definition == seen
        return pin if same else replace(pin, state=state, definition=seen, seen=None, changed=now)
    if pin.state is Pinned.CHANGED and pin.seen is not None and digest(pin.seen) == digest(seen):
        return pin
    return replace(pin, state=Pinned.CHANGED, seen=seen, changed=now)


def agreed(pin: Pin, by: str, now: float) -> Pin:
    """A pin to whose tool, as it is now, a person has agreed."""
    return replace(pin, state=Pinned.APPROVED, definition=pin.seen or pin.definition, seen=None, by=by, changed=now)


def reason(pin: Pin) -> str:
    """Why a tool is not there; "" when it is."""
    if pin.state is Pinned.PENDING:
        return f"{pin.tool} of server {pin.server} is new and waits for approval: `toolcrib mcp pins {pin.server}`"
    if pin.state is Pinned.GONE:
        return f"server {pin.server} does not have {pin.tool} any more"
    if pin.state is Pinned.CHANGED and pin.seen is not None:
        what = " and ".join(changes(pin.definition, pin.seen))
        return f"quarantined: its {what} changed; a person agrees to it with `toolcrib mcp pins {pin.server}`"
    return ""


def difference(pin: Pin) -> list[str]:
    """What changed in a tool's definition, line by line."""
    if pin.seen is None:
        return []
    keys = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    sides = [
        json.dumps({key: one[key] for key in keys if key in one}, indent=1, ensure_ascii=False, sort_keys=True)
        for one in (pin.definition, pin.seen)
    ]
    lines = list(unified_diff(sides[0].splitlines(), sides[1].splitlines(), "approved", "now", lineterm="", n=1))
    return lines if len(lines) <= LINES else [*lines[:LINES], f"… and {len(lines) - LINES} more lines"]
