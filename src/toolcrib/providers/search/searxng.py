"""SearXNG: a search engine that people run themselves."""

from toolcrib.providers.search import reply
from toolcrib.services.http import Http, Outgoing
from toolcrib.services.web import Hit, Provider, Query


class SearXng:
    """Asks a SearXNG server. It has to allow the JSON format in its settings."""

    def __init__(self, provider: Provider, http: Http) -> None:
        self._http = http
        self._url = provider.url.rstrip("/").removesuffix("/search")
        self._private = reply.opened(self._url)
        self._headers = (("Authorization", f"Bearer {provider.key}"),) if provider.key else ()

    async def search(self, query: Query) -> list[Hit]:
        words = {
            "q": reply.with_sites(query),
            "format": "json",
            "time_range": query.freshness or "",
            "language": query.lang,
        }
        found = await reply.ask(
            self._http,
            Outgoing(
                url=f"{self._url}/search?{reply.percent(words)}",
                headers=self._headers,
                private=self._private,
                seconds=reply.SECONDS,
                limit=reply.BYTES,
            ),
            forbidden="it gives no JSON; allow that under search.formats in its settings",
        )
        return [reply.hit(row, "url", "content", "publishedDate") for row in reply.rows(found, "results")]
