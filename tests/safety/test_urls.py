import socket
import time
from collections.abc import Sequence

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.safety.reach import Domains, Private, judge
from toolcrib.safety.urls import BadUrl, join, read_host, read_url
from toolcrib_bench import urling

PUBLIC = "93.184.215.14"
NEARLY = st.text("htps:/@.#?[]%\\ 0127xaf\u3002\uff0e\u2460\u00fc\u212a\t\r-_", max_size=40)


@pytest.mark.parametrize("row", urling.rows("internal"), ids=lambda row: f"{row['kind']}: {row['url'][:60]!a}")
@pytest.mark.meets("net:address:every-spelling")
def test_no_spelling_of_an_internal_address_is_reached(row: dict):
    judged = urling.verdict(row)
    assert judged.verdict == "deny" or (row["kind"] == "rebinding" and judged.connected == PUBLIC)
    assert judged.why


@pytest.mark.parametrize("row", urling.rows("public"), ids=lambda row: f"{row['kind']}: {row['url'][:60]!a}")
@pytest.mark.meets("net:public:not-refused")
def test_no_public_address_is_refused(row: dict):
    judged = urling.verdict(row)
    assert (judged.verdict, judged.why) == ("allow", "public")
    assert judged.connected


@given(st.one_of(NEARLY, NEARLY.map("http://{}".format)))
@pytest.mark.meets("net:url:strict")
def test_what_is_read_means_the_same_to_another_program(text: str):
    try:
        url = read_url(text)
    except BadUrl:
        return
    other = httpx2.URL(str(url))
    assert (other.scheme, other.raw_host.decode(), other.port or {"http": 80, "https": 443}[other.scheme]) == (
        url.scheme, url.host, url.port,
    )  # fmt: skip
    assert not other.userinfo
    assert str(read_url(str(url))) == str(url)


NUMERIC = st.lists(
    st.one_of(
        st.integers(0, 2**33).map(str),
        st.integers(0, 2**33).map(hex),
        st.integers(0, 2**33).map("0{:o}".format),
        st.sampled_from(["0", "00", "0x", "127", "1e3", "+1", "-1", " 1", "1_0", "\u0661", "255", "256", ""]),
    ), min_size=1, max_size=5,
)  # fmt: skip


@given(NUMERIC, st.sampled_from(["", ".", "..", " "]))
@pytest.mark.meets("net:address:every-spelling")
def test_what_the_system_takes_for_an_address_is_that_address_or_is_refused(parts: list[str], end: str):
    host = ".".join(parts) + end
    try:
        name, address = read_host(host)
    except BadUrl:
        return
    try:
        packed = socket.inet_aton(name)
    except (OSError, UnicodeEncodeError):
        return
    assert address is not None
    assert address.number == int.from_bytes(packed, "big")


ANSWER = st.sampled_from(
    [PUBLIC, "2606:4700::1111", "10.0.0.1", "::1", "::ffff:169.254.169.254", "nonsense", "64:ff9b::a00:1"]
)
ROUNDS = st.one_of(st.lists(ANSWER, max_size=3), st.lists(st.lists(ANSWER, max_size=3), max_size=4))


@given(
    ROUNDS,
    st.lists(st.sampled_from(["/a", "/b", "http://a.example/", "http://b.example/x", "//10.0.0.1/"]), max_size=4),
)
@pytest.mark.meets("net:address:pinned", "net:redirect:each-hop")
def test_whatever_names_lead_to_in_turn_only_public_addresses_are_connected_to(rounds: list, redirects: list[str]):
    given_out: list[Sequence[str]] = []
    script = [rounds] if all(isinstance(each, str) for each in rounds) else rounds

    def look_up(_: str) -> Sequence[str]:
        given_out.append(script[min(len(given_out), len(script) - 1)])
        return given_out[-1]

    judged = judge("http://a.example/", dns=look_up, redirects=redirects)
    assert len(given_out) <= 1 + len(redirects)
    if judged.verdict == "allow":
        assert all({PUBLIC, "2606:4700::1111"} >= set(answers) and answers for answers in given_out)
        assert judged.connected in given_out[-1]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_gets_a_verdict(text: str, location: str):
    assert judge(text).verdict in {"allow", "deny"}
    assert judge("http://example.com/", redirects=[location]).verdict in {"allow", "deny"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://user:pw@example.com/", "user name or a password"),
        ("ftp://example.com/", "ftp: is not allowed"),
        ("http://example.com\\@x/", "U+005C"),
        ("http://a b/", "U+0020"),
        ("http://0x7f.1/", "four plain decimal numbers"),
        ("http://\u2460.\u2460.\u2460.\u2460/", "look-alike"),
        ("http://example.com:99999/", "between 1 and 65535"),
        ("http:example.com", "no host"),
        ("example.com", "does not begin with"),
        ("http://[fe80::1%25eth0]/", "no plain IPv6"),
        ("http://" + "a" * 9000, "longer than"),
    ],
)
@pytest.mark.meets("net:url:strict")
def test_a_refusal_says_what_is_wrong_with_the_address(text: str, why: str):
    assert why in judge(text).why


