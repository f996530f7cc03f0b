"""check url: verdicts on web addresses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faces.cli.conftest import Ran, Run

pytestmark = pytest.mark.meets("cli:check:url")
PUBLIC, INSIDE = "93.184.215.14", "10.0.0.1"


def judged(run: Run, *lines: object, more: tuple[str, ...] = ()) -> tuple[int, list[dict[str, Any]]]:
    stdin = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    ran = run("check", "url", "--jsonl", *more, stdin=stdin)
    return ran.code, [json.loads(line) for line in ran.out.splitlines()]


def test_each_line_gets_a_verdict_and_one_refusal_makes_the_exit_code(run: Run):
    assert judged(run, {"url": "https://example.com/"}, {"url": "https://1.1.1.1/"}) == (
        0,
        [
            {"verdict": "allow", "why": "the name is sound; its addresses are judged when it is connected to"},
            {"verdict": "allow", "why": "public", "connected": "1.1.1.1"},
        ],
    )
    code, (first, second) = judged(run, {"url": "http://127.1/"}, {"url": "https://example.com/"})
    assert (code, first["verdict"], second["verdict"]) == (1, "deny", "allow")


@pytest.mark.parametrize(
    ("answers", "redirects", "verdict"),
    [
        ([PUBLIC], [], "allow"),
        (PUBLIC, [], "allow"),
        ([PUBLIC, INSIDE], [], "deny"),  # both in one answer: every one must be public
        ([[PUBLIC, INSIDE]], [], "deny"),
        ([[PUBLIC], [INSIDE]], [], "allow"),  # looked up once, and connected to what was checked
        ([[PUBLIC], [INSIDE]], ["/again"], "deny"),  # a redirect is looked up anew
        ([[PUBLIC], [PUBLIC]], ["/again"], "allow"),
        ([], [], "deny"),
        ([[]], [], "deny"),
        (["not an address"], [], "deny"),
    ],
)
def test_answers_of_a_line_stand_in_for_look_ups(run: Run, answers: Any, redirects: list[str], verdict: str):
    line = {"url": "http://a.example/", "dns": {"a.example": answers}, "redirects": redirects}
    code, (told,) = judged(run, line)
    assert (told["verdict"], code) == (verdict, 0 if verdict == "allow" else 1)
    assert told.get("connected", PUBLIC) == PUBLIC


def test_a_name_that_the_answers_leave_out_has_no_address(run: Run):
    _, (told,) = judged(run, {"url": "http://b.example/", "dns": {"a.example": [PUBLIC]}})
    assert told == {"verdict": "deny", "why": "b.example has no address"}


def test_redirects_are_judged_one_after_the_other(run: Run):
    dns = {"a.example": [PUBLIC], "b.example": [PUBLIC]}
    line = {"url": "http://a.example/", "dns": dns, "redirects": ["//b.example/x", "http://169.254.169.254/"]}
    _, (told,) = judged(run, line)
    assert told["why"].startswith("redirect 2: 169.254.169.254 is not public")
    _, (told,) = judged(run, {"url": "http://a.example/", "dns": dns, "redirects": ["/1", "/2", "/1"]})
    assert told["why"] == "redirect 3: the redirects go round in a circle"
    _, (told,) = judged(run, {"url": "http://a.example/", "dns": dns, "redirects": [f"/{i}" for i in range(6)]})
    assert told["why"] == "redirect 6: more than 5 redirects"


def test_a_list_of_a_line_holds_for_its_redirects_too(run: Run):
    line = {"url": "http://a.example/", "allow": ["a.example"], "redirects": ["http://b.example/"]}
    assert judged(run, line)[1][0]["why"] == "redirect 1: b.example is not on the list of allowed domains"
    assert judged(run, {"url": "http://a.example/", "allow": []})[1][0]["verdict"] == "deny"
    assert judged(run, {"url": "http://a.example/", "allow": ["http://a"]})[1][0]["why"].startswith("the list is wrong")


@pytest.mark.parametrize(
    "line",
    ["nonsense\n", "[]\n", "{}\n", '{"url": 1}\n', '{"url": "http://a.example/", "dns": {"a.example": [1]}}\n',
     '{"url": "http://a.example/", "redirects": "/x"}\n', "\x00\n", "x" * 9_000_000 + "\n"],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_refused_and_the_next_one_is_read(run: Run, line: str):
    code, told = judged(run, line, "\n", {"url": "https://1.1.1.1/"})
    assert code == 2
    assert [one["verdict"] for one in told] == ["deny", "allow"]
    assert "the line is" in told[0]["why"]


def test_addresses_are_named_or_read_as_lines(run: Run):
    ran = run("check", "url", "https://1.1.1.1/", "http://localhost/")
    assert (ran.code, ran.out) == (
        1,
        "allow https://1.1.1.1/ (1.1.1.1): public\ndeny  http://localhost/: localhost is a name for something near by\n",
    )
    ran = run("check", "url", "--json", stdin="https://1.1.1.1/\n\nhttps://[::1]/\n")
    assert [(one["url"], one["verdict"]) for one in map(json.loads, ran.out.splitlines())] == [
        ("https://1.1.1.1/", "allow"),
        ("https://[::1]/", "deny"),
    ]


def test_bytes_that_are_no_text_are_refused_and_can_be_shown(run: Run):
    for more in ((), ("--json",)):
        ran = run("check", "url", *more, "http://a\udcff.example/")
        assert (ran.code, "deny" in ran.out) == (1, True)


def test_nothing_is_looked_up_unless_asked(run: Run):
    assert run("check", "url", "http://localhost.example.com/").code == 0
    # Names that lead wherever they like are not trusted unseen.
    assert run("check", "url", "http://127.0.0.1.nip.io/").code == 1
    ran = run("check", "url", "http://no-such-name.invalid/", "--resolve")
    assert (ran.code, "has no address" in ran.out) == (1, True)


def test_the_lists_of_the_configuration_hold(run: Run, place: Path):
    text = (
        "agents: {ada: {toolboxes: [all]}}\n"
        "network:\n"
        "  allow_private: ['10.1.0.0/16']\n"
        "  agents: {ada: [a.example]}\n"
        "  tools: {web_fetch: [b.example]}\n"
    )
    (place / "home" / "toolcrib.yaml").write_text(text)

    def why(*more: str) -> Ran:
        return run("check", "url", *more)

    assert why("http://10.1.2.3/").out == "allow http://10.1.2.3/ (10.1.2.3): opened by the configuration\n"
    assert why("http://10.2.2.3/").code == 1
    assert why("http://b.example/").code == 0
    assert why("http://b.example/", "--agent", "ada").out.endswith("not among the domains of network.agents.ada\n")
    assert why("http://a.example/", "--tool", "http_request").out.endswith("of network.tools.web_fetch\n")
    assert why("http://a.example/", "--tool", "browse_url").code == 0


@pytest.mark.meets("net:config:lines")
def test_a_wrong_list_is_reported_with_its_line(run: Run, place: Path):
    text = (
        "network:\n"
        "  allow: ['http://x']\n"
        "  allow_private:\n"
        "    - 10.0.0.0/99\n"
        "  agents: {nobody: [a.example]}\n"
        "  tools: {web_serch: [a.example]}\n"
        "  buckets: {b: {seconds: 5}}\n"
    )
    (place / "home" / "toolcrib.yaml").write_text(text)
    told = run("config", "check", "--json").json["problems"]
    assert [(one["line"], one["where"]) for one in told] == [(7, "network.buckets.b")]
    (place / "home" / "toolcrib.yaml").write_text(text.replace("seconds: 5", "calls: 5"))
    told = run("config", "check", "--json").json["problems"]
    assert [(one["line"], one["where"]) for one in told] == [(2, "network.allow[0]"), (4, "network.allow_private[0]")]
    assert run("check", "url", "http://a.example/", "--json").code == 1
    sound = text.replace("seconds: 5", "calls: 5").replace("http://x", "x.example").replace("/99", "/9")
    (place / "home" / "toolcrib.yaml").write_text(sound)
    told = run("config", "check", "--json").json["problems"]
    assert [(one["line"], one["where"]) for one in told] == [
        (5, "network.agents.nobody"),
        (6, "network.tools.web_serch"),
    ]


@pytest.mark.meets("net:config:lines")
@pytest.mark.parametrize(
    ("provider", "line", "where"),
    [
        ("{kind: bing}", 3, "search.providers[0].kind"),
        ("{slug: mine}", 3, "search.providers[0]"),
        ("{kind: brave}", 3, "search.providers[0]"),
        ("{kind: searxng}", 3, "search.providers[0]"),
        ("{kind: searxng, url: 'ftp://x/'}", 3, "search.providers[0].url"),
        ("{kind: brave, key: '${NO_SUCH_KEY}'}", 3, "search.providers[0].key"),
    ],
)
def test_a_wrong_provider_is_reported_with_its_line(run: Run, place: Path, provider: str, line: int, where: str):
    (place / "home" / "toolcrib.yaml").write_text(f"search:\n  providers:\n  - {provider}\n")
    told = run("config", "check", "--json").json["problems"]
    assert [(one["line"], one["where"].startswith(where)) for one in told] == [(line, True)]


@pytest.mark.meets("web-search:key-hidden")
def test_a_search_key_is_not_shown_with_the_configuration(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BRAVE_KEY", "melon-lamp-quartz")
    (place / "home" / "toolcrib.yaml").write_text("search: {providers: [{kind: brave, key: '${BRAVE_KEY}'}]}\n")
    for shown in (run("config", "show"), run("config", "show", "--json")):
        assert shown.code == 0
        assert "melon" not in shown.out
        assert "(set)" in shown.out
