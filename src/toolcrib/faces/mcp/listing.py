"""What a client sees of a view: its tools under the names that it knows them by, as bytes that are made once."""

from collections.abc import Iterable
from functools import cached_property
from weakref import WeakKeyDictionary

from mcp.shared.inbound import x_mcp_header_map

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import UnknownTool
from toolcrib.core.resolver import View
from toolcrib.core.tool import Tool
from toolcrib.faces.mcp.wire import encode
from toolcrib.services.mcp.downstream import INVALID_PARAMS, McpFault
from toolcrib.services.schemas import mcp as as_mcp
from toolcrib.sources.mcp import definition_of, pin_of

PAGE = 1000
FRESH = 1000  # milliseconds for which a stateless client may believe a list
CALL, FIND = "call_tool", "search_tools"
CALL_THROUGH: JsonObject = {
    "name": CALL,
    "title": "Call a tool",
    "description": "Call a tool that search_tools has found and that is not in your list. "
    "The arguments are those of its schema, which the search shows.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The tool's name"},
            "arguments": {"type": "object", "description": "Its arguments"},
        },
        "required": ["name"],
    },
}


class Shown:
    """One view as one kind of client sees it. `alone` shows one server's tools under its own names."""

    def __init__(self, view: View, alone: str) -> None:
        self._view = view
        self._alone = alone
        self._pages: dict[tuple[bool, int], bytes] = {}
        self._headers: dict[str, bool] = {}

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """What is listed."""
        if not self._alone:
            return self._view.shown
        return tuple(tool for tool in self._view if tool.source == "mcp" and tool.origin == self._alone)

    @cached_property
    def servers(self) -> tuple[str, ...]:
        """The servers that the caller holds something of."""
        held = dict.fromkeys(tool.origin for tool in self._view if tool.source == "mcp")
        return tuple(name for name in held if self._alone in {"", name})

    @cached_property
    def own(self) -> dict[str, str]:
        """Where one server stands alone: its names, and what they are called here."""
        return {_own_name(tool): tool.name for tool in self.tools} if self._alone else {}

    @cached_property
    def calls_through(self) -> bool:
        """Whether there is a tool to call what is not listed."""
        return not self._alone and bool(self._view.deferred) and CALL not in self._view

    def name(self, said: str) -> str:
        """The name here of what a client calls. Raises UnknownTool where one server stands alone and has no such."""
        if not self._alone:
            return said
        known = self.own.get(said)
        if known is None:
            raise UnknownTool(f"{self._alone} has no tool {said!r} that you hold.")
        return known

    def page(self, cursor: object, *, modern: bool) -> bytes:
        """The result of tools/list."""
        start = _start(cursor, len(self.tools))
        made = self._pages.get((modern, start))
        if made is None:
            made = self._pages[modern, start] = self._made(start, modern=modern)
        return made

    def _made(self, start: int, *, modern: bool) -> bytes:
        listed = [_told(tool, alone=bool(self._alone)) for tool in self.tools[start : start + PAGE]]
        if start + PAGE >= len(self.tools) and self.calls_through:
            listed.append(CALL_THROUGH)
        result: JsonObject = {"tools": listed}
        if start + PAGE < len(self.tools):
            result["nextCursor"] = str(start + PAGE)
        return encode(cacheable(result) if modern else result)

    def mirrored(self, said: str) -> JsonObject | None:
        """The schema of a tool some of whose arguments also stand in headers; None for all others."""
        i = self._view.registry.index(self.own.get(said, said))
        if i is None or not self._view.issued >> i & 1:
            return None
        tool = self._view.registry.tools[i]
        if tool.source != "mcp":
            return None
        known = self._headers.get(said)
        if known is None:
            known = self._headers[said] = bool(x_mcp_header_map(tool.schema))
        return tool.schema if known else None


def cacheable(result: JsonObject) -> JsonObject:
    """A list for a stateless client: complete, its own, and true for a moment."""
    return {"resultType": "complete", "ttlMs": FRESH, "cacheScope": "private", **result}


def page_of(entries: Iterable[JsonObject], key: str, cursor: object) -> JsonObject:
    """One page of a list."""
    whole = list(entries)
    start = _start(cursor, len(whole))
    result: JsonObject = {key: whole[start : start + PAGE]}
    if start + PAGE < len(whole):
        result["nextCursor"] = str(start + PAGE)
    return result


class Shelf:
    """What is shown of each view, as long as the view is there."""

    def __init__(self) -> None:
        self._shown: WeakKeyDictionary[View, dict[str, Shown]] = WeakKeyDictionary()

    def of(self, view: View, alone: str) -> Shown:
        """What a client of this kind sees."""
        known = self._shown.get(view)
        if known is None:
            known = self._shown[view] = {}
        shown = known.get(alone)
        if shown is None:
            shown = known[alone] = Shown(view, alone)
        return shown


def _start(cursor: object, size: int) -> int:
    if cursor is None:
        return 0
    if isinstance(cursor, str):
        start = next((at for at in range(0, max(size, 1), PAGE) if str(at) == cursor), None)
        if start is not None:
            return start
    raise McpFault(INVALID_PARAMS, "There is no such page: begin again without a cursor.")


def _own_name(tool: Tool) -> str:
    pin = pin_of(tool)
    return pin.tool if pin is not None else tool.name


def _told(tool: Tool, *, alone: bool) -> JsonObject:
    definition = definition_of(tool)
    if definition is None:
        return as_mcp(tool)
    return definition if alone else {**definition, "name": tool.name}
