"""Whose file it is, and the way from its text to ours."""

from collections.abc import Set as AbstractSet

from msgspec import Struct

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.policy import Grants
from toolcrib.core.registry import Registry
from toolcrib.services.config.names import check_names
from toolcrib.services.config.reading import read_config
from toolcrib.services.imports import goclaw, hivekeep, mindroom
from toolcrib.services.imports.foreign import Draft, Foreign, as_yaml, list_of, mapping_of, read_foreign

KINDS = {"mindroom": "MindRoom", "goclaw": "GoClaw", "hivekeep": "Hivekeep", "mcp": "MCP servers"}
_POLICY = {"profile", "allow", "deny", "alsoAllow", "byProvider", "execApproval", "rate_limit_per_hour"}
_BOXED = {"toolboxIds", "toolbox_ids", "extraToolNames", "extra_tool_names"}
_LISTED = {"toolNames", "tool_names", "builtin", "isBuiltin"}
_AGENT = {"display_name", "role", "tools", "allowed_toolkits", "initial_toolkits", "rooms", "model", "instructions"}
_SERVER = {"command", "url", "serverUrl", "httpUrl"}


class Imported(Struct, frozen=True):
    """What an import gives: the text of a toolcrib.yaml, and what was changed or left out on the way."""

    kind: str
    text: str
    notes: tuple[Problem, ...]


def detect(text: str) -> str | None:
    """Whose file a text is: mindroom, goclaw, hivekeep or mcp; None when nothing tells."""
    try:
        return _kind_of(read_foreign(text, ""))
    except BadConfig:
        return None


def import_config(
    text: str, registry: Registry, base: Grants, *, kind: str | None = None, source: str = "file"
) -> Imported:
    """The configuration that corresponds to another system's file. It loads as it is: `check_names` finds nothing.

    Raises BadConfig for a file that cannot be read, and for one that is nobody's.
    """
    found = read_foreign(text, source)
    kind = kind or _kind_of(found)
    if kind not in KINDS:
        what = "This is no file of MindRoom, GoClaw or Hivekeep that Toolcrib recognises."
        raise _refused(what, source, "Say which it is with --from.")
    if kind == "mcp":
        raise _refused("These are MCP servers.", source, "They come with `toolcrib mcp import`, not in this version.")
    if not isinstance(found, dict | list) or (kind != "hivekeep" and isinstance(found, list)):
        raise _refused(f"A file of {KINDS[kind]} is a mapping, and this is none.", source)
    draft = Draft(registry)
    made = _converted(kind, found, draft, base)
    head = [f"Taken over from {KINDS[kind]}.", *(f"Note: {note}" for note in draft.notes)]
    said = as_yaml(made, head)
    config = read_config(said, source="the imported configuration", env={})
    if problems := check_names(config, registry, base):
        raise BadConfig(problems, "the imported configuration")
    return Imported(kind, said, tuple(draft.notes))


def _converted(kind: str, found: Foreign, draft: Draft, base: Grants) -> dict[str, Foreign]:
    if kind == "mindroom":
        return mindroom.convert(found, draft)
    return goclaw.convert(found, draft, base) if kind == "goclaw" else hivekeep.convert(found, draft, base)


def _refused(what: str, source: str, mend: str = "") -> BadConfig:
    return BadConfig([Problem("", what, mend)], source)


def _kind_of(found: Foreign) -> str | None:
    """The signs, from the surest to the vaguest."""
    said: dict[str, Foreign] = mapping_of(found) or {"toolboxes": found}
    signs: tuple[tuple[str, bool], ...] = (
        ("mcp", isinstance(said.get("mcpServers"), dict) or _rows_have(said.get("servers"), _SERVER)),
        ("hivekeep", _rows_have(said.get("toolboxes"), _LISTED)),
        ("hivekeep", any(_rows_have(said.get(key), _BOXED) for key in ("agents", "kins", "toolboxes"))),
        # Nobody else's file is a list of toolboxes with names: ours, like a list of toolkits, is a mapping by name.
        ("hivekeep", any({"name", "tools"} <= mapping_of(row).keys() for row in list_of(said.get("toolboxes")))),
        ("goclaw", bool(mapping_of(said.get("tools")).keys() & _POLICY)),
        ("goclaw", bool(mapping_of(said.get("agents")).keys() & {"list", "defaults"})),
        ("goclaw", any(mapping_of(row.get("tools")).keys() & _POLICY for row in _rows(said.get("agents")))),
        ("mindroom", "toolkits" in said and "toolboxes" not in said),
        ("mindroom", "toolboxes" not in said and _rows_have(said.get("agents"), _AGENT)),
    )
    return next((kind for kind, there in signs if there), None)


def _rows_have(value: Foreign, keys: AbstractSet[str]) -> bool:
    return any(row.keys() & keys for row in _rows(value))


def _rows(value: Foreign) -> list[dict[str, Foreign]]:
    """The mappings in a list, or in a mapping by name."""
    return [row for row in map(mapping_of, list_of(value) or mapping_of(value).values()) if row]
