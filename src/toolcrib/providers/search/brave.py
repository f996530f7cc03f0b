"""Brave Search."""

from toolcrib.providers.search import reply
from toolcrib.services.http import Http, Outgoing
from toolcrib.services.web import Freshness, Hit, Provider, Query

URL = "https://api.search.brave.com/res/v1/web/search"
_FRESH = {Freshness.DAY: "pd", Freshness.WEEK: "pw", Freshness.MONTH: "pm", Freshness.YEAR: "py"}


class Brave:
    """Asks Brave's web search with a subscription key."""

    def __init__(self, provider: Provider, http: Http) -> None:
        self._http = http
        self._url = provider.url or URL
        self._private = reply.opened(provider.url)
        self._headers = (("X-Subscription-Token", provider.key), ("Accept", "application/json"))

    async def search(self, query: Query) -> list[Hit]:
        words = {
            "q": reply.with_sites(query),
            "count": str(query.count),
            "freshness": _FRESH[query.freshness] if query.freshness else "",
            "search_lang": query.lang,
            "text_decorations": "false",
        }
        url = f"{self._url}?{reply.percent(words)}"
        found = await reply.ask(
            self._http,
            Outgoing(
                url=url,
                headers=self._headers,
                private=self._private,
                seconds=reply.SECONDS,
                limit=reply.BYTES,
            ),
        )
        return [reply.hit(row, "url", "description", "age") for row in reply.rows(found, "web", "results")]
