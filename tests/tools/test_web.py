"""The web tools through a whole crib: what their cases cannot show."""

import asyncio
import json
import sys
from collections.abc import Sequence

import pytest

from tests.machine.webserver import Server, answer, serving
from toolcrib import Crib, __version__
from toolcrib.core.errors import BadConfig
from toolcrib.machine.http.names import Lookups, look_up
from toolcrib.services.config.reading import read_config
from toolcrib.services.http import Http, Outgoing

ARTICLE = (
    "<html><head><title>Cribs</title></head><body><div class=menu><ul><li><a href=/m>Menu</a></ul></div><article><h1>Cribs"
    "</h1>" + "".join(f"<p>Paragraph {i} says something about <a href=/p{i}>tools</a> and where they are kept.</p>" for i in range(9))
    + "</article><footer>Foot</footer></body></html>"
)  # fmt: skip


def crib(*servers: Server, **config: object) -> Crib:
    network = {"allow_private": [f"127.0.0.1:{server.port}" for server in servers]}
    text = json.dumps({"agents": {"ada": {"toolboxes": ["all"]}}, "network": network, **config})
    return Crib(config=read_config(text, env={}), native=True)


@pytest.mark.parametrize("installed", [True, False])
async def test_a_page_is_read_with_trafilatura_and_without(installed: bool, monkeypatch: pytest.MonkeyPatch):
    if installed:
        pytest.importorskip("trafilatura")
    else:
        monkeypatch.setitem(sys.modules, "trafilatura", None)
    async with serving(answer(ARTICLE, Content_Type="text/html")) as server, crib(server) as mine:
        outcome = await mine.call("browse_url", {"url": server.url()}, agent="ada")
    assert outcome.error is None
    assert "# Cribs" in outcome.text
    assert "Paragraph 8 says something about [tools](http" in outcome.text
    assert "Foot" not in outcome.text
    assert outcome.text.count("<untrusted id=") == 1


async def test_what_a_page_says_is_scrubbed_like_every_other_result():
    token = "ghp_" + "a1B2" * 9
    async with serving(answer(f"<p>{token}</p>", Content_Type="text/html")) as server, crib(server) as mine:
        outcome = await mine.call("browse_url", {"url": server.url()}, agent="ada")
    assert token not in outcome.text
    assert "[REDACTED" in outcome.text


@pytest.mark.meets("browse-url:untrusted")
async def test_every_piece_of_a_long_page_is_fenced():
    page = "<p>" + "words of a stranger " * 5000
    async with serving(answer(page, Content_Type="text/html")) as server, crib(server) as mine:
        first = await mine.call("browse_url", {"url": server.url()}, agent="ada", session="s")
        assert first.text.count("untrusted id=") == 2
        assert "left out here" in first.text
        piece = await mine.call("read_result", {"id": first.id, "offset": 30_000}, agent="ada", session="s")
    lines = piece.text.splitlines()
    assert lines[0].startswith('<untrusted id="')
    assert f'from="result {first.id}"' in lines[0]
    assert sum("untrusted id=" in line for line in lines) == 2
    assert lines[-1].startswith("[Characters 30,000 to 38,000 of")


@pytest.mark.meets("http-request:limits")
async def test_a_body_is_read_to_a_megabyte_and_a_longer_one_is_not_sent():
    async with serving(answer(b"x" * 1_500_000)) as server, crib(server) as mine:
        outcome = await mine.call("http_request", {"url": server.url()}, agent="ada")
        assert "The body is longer than 1,048,576 bytes and is cut there." in outcome.text
        long = {"url": server.url(), "method": "POST", "body": "x" * 1_000_001}
        refused = await mine.call("http_request", long, agent="ada")
    assert refused.error is not None
    assert refused.error.code == "invalid_args"
    assert len(server.asked) == 1


async def test_the_client_says_who_it_is_and_nothing_about_the_machine():
    async with serving(answer("ok")) as server, crib(server) as mine:
        await mine.call("http_request", {"url": server.url()}, agent="ada")
    assert server.asked[0].headers == {
        "host": f"127.0.0.1:{server.port}",
        "user-agent": f"toolcrib/{__version__}",
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
    }


async def test_a_crib_that_is_closed_lets_go_of_its_connections():
    gone = asyncio.Event()

    class Watching(Server):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await super().serve(reader, writer)
            gone.set()

    watching = Watching(lambda _: answer("ok"))
    listening = await asyncio.start_server(watching.serve, "127.0.0.1", 0)
    watching.port = listening.sockets[0].getsockname()[1]
    mine = crib(watching)
    assert (await mine.call("http_request", {"url": watching.url()}, agent="ada")).error is None
    assert not gone.is_set()
    await mine.close()
    async with asyncio.timeout(5):
        await gone.wait()
    listening.close()


def test_one_crib_serves_one_event_loop_after_the_other():
    async def whole() -> None:
        async with serving(answer("ok")) as server:
            mine = crib(server)
            assert (await mine.call("http_request", {"url": server.url()}, agent="ada")).error is None
            await mine.close()

    asyncio.run(whole())
    asyncio.run(whole())


@pytest.mark.meets("net:config:lines")
def test_every_wrong_entry_is_refused_at_once():
    text = "network:\n  allow: [a b]\n  allow_private: [10.0.0.0/99]\nsearch:\n  providers: [{kind: brave}]\n"
    with pytest.raises(BadConfig) as caught:
        Crib(config=read_config(text, env={}), native=True)
    assert [(problem.line, problem.where) for problem in caught.value.problems] == [
        (2, "network.allow[0]"),
        (3, "network.allow_private[0]"),
        (5, "search.providers[0].key"),
    ]


async def test_a_tool_of_ones_own_asks_through_the_guarded_client_only():
    mine = Crib(native=True, agents={"ada": ["all"]})
    http = mine.services[Http]
    with pytest.raises(Exception, match="not public: this machine"):
        await http.send(Outgoing(url="http://127.0.0.1:9/"))  # pyright: ignore[reportAttributeAccessIssue] - a service by its type
    await mine.close()


async def test_names_are_looked_up_in_threads_of_their_own():
    lookups = Lookups()
    found: Sequence[Sequence[str]] = await asyncio.gather(*(lookups("localhost") for _ in range(40)))
    assert all(set(answers) <= {"127.0.0.1", "::1"} for answers in found)
    assert found[0]
    lookups.close()


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 70 + ".example", "x\x00y", "\u00fc" * 300])
def test_a_name_that_leads_nowhere_has_no_address(host: str):
    assert look_up(host) == ()
