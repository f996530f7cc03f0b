"""Serper, which asks Google."""

import msgspec

from toolcrib.providers.search import reply
from toolcrib.services.http import Http, Outgoing
from toolcrib.services.web import Freshness, Hit, Provider, Query

URL = "https://google.serper.dev/search"
_FRESH = {Freshness.DAY: "qdr:d", Freshness.WEEK: "qdr:w", Freshness.MONTH: "qdr:m", Freshness.YEAR: "qdr:y"}


class Serper:
    """Asks Serper with a key."""

    def __init__(self, provider: Provider, http: Http) -> None:
        self._http = http
        self._url = provider.url or URL
        self._private = reply.opened(provider.url)
        self._headers = (("X-API-KEY", provider.key), ("Content-Type", "application/json"))

    async def search(self, query: Query) -> list[Hit]:
        words: dict[str, object] = {"q": reply.with_sites(query), "num": query.count}
        if query.freshness:
            words["tbs"] = _FRESH[query.freshness]
        if query.lang:
            words["hl"] = query.lang
        found = await reply.ask(
            self._http,
            Outgoing(
                url=self._url,
                method="POST",
                headers=self._headers,
                body=msgspec.json.encode(words),
                private=self._private,
                seconds=reply.SECONDS,
                limit=reply.BYTES,
            ),
        )
        return [reply.hit(row, "link", "snippet", "date") for row in reply.rows(found, "organic")]
