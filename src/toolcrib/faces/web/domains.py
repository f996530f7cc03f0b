"""What a tool's domain is called, and how it is drawn."""

from collections.abc import Mapping
from functools import cache

from toolcrib.sources.native import families

ICONS = {"mcp": "plug", "own": "wrench", "custom": "wrench", "plugin": "package"}


@cache
def _known() -> Mapping[str, tuple[str, str]]:
    return {family.name: (family.label, family.icon) for family in families()}


def label(domain: str) -> str:
    """Its words."""
    if domain == "mcp":
        return "MCP servers"
    return _known()[domain][0] if domain in _known() else domain.replace("_", " ").replace("-", " ").capitalize()


def sign(domain: str) -> str:
    """Its icon."""
    return _known()[domain][1] if domain in _known() else ICONS.get(domain.partition(":")[0], "wrench")
