"""Tavily."""

import msgspec

from toolcrib.providers.search import reply
from toolcrib.services.http import Http, Outgoing
from toolcrib.services.web import Hit, Provider, Query

URL = "https://api.tavily.com/search"


class Tavily:
    """Asks Tavily with a key."""

    def __init__(self, provider: Provider, http: Http) -> None:
        self._http = http
        self._url = provider.url or URL
        self._private = reply.opened(provider.url)
        self._headers = (("Authorization", f"Bearer {provider.key}"), ("Content-Type", "application/json"))

    async def search(self, query: Query) -> list[Hit]:
        words: dict[str, object] = {"query": query.text, "max_results": query.count}
        if query.freshness:
            words["time_range"] = query.freshness.value
        if query.include:
            words["include_domains"] = query.include
        if query.exclude:
            words["exclude_domains"] = query.exclude
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
        return [reply.hit(row, "url", "content", "published_date") for row in reply.rows(found, "results")]
