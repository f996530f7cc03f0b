"""Searching: web_search."""

from typing import Annotated

from annotated_types import Ge, Le, Len, MaxLen

from toolcrib.core.call import Caller, Result
from toolcrib.core.tool import Effect, Flow
from toolcrib.safety.fence import clean, fence, plain
from toolcrib.services.web import CONDITION, Found, Freshness, Hit, Query, WebSearch
from toolcrib.tools.web.family import family

Domains = Annotated[list[Annotated[str, Len(1, 253)]], MaxLen(20)]


@family.tool(Effect.READ, parallel=True, flow=(Flow.UNTRUSTED, Flow.SENDS), seconds=90, condition=CONDITION)
async def web_search(
    search: WebSearch,
    me: Caller,
    *,
    query: Annotated[str, Len(1, 400), "What to look for"],
    count: Annotated[int, Ge(1), Le(20), "How many results"] = 5,
    freshness: Annotated[Freshness | None, "Only pages of the last day, week, month or year"] = None,
    include_domains: Annotated[Domains, "Only these domains"] | None = None,
    exclude_domains: Annotated[Domains, "Not these domains"] | None = None,
    lang: Annotated[str, MaxLen(10), "Language of the pages, such as en or de"] = "",
    provider_slug: Annotated[str, MaxLen(64), "A search provider by name; the agent's own unless given"] = "",
) -> Result:
    """Search the web. Gives titles, addresses and snippets; browse_url reads a page."""
    asked = Query(
        text=query,
        count=count,
        freshness=freshness,
        include=tuple(include_domains or ()),
        exclude=tuple(exclude_domains or ()),
        lang=lang,
    )
    found = await search.search(asked, me, provider_slug)
    hits = [
        Hit(title=clean(hit.title), url=clean(hit.url), snippet=clean(hit.snippet), date=clean(hit.date))
        for hit in found.hits
    ]
    return Result(text=_told(found), structured={"provider": found.provider, "untrusted": True, "results": hits})


def _told(found: Found) -> str:
    notes = "".join(f"[{plain(note, 300)}]\n" for note in found.notes)
    if not found.hits:
        return f"{notes}{found.provider} found nothing. Try other words."
    entries: list[str] = []
    for number, hit in enumerate(found.hits, 1):
        date = f" ({plain(hit.date, 40)})" if hit.date else ""
        snippet = f"\n   {plain(hit.snippet, 600)}" if hit.snippet else ""
        entries.append(f"{number}. {plain(hit.title, 200)}{date}\n   {plain(hit.url, 2000)}{snippet}")
    return f"{notes}{fence(chr(10).join(entries), f'web search by {found.provider}')}"
