"""Web search with every provider: real requests to servers on loopback that answer in the provider's own form."""

import json
import sys
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.machine.webserver import Asked, answer, redirect, serving
from toolcrib.app import Crib
from toolcrib.core.call import Caller
from toolcrib.core.errors import BadConfig, ToolFailed
from toolcrib.machine.http import LocalHttp
from toolcrib.providers.search.chain import Chain
from toolcrib.services.config.reading import read_config
from toolcrib.services.record.audit import Query as Records
from toolcrib.services.web import Found, Freshness, Provider, Query, SearchRules

ME = Caller(agent="ada")
KEY = "melon-lamp-quartz-9Z"
ASKED = Query(text="crib tools", count=2, freshness=Freshness.WEEK, lang="de")
SEARXNG = {
    "query": "crib tools",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://one.example/a",
            "title": "One",
            "content": "First words",
            "publishedDate": "2026-01-02T00:00:00",
            "thumbnail": None,
            "engine": "google",
            "parsed_url": ["https", "one.example", "/a", "", "", ""],
            "engines": ["google"],
            "positions": [1],
            "score": 1.0,
            "category": "general",
        },
        {"url": "https://two.example/", "title": "Two", "content": None, "publishedDate": None, "engine": "brave"},
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": ["tool crib"],
    "unresponsive_engines": [["duckduckgo", "CAPTCHA"]],
}
BRAVE = {
    "type": "search",
    "query": {"original": "crib tools", "more_results_available": True},
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}]},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "One",
                "url": "https://one.example/a",
                "is_source_local": False,
                "description": "First words",
                "page_age": "2026-01-02T00:00:00",
                "age": "2026-01-02",
                "language": "en",
                "meta_url": {"scheme": "https", "netloc": "one.example"},
            },
            {"title": "Two", "url": "https://two.example/", "description": ""},
        ],
        "family_friendly": True,
    },
}
TAVILY = {
    "query": "crib tools",
    "follow_up_questions": None,
    "answer": None,
    "images": [],
    "results": [
        {"url": "https://one.example/a", "title": "One", "content": "First words", "score": 0.9,
         "raw_content": None, "published_date": "2026-01-02"},
        {"url": "https://two.example/", "title": "Two", "content": "", "score": 0.4, "raw_content": None},
    ],
    "response_time": 1.1,
}  # fmt: skip
SERPER = {
    "searchParameters": {"q": "crib tools", "type": "search", "num": 2, "engine": "google"},
    "knowledgeGraph": {"title": "Crib"},
    "organic": [
        {
            "title": "One",
            "link": "https://one.example/a",
            "snippet": "First words",
            "date": "2026-01-02",
            "position": 1,
        },
        {"title": "Two", "link": "https://two.example/", "position": 2},
    ],
    "relatedSearches": [{"query": "tool crib"}],
    "credits": 1,
}
FORMS = {"searxng": SEARXNG, "brave": BRAVE, "tavily": TAVILY, "serper": SERPER}


def as_json(value: object, status: str = "200 OK") -> bytes:
    return answer(json.dumps(value), status, Content_Type="application/json")


async def searched(
    *providers: Provider, query: Query = ASKED, caller: Caller = ME, named: str = "", **own: str
) -> Found:
    http = LocalHttp()
    try:
        return await Chain(SearchRules(providers=providers, agents=own), http).search(query, caller, named)
    finally:
        await http.close()


async def failure(*providers: Provider, **more: Any) -> str:
    with pytest.raises(ToolFailed) as caught:
        await searched(*providers, **more)
    return str(caught.value.as_fault().as_json())


def sent(asked: Asked) -> dict[str, Any]:
    """What a provider was asked for, in its address or in its body."""
    if asked.body:
        return json.loads(asked.body)
    return {name: values[0] for name, values in parse_qs(urlsplit(asked.target).query).items()}


