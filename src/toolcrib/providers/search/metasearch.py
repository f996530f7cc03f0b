"""ddgs: several engines without a key, by a library that reads their pages. It breaks often, so it comes last.

The library has a client of its own: what is asked goes to search engines only, but not through ours.
"""

from typing import Any

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.providers.search import reply
from toolcrib.services.http import Http
from toolcrib.services.web import Freshness, Hit, Provider, Query

_FRESH = {Freshness.DAY: "d", Freshness.WEEK: "w", Freshness.MONTH: "m", Freshness.YEAR: "y"}


class Ddgs:
    """Asks through the ddgs library, where it is installed."""

    def __init__(self, provider: Provider, http: Http) -> None:
        pass

    async def search(self, query: Query) -> list[Hit]:
        try:
            library: Any = heavy("ddgs", extra="search")
        except ModuleNotFoundError as error:
            raise ToolFailed(str(error), code="search_failed") from None
        fresh = _FRESH[query.freshness] if query.freshness else None

        def ask() -> list[dict[str, Any]]:
            client = library.DDGS(timeout=int(reply.SECONDS))
            return list(client.text(reply.with_sites(query), max_results=query.count, timelimit=fresh))

        try:
            found = await heavy("asyncio").to_thread(ask)
        except heavy("ddgs.exceptions").DDGSException as error:
            raise ToolFailed(f"it found no way: {type(error).__name__}", code="search_failed") from None
        return [reply.hit(row, "href", "body") for row in found]
