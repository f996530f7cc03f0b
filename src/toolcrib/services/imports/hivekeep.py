"""Hivekeep's toolbox list, and the toolboxes of its agents."""

from collections.abc import Iterable, Mapping

import msgspec

from toolcrib.core.policy import Grants
from toolcrib.services.imports.foreign import Draft, Foreign, mapping_of

_LOSS = "They grant nothing here. MCP, plugin and custom tools come with their own sources."


def convert(found: Foreign, draft: Draft, base: Grants) -> dict[str, Foreign]:
    """The configuration that corresponds to a list of toolboxes, alone or beside agents."""
    said: Mapping[str, Foreign] = mapping_of(found) or {"toolboxes": found}
    boxes = _Boxes(draft, base)
    boxes.read(_rows(said.get("toolboxes"), "toolboxes", draft))
    agents: dict[str, Foreign] = {}
    for key in ("agents", "kins"):
        for where, row in _rows(said.get(key), key, draft):
            name = draft.words(row.get("slug") or row.get("name"), f"{where}.name")
            if not name:
                draft.note(where, "The agent was left out: it has no name.")
                continue
            own = draft.own_name(name, agents, where)
            agents[own] = _agent(where, row, boxes, draft)
    rest = [key for key in said if key not in {"toolboxes", "agents", "kins"}]
    draft.left_out(said, rest, "", "Only toolboxes and agents are taken over.")
    return {"toolboxes": boxes.made, "agents": agents}


def _rows(value: Foreign, key: str, draft: Draft) -> Iterable[tuple[str, dict[str, Foreign]]]:
    """The rows of a list, or of a mapping by name."""
    if isinstance(value, dict):
        named = draft.mapping(value, key).items()
        value = [
            {"name": name, **part} if isinstance(part, dict) else {"name": name, "tools": part} for name, part in named
        ]
    rows = draft.items(value, key)
    return [(f"{key}[{i}]", draft.mapping(row, f"{key}[{i}]")) for i, row in enumerate(rows)]


def _first(row: Mapping[str, Foreign], *keys: str) -> Foreign:
    """A value under one of its spellings. A list may be kept as JSON text, as the database does."""
    value = next((row[key] for key in keys if row.get(key) is not None), None)
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


class _Boxes:
    """The toolboxes that were read, and what their ids and names are called here."""

    def __init__(self, draft: Draft, base: Grants) -> None:
        self.draft = draft
        self.builtin = {name.lower(): name for name, box in base.toolboxes.items() if box.builtin}
        self.made: dict[str, Foreign] = {}
        self.called = dict(self.builtin)

    def read(self, rows: Iterable[tuple[str, dict[str, Foreign]]]) -> None:
        """Read the rows of the list."""
        skipped: list[str] = []
        for where, row in rows:
            name = self.draft.words(row.get("name"), f"{where}.name").strip()
            if not name:
                self.draft.note(where, "The toolbox was left out: it has no name.")
                continue
            own = self.builtin.get(name.lower()) if _first(row, "builtin", "isBuiltin", "is_builtin") else None
            if own:
                skipped.append(own)
            else:
                own = self._box(where, name, row)
            for known in (row.get("id"), name):
                if isinstance(known, str | int):
                    self.called[str(known).lower()] = own
        if skipped:
            self.draft.note("toolboxes", f"Built in here too, so not taken over: {', '.join(skipped)}.")

    def _box(self, where: str, name: str, row: Mapping[str, Foreign]) -> str:
        own = self.draft.own_name(name, (*self.made, *self.builtin.values()), where)
        names = self.draft.names(_first(row, "toolNames", "tool_names", "tools"), f"{where}.toolNames") or []
        listed = self.draft.ours(names, f"{where}.toolNames", {}, _LOSS)
        description = self.draft.words(row.get("description"), f"{where}.description")
        self.made[own] = ({"description": description} if description else {}) | {"tools": listed}
        return own


def _agent(where: str, row: Mapping[str, Foreign], boxes: _Boxes, draft: Draft) -> dict[str, Foreign]:
    wanted = draft.names(_first(row, "toolboxIds", "toolbox_ids", "toolboxes"), f"{where}.toolboxIds") or []
    if lost := [name for name in wanted if name.lower() not in boxes.called]:
        draft.note(f"{where}.toolboxIds", f"Left out, for there is no such toolbox: {', '.join(lost)}.")
    held = dict.fromkeys(boxes.called[name.lower()] for name in wanted if name.lower() in boxes.called)
    extra = draft.names(_first(row, "extraToolNames", "extra_tool_names"), f"{where}.extraToolNames") or []
    own = draft.ours(extra, f"{where}.extraToolNames", {}, _LOSS)
    role = draft.words(row.get("role") or row.get("description"), f"{where}.role")
    made = {"description": role, "toolboxes": list(held), "tools": own}
    return {key: value for key, value in made.items() if value}
