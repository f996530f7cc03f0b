"""What tools cost a prompt, and which of them are shown when not all of them fit.

A tool that is not shown is deferred: held and callable, and brought into the prompt by `search_tools`.
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool

CHARACTERS_A_TOKEN = 4  # the usual rule of thumb; exact counts differ by model


class Budget(Struct, frozen=True):
    """How many tools, and how many prompt tokens of tools, a model is shown. None is no limit."""

    tools: int | None = None
    tokens: int | None = None

    def __bool__(self) -> bool:
        return self.tools is not None or self.tokens is not None


def tokens(tool: Tool) -> int:
    """About how many prompt tokens a tool costs in each request."""
    text = msgspec.json.encode({"name": tool.name, "description": tool.about, "parameters": tool.schema})
    return -(-len(text) // CHARACTERS_A_TOKEN)


def shown(registry: Registry, issued: int, first: tuple[int, ...], budget: Budget) -> Iterator[Tool]:
    """The tools that fit: those of `first` before the others, each in the order of names; given back in that order."""
    kept: set[str] = set()
    left_tools, left_tokens = budget.tools, budget.tokens
    rest = issued
    for mask in (*first, issued):
        for tool in registry.tools_of(rest & mask):
            cost = 0 if left_tokens is None else tokens(tool)
            if (left_tools is not None and left_tools < 1) or (left_tokens is not None and cost > left_tokens):
                continue
            kept.add(tool.name)
            left_tools = None if left_tools is None else left_tools - 1
            left_tokens = None if left_tokens is None else left_tokens - cost
        rest &= ~mask
    return (tool for tool in registry.tools_of(issued) if tool.name in kept)
