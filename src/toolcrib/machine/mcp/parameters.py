"""Arguments that a server of the stateless era wants to see as headers too (`x-mcp-header` in a tool's schema)."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.heavy import heavy
from toolcrib.machine.mcp.log import Log

_KEY = b'"x-mcp-header"'
_encode = msgspec.json.encode


class Parameters:
    """Which arguments of which tools go into which headers."""

    def __init__(self) -> None:
        self._maps: dict[str, Any] = {}
        self.stale = False  # the server said that it lists its tools differently by now

    def __bool__(self) -> bool:
        return bool(self._maps)

    def learn(self, tools: list[JsonObject], log: Log) -> list[JsonObject]:
        """Take up a list of tools; without those that the protocol says to leave out."""
        kept: list[JsonObject] = []
        for tool in tools:
            schema = tool.get("inputSchema")
            if _KEY not in _encode(schema):
                kept.append(tool)
                continue
            rules = heavy("mcp.shared.inbound")
            if why := rules.find_invalid_x_mcp_header(schema):
                log.say(f"[toolcrib] the tool {tool.get('name')} was left out: {why}")
                continue
            self._maps[str(tool.get("name"))] = rules.x_mcp_header_map(schema)
            kept.append(tool)
        return kept

    def of(self, tool: str, arguments: object) -> Mapping[str, str]:
        """The headers of a call."""
        known = self._maps.get(tool)
        if not known or not isinstance(arguments, dict):
            return {}
        headers: Mapping[str, str] = heavy("mcp.shared.inbound").mcp_param_headers(known, cast("JsonObject", arguments))
        return headers


def header_value(text: str) -> str:
    """A name as the value of a header, wrapped where it would not come through as it is."""
    if text.isascii() and text.isprintable() and text == text.strip() and not text.startswith("=?"):
        return text
    wrapped: str = heavy("mcp.shared.inbound").encode_header_value(text)
    return wrapped
