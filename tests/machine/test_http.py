import asyncio
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

import pytest

from tests.machine.webserver import Asked, Server, answer, redirect, serving
from toolcrib.core.call import Caller
from toolcrib.core.errors import BadConfig, RateLimited, ToolError, ToolFailed
from toolcrib.machine.http import LocalHttp, client
from toolcrib.machine.http.pools import POOLS
from toolcrib.services.http import Bucket, Network, Outgoing

ME = Caller(agent="ada")


class Names:
    """A look-up that answers from a list, one row a time, and counts."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(rows) for name, rows in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        rows = self._answers.get(host, [[]])
        return rows.pop(0) if len(rows) > 1 else rows[0]


def opened(*servers: Server, **more: Any) -> Network:
    return Network(allow_private=tuple(f"127.0.0.1:{server.port}" for server in servers), **more)


async def failure(http: LocalHttp, request: Outgoing) -> str:
    with pytest.raises(ToolError) as caught:
        await http.send(request)
    return caught.value.as_fault().code


async def test_a_request_arrives_as_it_was_meant():
    async with serving(answer("hello", X_Own="1")) as server:
        http = LocalHttp(opened(server))
        headers = (("Authorization", "Bearer t"), ("Content-Type", "text/x"))
        came = await http.send(Outgoing(url=server.url("/a?b=c"), method="post", headers=headers, body=b"data"))
        await http.close()
    asked = server.asked[0]
    assert (asked.method, asked.target, asked.body) == ("POST", "/a?b=c", b"data")
    assert asked.headers["host"] == f"127.0.0.1:{server.port}"
    assert asked.headers["authorization"] == "Bearer t"
    assert asked.headers["user-agent"] == "toolcrib"
    assert (came.status, came.body, came.header("x-own"), came.address) == (200, b"hello", "1", "127.0.0.1")


async def test_a_connection_is_kept_for_the_next_request():
    async with serving(answer("hello")) as server:
        http = LocalHttp(opened(server))
        for _ in range(5):
            await http.send(Outgoing(url=server.url()))
        await http.close()
    assert (len(server.asked), server.connections) == (5, 1)


@pytest.mark.meets("net:address:every-spelling")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "[::1]"]
)
async def test_this_machine_is_not_reached_by_any_spelling(host: str):
    async with serving(answer("secret")) as server:
        assert await failure(LocalHttp(), Outgoing(url=server.url(host=host))) == "url_refused"
        assert server.connections == 0


@pytest.mark.meets("net:address:pinned")
async def test_a_name_that_turns_to_this_machine_is_looked_up_once_and_not_reached():
    async with serving(answer("secret")) as server:
        names = Names(turn_example=[["93.184.215.14", "127.0.0.1"]])
        http = LocalHttp(dns=names)
        assert await failure(http, Outgoing(url=server.url(host="turn.example"))) == "url_refused"
        assert (names.asked, server.connections) == (["turn.example"], 0)


@pytest.mark.meets("net:address:pinned")
async def test_what_is_connected_to_is_what_the_one_look_up_gave():
    async with serving(answer("first")) as first:
        names = Names(a_example=[["127.0.0.1"], ["169.254.169.254"]])
        http = LocalHttp(Network(allow_private=("127.0.0.1",)), dns=names)
        came = await http.send(Outgoing(url=first.url(host="a.example")))
        assert (came.address, first.asked[0].headers["host"]) == ("127.0.0.1", f"a.example:{first.port}")
        # The connection is still open; the name leads elsewhere now, and that is judged first.
        assert await failure(http, Outgoing(url=first.url(host="a.example"))) == "url_refused"
        await http.close()
    assert len(first.asked) == 1


@pytest.mark.meets("net:address:pinned")
async def test_a_kept_connection_is_not_used_for_another_address_of_the_same_name():
    async with serving(answer("ok")) as server:
        names = Names(a_example=[["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"]])
        http = LocalHttp(Network(allow_private=("127.0.0.0/8",)), dns=names)
        url = server.url(host="a.example")
        assert (await http.send(Outgoing(url=url))).address == "127.0.0.1"
        assert await failure(http, Outgoing(url=url)) == "not_reachable"  # nobody listens on 127.0.0.2
        assert (await http.send(Outgoing(url=url))).address == "127.0.0.1"
        await http.close()
    assert server.connections == 1


async def test_another_address_of_a_name_is_tried_when_the_first_does_not_connect():
    async with serving(answer("ok")) as server:
        http = LocalHttp(Network(allow_private=("127.0.0.0/8",)), dns=Names(a_example=[["127.0.0.9", "127.0.0.1"]]))
        assert (await http.send(Outgoing(url=server.url(host="a.example")))).address == "127.0.0.1"
        await http.close()


async def test_an_address_that_never_answers_does_not_use_up_the_time_of_the_next(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client, "_NEXT_SECONDS", 0.2)
    async with serving(answer("ok")) as server:
        with closing(socket.socket()) as deaf, ExitStack() as waiting:
            deaf.bind(("127.0.0.9", server.port))
            deaf.listen(0)
            for _ in range(4):  # they fill the queue, and whoever comes after them waits
                one = waiting.enter_context(closing(socket.socket()))
                one.setblocking(False)
                one.connect_ex(("127.0.0.9", server.port))
            http = LocalHttp(Network(allow_private=("127.0.0.0/8",)), dns=Names(a_example=[["127.0.0.9", "127.0.0.1"]]))
            began = time.monotonic()
            came = await http.send(Outgoing(url=server.url(host="a.example")))
            assert (came.body, came.address) == (b"ok", "127.0.0.1")
            assert 0.1 < time.monotonic() - began < 5
            await http.close()


@pytest.mark.meets("net:redirect:each-hop")
@pytest.mark.parametrize(
    "to", ["http://169.254.169.254/latest", "//localhost/", "http://0x7f000001/", "file:///etc/passwd"]
)
async def test_a_redirect_does_not_lead_inside(to: str):
    async with serving(redirect(to)) as server:
        http = LocalHttp(opened(server))
        assert await failure(http, Outgoing(url=server.url())) == "url_refused"
        await http.close()


@pytest.mark.meets("net:redirect:each-hop")
async def test_credentials_and_bodies_stay_with_the_host_they_were_given_for():
    async with serving(answer("there")) as other, serving(lambda _: redirect(other.url("/x"))) as server:
        http = LocalHttp(opened(server, other))
        headers = (("Authorization", "Bearer t"), ("Cookie", "a=b"), ("X-Api-Key", "k"), ("Accept", "text/plain"))
        came = await http.send(Outgoing(url=server.url(), headers=headers))
        await http.close()
    assert (came.body, came.url, came.hops) == (b"there", other.url("/x"), ("127.0.0.1",))
    assert set(other.asked[0].headers) == {"host", "user-agent", "accept", "accept-encoding"}


@pytest.mark.meets("net:redirect:each-hop")
async def test_a_redirect_on_the_same_host_keeps_them():
    async with serving(lambda asked: redirect("/b") if asked.target == "/" else answer("there")) as server:
        http = LocalHttp(opened(server))
        await http.send(Outgoing(url=server.url(), headers=(("Authorization", "Bearer t"),)))
        await http.close()
    assert server.asked[1].headers["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    ("status", "method", "after"),
    [
        ("301 Moved", "POST", ("GET", b"")),
        ("302 Found", "PUT", ("PUT", b"data")),
        ("303 See Other", "PUT", ("GET", b"")),
        ("307 Temporary", "POST", ("POST", b"data")),
        ("308 Permanent", "PATCH", ("PATCH", b"data")),
        ("303 See Other", "HEAD", ("HEAD", b"")),
    ],
)
async def test_a_redirect_changes_the_method_as_the_protocol_has_it(status: str, method: str, after: tuple[str, bytes]):
    async with serving(lambda asked: redirect("/b", status) if asked.target == "/" else answer("")) as server:
        http = LocalHttp(opened(server))
        await http.send(Outgoing(url=server.url(), method=method, body=b"" if method == "HEAD" else b"data"))
        await http.close()
    assert (server.asked[1].method, server.asked[1].body) == after
    assert ("content-length" in server.asked[1].headers) == (after[0] not in {"GET", "HEAD"})


async def test_a_body_is_not_sent_on_to_another_host():
    async with serving(answer("there")) as other, serving(lambda _: redirect(other.url(), "307 Temporary")) as server:
        http = LocalHttp(opened(server, other))
        came = await http.send(Outgoing(url=server.url(), method="POST", body=b"data"))
        await http.close()
    assert (came.status, other.asked) == (307, [])
    assert came.note == "The redirect to 127.0.0.1 was not followed: POST is not sent on to another host."


async def test_redirects_in_a_circle_and_without_end_are_left():
    def rule(asked: Asked) -> bytes:
        return (
            redirect("/a" if asked.target == "/b" else "/b") if len(asked.target) == 2 else redirect(asked.target + "x")
        )

    async with serving(rule) as server:
        http = LocalHttp(opened(server))
        assert await failure(http, Outgoing(url=server.url("/a"))) == "too_many_redirects"
        assert len(server.asked) == 2
        assert await failure(http, Outgoing(url=server.url("/start"))) == "too_many_redirects"
        assert len(server.asked) == 2 + 6
        await http.close()


@pytest.mark.meets("net:domains:lists")
async def test_domain_lists_hold_for_everybody_for_an_agent_and_for_a_tool():
    names = Names(docs_example=[["127.0.0.1"]], www_example=[["127.0.0.1"]])
    async with serving(answer("ok")) as server:
        network = opened(
            server,
            allow=("*.example", "docs.example"),
            agents={"bob": ("www.example",)},
            tools={"browse_url": ("docs.example",)},
        )
        http = LocalHttp(network, dns=names)
        docs, www = server.url(host="docs.example"), server.url(host="www.example")
        bob = Caller(agent="bob")
        for url, caller, tool, fits in (
            (docs, ME, "http_request", True),
            (www, ME, "browse_url", False),
            (www, bob, "http_request", True),
            (docs, bob, "http_request", False),
            (server.url(), ME, "http_request", False),
        ):
            request = Outgoing(url=url, caller=caller, tool=tool)
            if fits:
                assert (await http.send(request)).body == b"ok"
            else:
                assert await failure(http, request) == "domain_not_allowed"
        await http.close()


@pytest.mark.meets("net:domains:lists")
async def test_a_redirect_does_not_lead_off_the_list():
    names = Names(docs_example=[["127.0.0.1"]], www_example=[["127.0.0.1"]])
    async with serving(lambda _: redirect(server.url(host="www.example"))) as server:
        http = LocalHttp(opened(server, allow=("docs.example",)), dns=names)
        assert await failure(http, Outgoing(url=server.url(host="docs.example"), caller=ME)) == "domain_not_allowed"
        await http.close()
    assert names.asked == ["docs.example"]


@pytest.mark.meets("web-fetch:bucket")
async def test_a_bucket_counts_for_its_name_asker_and_host_and_an_unknown_one_never():
    async with serving(answer("ok")) as server:
        http = LocalHttp(opened(server, buckets={"news": Bucket(2, 60)}))
        news = Outgoing(url=server.url(), caller=ME, bucket="news")
        await http.send(news)
        await http.send(news)
        with pytest.raises(RateLimited) as caught:
            await http.send(news)
        assert caught.value.data == {"retry_after": 30}
        await http.send(Outgoing(url=server.url(), caller=Caller(agent="bob"), bucket="news"))
        for _ in range(4):
            await http.send(Outgoing(url=server.url(), caller=ME, bucket="unheard-of"))
        await http.close()


async def test_two_agents_of_one_team_share_a_bucket():
    async with serving(answer("ok")) as server:
        http = LocalHttp(opened(server, buckets={"news": Bucket(1, 60)}))
        await http.send(Outgoing(url=server.url(), caller=Caller(agent="ada", team="t"), bucket="news"))
        with pytest.raises(RateLimited):
            await http.send(Outgoing(url=server.url(), caller=Caller(agent="bob", team="t"), bucket="news"))
        await http.close()


@pytest.mark.parametrize(
    "network",
    [
        Network(allow=("http://x",)),
        Network(allow_private=("10.0.0.0/99",)),
        Network(agents={"a": ("x..y",)}),
        Network(tools={"t": ("a b",)}),
    ],
)
def test_a_wrong_list_is_refused_at_the_start(network: Network):
    with pytest.raises(BadConfig, match="means nothing"):
        LocalHttp(network)


async def test_the_environment_is_not_asked_for_a_proxy(monkeypatch: pytest.MonkeyPatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with serving(answer("direct")) as server:
        http = LocalHttp(opened(server))
        assert (await http.send(Outgoing(url=server.url()))).body == b"direct"
        await http.close()


async def test_no_failure_repeats_what_was_sent():
    async with serving(answer("x")) as server:
        port = server.port
    http = LocalHttp(Network(allow_private=("127.0.0.1",)))
    request = Outgoing(
        url=f"http://127.0.0.1:{port}/?k=query-secret", headers=(("X-Key", "header-secret"),), body=b"s3cret"
    )
    with pytest.raises(ToolFailed) as caught:
        await http.send(request)
    await http.close()
    assert caught.value.as_fault().code == "not_reachable"
    assert "secret" not in str(caught.value.as_fault().as_json())
    assert "s3cret" not in str(caught.value.as_fault().as_json())


async def test_many_requests_at_once_share_a_few_connections():
    async with serving(answer("ok")) as server:
        http = LocalHttp(opened(server))
        came = await asyncio.gather(*(http.send(Outgoing(url=server.url(f"/{i}"))) for i in range(100)))
        await http.close()
    assert {one.body for one in came} == {b"ok"}
    assert len(server.asked) == 100
    assert server.connections <= 16


async def test_connections_to_many_addresses_are_not_kept_without_bound():
    open_now = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now
        open_now += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(answer("ok"))
        except asyncio.IncompleteReadError:
            pass
        finally:
            open_now -= 1
            writer.close()

    listening = await asyncio.start_server(serve, "0.0.0.0", 0)
    port = listening.sockets[0].getsockname()[1]
    http = LocalHttp(Network(allow_private=("127.0.0.0/8",)))
    for i in range(1, 100):
        assert (await http.send(Outgoing(url=f"http://127.0.1.{i}:{port}/"))).body == b"ok"
    assert open_now <= POOLS + 1  # the last one that gave way may not have been noticed yet
    await http.close()
    listening.close()
