"""Looking through the catalogue."""

from collections.abc import Sequence
from itertools import groupby
from typing import Annotated, Literal

from annotated_types import Interval, Len, MaxLen

from toolcrib.core.call import Caller, Result
from toolcrib.core.resolver import View
from toolcrib.core.tool import Effect
from toolcrib.services.finding.catalogue import Catalogue, Listed, Search
from toolcrib.tools.discovery.family import family


@family.tool(Effect.READ, parallel=True)
async def list_tools(
    catalogue: Catalogue,
    view: View,
    *,
    query: Annotated[str, MaxLen(400), "Words to look for; empty lists everything"] = "",
    domain: Annotated[str, MaxLen(64), "Only this domain, such as files"] = "",
    source: Annotated[Literal["native", "custom", "mcp", "plugin"] | None, "Only this source"] = None,
) -> Result:
    """List every tool there is, whether you hold it or not.

    A name marked + is yours, one marked ~ is planned and not there yet.
    """
    found = catalogue.list(view, query, domain=domain, source=source or "")
    if not found:
        return Result(text="No tool fits. Leave out a filter, or try other words.", structured={"tools": []})
    narrow = bool(query.strip() or domain)
    text = _one_by_one(found) if narrow else _by_domain(found)
    return Result(text=text, structured={"tools": found})


@family.tool(Effect.READ, parallel=True, aliases=("mcp_tool_search",))
async def search_tools(
    catalogue: Catalogue,
    view: View,
    me: Caller,
    *,
    query: Annotated[str, Len(1, 400), "What you want to do, in a few words, or a tool's name"],
    limit: Annotated[int, Interval(ge=1, le=20), "How many tools at most"] = 5,
) -> Result:
    """Find the tools that can do something. Use it when no tool you see fits.

    Tools you hold that were not in your prompt come into it with your next request.
    """
    found = catalogue.search(view, query, limit, session=me.session)
    return Result(text=_found(found), structured=found)


def _by_domain(tools: Sequence[Listed]) -> str:
    groups = groupby(tools, lambda tool: tool.domain)
    return "\n".join(f"{domain}: {', '.join(_marked(tool) for tool in group)}" for domain, group in groups)


def _one_by_one(tools: Sequence[Listed]) -> str:
    return "\n".join(f"{_marked(tool)} ({tool.domain}): {tool.about}" for tool in tools)


def _marked(tool: Listed) -> str:
    sign = "+" if tool.held else "" if tool.built else "~"
    return f"{sign}{tool.name}"


def _found(found: Search) -> str:
    lines = [f"{tool.name}: {tool.about}" for tool in found.tools] or ["You hold no tool that fits."]
    if found.next_request:
        lines.append(f"From your next request on you see: {', '.join(found.next_request)}.")
    if found.others:
        lines.append("You do not hold, but can get:")
        lines.extend(f"{other.name}: {other.about} With {other.how}" for other in found.others)
    return "\n".join(lines)
