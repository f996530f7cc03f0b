"""The text of what came over the network, in whatever it says that it is written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.safety.charsets import is_html, read_text


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        ("h\u00e9".encode(), "text/plain; charset=utf-8", "h\u00e9"),
        ("h\u00e9".encode(), "text/plain", "h\u00e9"),
        ("h\u00e9".encode("latin-1"), 'text/html; charset="ISO-8859-1"', "h\u00e9"),
        ("h\u00e9".encode("cp1252"), "text/plain", "h\u00e9"),
        (b"\xef\xbb\xbfh\xc3\xa9", "text/plain; charset=latin-1", "h\u00e9"),
        ("h\u00e9".encode("utf-16"), "text/plain", "h\u00e9"),
        ("\u3042".encode("shift_jis"), "text/html; charset=Shift_JIS", "\u3042"),
        (b"<meta charset=koi8-r>\xc1", "text/html", "<meta charset=koi8-r>\u0430"),
        (b'{"a": "\xc3\xa9"}', "application/vnd.x+json", '{"a": "\u00e9"}'),
        (b"\xc3\xa9 cut \xc3", "text/plain", "\u00e9 cut "),  # the end of a body may stand in the middle of a letter
    ],
)
def test_a_text_is_read_in_its_own_letters(data: bytes, kind: str, text: str):
    read = read_text(data, kind)
    assert read is not None
    assert read.text == text


@pytest.mark.parametrize("kind", ["", "text/plain", "image/png", "text/html; charset=utf-8"])
def test_what_is_no_text_is_none(kind: str):
    assert read_text(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", kind) is None


@pytest.mark.parametrize(
    "named", ["nonsense", "base64", "rot13", "unicode_escape", "idna", "punycode", "zlib", "undefined"]
)
def test_a_character_set_that_is_none_is_said_and_guessed(named: str):
    read = read_text(b"words \\u0041 YQ==", f"text/plain; charset={named}")
    assert read is not None
    assert read.text == "words \\u0041 YQ=="
    assert named in read.note
    assert "unknown" in read.note


@given(st.binary(max_size=300), st.text(max_size=40))
def test_any_bytes_are_read_or_are_no_text(data: bytes, kind: str):
    read = read_text(data, kind)
    assert read is None or isinstance(read.text, str)
    is_html(kind, data)


def test_a_long_body_is_read_at_once():
    began = time.process_time()
    for data in (b"<meta " * 200_000, b"\xff" * 1_000_000, b"charset=" * 100_000, b" " * 1_000_000):
        read_text(data, "text/html")
        read_text(data, "text/plain; charset=iso2022_jp")
    assert time.process_time() - began < 3