@pytest.mark.parametrize(
    ("location", "whole"),
    [
        ("/x", "https://example.com:8443/x"),
        ("x", "https://example.com:8443/a/x"),
        ("../../x", "https://example.com:8443/x"),
        ("./", "https://example.com:8443/a/"),
        ("?q=1", "https://example.com:8443/a/b?q=1"),
        ("//other.example/y", "https://other.example/y"),
        ("http://other.example", "http://other.example/"),
        ("#here", "https://example.com:8443/a/b?z=1"),
    ],
)
def test_a_redirect_leads_where_a_browser_would_go(location: str, whole: str):
    assert str(join(read_url("https://example.com:8443/a/b?z=1"), location)) == whole


@pytest.mark.meets("net:address:pinned")
def test_every_answer_of_a_look_up_has_to_be_public():
    dns = {"two.example": [[PUBLIC, "10.0.0.1"]]}
    assert judge("http://two.example/", dns=dns).verdict == "deny"


@pytest.mark.meets("net:address:pinned")
def test_the_address_that_was_checked_is_the_one_connected_to():
    asked: list[str] = []

    def turning(host: str) -> Sequence[str]:
        asked.append(host)
        return [PUBLIC] if len(asked) == 1 else ["127.0.0.1"]

    assert judge("http://turn.example/", dns=turning).connected == PUBLIC
    assert len(asked) == 1


@pytest.mark.meets("net:redirect:each-hop")
def test_each_redirect_is_looked_up_and_judged_again():
    dns = {"turn.example": [[PUBLIC], ["127.0.0.1"]]}
    judged = judge("http://turn.example/", dns=dns, redirects=["/again"])
    assert (judged.verdict, judged.why) == (
        "deny",
        "redirect 1: turn.example leads to 127.0.0.1, which is not public: this machine",
    )


@pytest.mark.meets("net:domains:lists")
def test_a_domain_list_holds_names_and_names_below_and_nothing_else():
    domains = Domains(["Example.com.", "*.docs.example.org", "b\u00fccher.example", "1.1.1.1", "2606:4700::1111"])
    held = ["example.com", "a.docs.example.org", "xn--bcher-kva.example", "1.1.1.1", "2606:4700::1111"]
    not_held = ["www.example.com", "docs.example.org", "xdocs.example.org", "example.com.evil.org", "1.1.1.2"]
    assert [host in domains for host in held] == [True] * 5
    assert [host in domains for host in not_held] == [False] * 5


@pytest.mark.parametrize("entry", ["http://x.com", "x..com", "*.*.com", "", "*", "a b", "x.com/path", "x.com:80"])
def test_a_domain_list_refuses_what_is_no_domain(entry: str):
    with pytest.raises(BadUrl):
        Domains([entry])


def test_an_opened_place_is_reached_and_nothing_beside_it():
    opened = ["127.0.0.1:8080", "10.1.0.0/16", "[::1]:9", "nas.local:5000"]
    dns = {"nas.local": ["192.168.0.9"]}
    urls = ["http://127.0.0.1:8080/", "http://10.1.2.3:99/", "http://[::1]:9/", "http://nas.local:5000/"]
    beside = [
        "http://127.0.0.1:8081/",
        "http://10.2.0.1/",
        "http://[::1]:8/",
        "http://nas.local/",
        "http://localhost:8080/",
    ]
    assert [judge(url, dns=dns, allow_private=opened).verdict for url in urls] == ["allow"] * 4
    assert [judge(url, dns=dns, allow_private=opened).verdict for url in beside] == ["deny"] * 5


def test_an_opened_name_does_not_open_where_a_cloud_keeps_credentials():
    judged = judge("http://nas.local/", dns={"nas.local": ["169.254.169.254"]}, allow_private=["nas.local"])
    assert judged.verdict == "deny"


@pytest.mark.parametrize("entry", ["10.0.0.0/40", "a b", "http://x", ""])
def test_an_opening_that_means_nothing_is_refused(entry: str):
    with pytest.raises(BadUrl):
        Private([entry])


def test_a_long_text_is_judged_at_once():
    texts = ["http://" + "a." * 500_000, "http://[" + ":" * 1_000_000, "http://a/" + "\u00fc" * 8000, "h" * 1_000_000]
    began = time.perf_counter()
    for text in texts:
        judge(text)
        judge("http://example.com/", redirects=[text, text])
    assert time.perf_counter() - began < 2