@pytest.mark.meets("web-search:providers")
@pytest.mark.parametrize("kind", FORMS)
async def test_each_provider_is_asked_in_its_own_way_and_its_form_is_read(kind: str):
    async with serving(as_json(FORMS[kind])) as server:
        found = await searched(Provider(kind=kind, url=server.url("/api"), key=KEY))
    assert found.provider == kind
    assert [(hit.title, hit.url, hit.snippet) for hit in found.hits] == [
        ("One", "https://one.example/a", "First words"),
        ("Two", "https://two.example/", ""),
    ]
    assert found.hits[0].date.startswith("2026-01-02")
    asked = server.asked[0]
    wanted: dict[str, tuple[str, str, str, dict[str, Any]]] = {
        "searxng": ("GET", "authorization", f"Bearer {KEY}",
                    {"q": "crib tools", "format": "json", "time_range": "week", "language": "de"}),
        "brave": ("GET", "x-subscription-token", KEY,
                  {"q": "crib tools", "count": "2", "freshness": "pw", "search_lang": "de", "text_decorations": "false"}),
        "tavily": ("POST", "authorization", f"Bearer {KEY}",
                   {"query": "crib tools", "max_results": 2, "time_range": "week"}),
        "serper": ("POST", "x-api-key", KEY, {"q": "crib tools", "num": 2, "tbs": "qdr:w", "hl": "de"}),
    }  # fmt: skip
    method, header, key, words = wanted[kind]
    assert (asked.method, asked.headers[header], sent(asked)) == (method, key, words)
    assert KEY not in asked.target
    assert urlsplit(asked.target).path == ("/api/search" if kind == "searxng" else "/api")


@pytest.mark.parametrize("kind", FORMS)
async def test_domains_are_asked_for_and_held_to_whatever_comes_back(kind: str):
    query = Query(text="x", count=5, include=("example",), exclude=("two.example",))
    async with serving(as_json(FORMS[kind])) as server:
        found = await searched(Provider(kind=kind, url=server.url(), key=KEY), query=query)
    assert [hit.url for hit in found.hits] == ["https://one.example/a"]
    said = sent(server.asked[0])
    if kind == "tavily":
        assert (said["include_domains"], said["exclude_domains"]) == (["example"], ["two.example"])
    else:
        assert said["q"] == "x site:example -site:two.example"


async def test_only_so_many_are_given_and_none_twice_and_none_without_a_sound_address():
    rows = [{"url": url, "title": "t"} for url in ("https://a.example/", "https://A.example", "javascript:alert(1)",
                                                   "http://u:p@b.example/", "https://c.example/", "https://d.example/")]  # fmt: skip
    async with serving(as_json({"results": rows})) as server:
        found = await searched(Provider(kind="searxng", url=server.url()))
    assert [hit.url for hit in found.hits] == ["https://a.example/", "https://c.example/"]


@pytest.mark.meets("web-search:fallback")
async def test_the_next_provider_is_asked_when_one_fails_and_the_answer_says_so():
    async with serving(as_json({}, "429 Too Many Requests")) as first, serving(as_json(TAVILY)) as second:
        found = await searched(
            Provider(kind="tavily", url=second.url(), key=KEY), Provider(kind="searxng", url=first.url())
        )
    assert (found.provider, found.notes) == ("tavily", ("searxng failed: it has been asked too often (status 429).",))
    assert len(first.asked) == 1


@pytest.mark.meets("web-search:providers", "web-search:fallback")
async def test_an_agents_own_provider_comes_first_and_a_named_one_alone():
    async with serving(as_json(SEARXNG)) as one, serving(as_json(BRAVE)) as two:
        both = (Provider(kind="searxng", url=one.url()), Provider(kind="brave", slug="b", url=two.url(), key=KEY))
        assert (await searched(*both)).provider == "searxng"
        assert (await searched(*both, ada="b")).provider == "b"
        assert (await searched(*both, caller=Caller(agent="bob"), ada="b")).provider == "searxng"
        assert (await searched(*both, named="b")).provider == "b"
        two.rule = lambda _: as_json({}, "500 Internal Server Error")
        assert (await searched(*both, ada="b")).provider == "searxng"
        assert "it answered with an error (status 500)" in await failure(*both, named="b")


@pytest.mark.meets("web-search:key-hidden")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (as_json({"error": KEY}, "401 Unauthorized"), "its key was refused (status 401)"),
        (as_json({"error": KEY}, "402 Payment Required"), "its credit is used up"),
        (answer(f"no {KEY}"), "it did not answer with JSON"),
        (as_json([KEY]), "its answer has another form"),
        (answer(b"[" * 3_000_000), "it did not answer with JSON"),
        (b"not http\r\n\r\n", "gave no proper answer"),
        (redirect("http://169.254.169.254/"), "was not asked: 169.254.169.254 is not public"),
    ],
)
async def test_a_provider_that_fails_says_why_and_never_its_key(said: bytes, why: str):
    async with serving(said) as server:
        told = await failure(Provider(kind="brave", url=server.url(), key=KEY))
    assert why in told
    assert KEY not in told


async def test_a_searxng_that_gives_no_json_says_what_to_set():
    async with serving(answer("", "403 Forbidden")) as server:
        assert "search.formats in its settings" in await failure(Provider(kind="searxng", url=server.url()))


