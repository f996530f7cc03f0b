"""Reading web pages, broken and hostile ones too."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.safety.pages import read_links, read_page
from toolcrib.safety.urls import read_url

BASE = read_url("https://a.example/docs/start")
MEGABYTE = 1024 * 1024
PIECES = ["<", ">", "</", "/>", "<p>", "</p>", "<div ", "a=b", '"', "'", "<!--", "-->", "<script>", "</script>", "<a href=",
          "x", " ", "&amp;", "&#x41;", "<main>", "<ul><li>", "</li>", "<pre>", "<title>", "<base href=//b.example/>"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_text_can_be_read(html: str):
    read_page(html, BASE)
    for link in read_links(html, BASE).links:
        assert str(read_url(link.url)) == link.url


@pytest.mark.parametrize(
    "piece",
    ["<", "<!--", "<div>", "<b>", "<ul><li>", "<table><tr><td>", "<a href=/x>word</a> ", '<a href="', "&amp;", "<p>word ",
     "<script>", "<title>", "</", "<svg><title>", "a=b ", "<pre>", "<font><i>"],
)  # fmt: skip
def test_a_hostile_page_is_read_in_time_that_grows_with_its_length_only(piece: str):
    html = (piece * (MEGABYTE // len(piece)))[: MEGABYTE // 4]
    began = time.process_time()
    read_page(html, BASE)
    read_links(html, BASE)
    assert time.process_time() - began < 3


def test_a_page_is_its_own_text_with_headings_lists_and_links():
    html = (
        "<html><head><title>A &amp; B</title><style>x{}</style></head><body><nav><a href=/menu>menu</a></nav>"
        "<main><h2>Head</h2><p>One <b>two</b> <a href='../up'>three</a>.</p><ol><li>first<li>second</ol>"
        "<pre>  code\n    more</pre><img alt='a picture'><script>evil()</script></main><footer>foot</footer>"
    )
    page = read_page(html + "<p>" + "word " * 50 + "</main>", BASE)
    assert page.title == "A & B"
    for part in ("## Head", "One two [three](https://a.example/up).", "1. first\n2. second", "  code\n    more",
                 "[picture: a picture]"):  # fmt: skip
        assert part in page.text
    for part in ("menu", "evil", "x{}"):
        assert part not in page.text
    plain = read_page(html, BASE, markdown=False).text
    assert "## Head" not in plain
    assert "three." in plain


def test_links_are_whole_each_once_and_only_to_the_web():
    html = (
        "<base href='/other/'><a href=x>one</a><a href='https://b.example/y?a=1&amp;b=2'>two</a><a href=x>again</a>"
        "<a href='javascript:alert(1)'>no</a><a href='mailto:x@y.z'>no</a><a href='#here'>no</a><area href=/map alt=map>"
        "<a href='http://me:pw@c.example/'>no</a>"
    )
    assert [(link.url, link.text) for link in read_links(html, BASE).links] == [
        ("https://a.example/other/x", "one"),
        ("https://b.example/y?a=1&b=2", "two"),
        ("https://a.example/map", "map"),
    ]


def test_a_menu_that_is_never_closed_does_not_swallow_the_page():
    assert "word" in read_page("<nav><a href=/>menu</a>" + "word " * 100, BASE).text
