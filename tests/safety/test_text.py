"""What a file's bytes are taken for."""

import pytest

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.text import count_lines, decode, kind, line_ends, searchable, split_lines


@pytest.mark.meets("read-file:utf16:decoded")
@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("é\n".encode(), "utf-8"),
        ("\ufeffé\n".encode(), "utf-8"),
        ("\ufeffé\n".encode("utf-16-le"), "utf-16-le"),
        ("\ufeffé\n".encode("utf-16-be"), "utf-16-be"),
        ("\ufeffé\n".encode("utf-32-le"), "utf-32-le"),
        ("é\n".encode("latin-1"), "latin-1"),
    ],
)
def test_text_is_known_by_its_mark_or_its_bytes(data: bytes, encoding: str) -> None:
    text = decode(data)
    assert text is not None
    assert (text.content, text.encoding, text.assumed) == ("é\n", encoding, encoding == "latin-1")
    assert text.encode("é\n") == data


@pytest.mark.meets("read-file:unfit:refused")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "a PNG image"),
        (b"PK\x03\x04\0", "a ZIP archive (also docx, xlsx, jar)"),
        (b"\x7fELF\x02\x01\0", "an ELF program"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"a\0b", "not text"),
        (b"\xff\xfe\x00\xd8", "not text"),
        (bytes(range(1, 32)) * 10, "not text"),
        (b"\xe9\x01\x02", "not text"),
    ],
)
def test_what_is_not_text_is_named(data: bytes, words: str) -> None:
    assert decode(data) is None
    assert kind(data) == words


def test_a_character_that_the_encoding_lacks_is_refused() -> None:
    text = decode(b"caf\xe9")
    assert text is not None
    with pytest.raises(ToolFailed, match="latin-1, which has no character '€'") as caught:
        text.encode("5 €")
    assert caught.value.as_fault().code == "bad_text"


def test_lines_are_counted_as_an_editor_shows_them() -> None:
    for content, count in (("", 0), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\r\nb", 2)):
        assert count_lines(content) == len(split_lines(content)) == count
    assert [line_ends(text) for text in ("a", "a\n", "a\r\n", "a\r\nb\n")] == ["none", "lf", "crlf", "mixed"]


def test_a_search_sees_utf_16_as_text_and_passes_over_binaries() -> None:
    assert searchable("\ufeffé".encode("utf-16-be")) == "é".encode()
    assert searchable("\ufeffé".encode()) == "é".encode()
    assert searchable(b"a\0") is None