@pytest.mark.meets("web-search:key-hidden")
async def test_a_key_does_not_follow_a_redirect_to_another_host():
    async with serving(as_json(BRAVE)) as other, serving(lambda _: redirect(other.url("/x"))) as server:
        await failure(Provider(kind="brave", url=server.url(), key=KEY))
    assert other.asked == []  # it stands on another port, which the configuration does not name


@pytest.mark.meets("web-search:key-hidden")
async def test_a_key_that_a_provider_sends_back_shows_neither_in_the_result_nor_in_the_record():
    row = {"title": f"key {KEY}", "url": f"https://one.example/?k={KEY}", "description": KEY}
    async with serving(as_json({"web": {"results": [row]}})) as server:
        text = json.dumps(
            {
                "agents": {"ada": {"toolboxes": ["research"]}},
                "search": {"providers": [{"kind": "brave", "url": server.url(), "key": KEY}]},
            }
        )
        async with Crib(config=read_config(text, env={}), native=True) as crib:
            outcome = await crib.call("web_search", {"query": "x"}, agent="ada")
            assert outcome.error is None
            assert "one.example" in outcome.text
            assert KEY not in outcome.text + repr(outcome)
            page = await crib.store.audit.entries(Records())
            assert KEY not in repr(page)


async def test_without_a_provider_there_is_no_search():
    assert "no web search provider is configured" in await failure()


@pytest.mark.parametrize(
    ("providers", "agents", "what"),
    [
        ((Provider(kind="bing"),), {}, "'bing' is no provider"),
        ((Provider(kind="brave"),), {}, "brave needs a key"),
        ((Provider(kind="brave", key="{{secret:BRAVE}}"),), {}, "Name a variable, such as"),
        ((Provider(kind="brave", key="a\nb"),), {}, "no key has"),
        ((Provider(kind="searxng"),), {}, "needs the address of a server"),
        ((Provider(kind="searxng", url="http://x y/"),), {}, "It is no web address"),
        ((Provider(kind="ddgs"), Provider(kind="ddgs")), {}, "two are called 'ddgs'"),
        ((Provider(kind="ddgs"),), {"ada": "bing"}, "there is no provider 'bing'"),
    ],
)
def test_a_wrong_configuration_is_refused(providers: tuple[Provider, ...], agents: dict[str, str], what: str):
    with pytest.raises(BadConfig) as caught:
        Chain(SearchRules(providers=providers, agents=agents), LocalHttp())
    assert what in str(caught.value)


@pytest.mark.parametrize("name", ["http://x", "a b", "*", ""])
async def test_a_domain_that_is_none_is_refused_before_anybody_is_asked(name: str):
    assert "bad_domain" in await failure(Provider(kind="ddgs"), query=Query(text="x", include=(name,)))


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A library in the place of ddgs; it gives what stands in the list, or raises it."""
    said: list[Any] = []
    ddgs, exceptions = ModuleType("ddgs"), ModuleType("ddgs.exceptions")
    broken = type("DDGSException", (Exception,), {})

    class Client:
        def __init__(self, timeout: int) -> None:
            assert timeout > 0

        def text(self, query: str, *, max_results: int, timelimit: str | None) -> list[dict[str, str]]:
            if not said:
                raise broken(f"no way for {query}")
            said.append((query, max_results, timelimit))
            return said[0]

    vars(ddgs).update(DDGS=Client, exceptions=exceptions)
    vars(exceptions).update(DDGSException=broken)
    monkeypatch.setitem(sys.modules, "ddgs", ddgs)
    monkeypatch.setitem(sys.modules, "ddgs.exceptions", exceptions)
    return said


async def test_ddgs_is_asked_through_its_library_and_comes_last(library: list[Any]):
    library.append([{"title": "One", "href": "https://one.example/", "body": "First words"}])
    async with serving(as_json({}, "503 Service Unavailable")) as server:
        found = await searched(Provider(kind="ddgs"), Provider(kind="searxng", url=server.url()))
    assert (found.provider, len(found.notes)) == ("ddgs", 1)
    assert [(hit.title, hit.url, hit.snippet) for hit in found.hits] == [("One", "https://one.example/", "First words")]
    assert library[1] == ("crib tools", 2, "w")


async def test_ddgs_that_finds_no_way_is_a_coded_error(library: list[Any]):
    assert "ddgs failed: it found no way: DDGSException" in await failure(Provider(kind="ddgs"))


async def test_ddgs_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ddgs", None)
    assert "pip install 'toolcrib[search]'" in await failure(Provider(kind="ddgs"))
