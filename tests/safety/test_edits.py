"""Edits are exact, literal, and touch nothing but what they matched."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.edits import Replacement, apply, apply_all
from toolcrib.safety.text import decode

LETTERS = "ab \n$\\1&."
texts = st.text(LETTERS, max_size=40)
words = st.text(LETTERS, min_size=1, max_size=5)


def code(content: str, edit: Replacement) -> str:
    with pytest.raises(ToolFailed) as caught:
        apply(content, edit)
    return caught.value.as_fault().code


def attempt(content: str, edit: Replacement) -> tuple[str, str]:
    """The content after an edit, and the code it was refused with."""
    try:
        return apply(content, edit).content, ""
    except ToolFailed as error:
        return content, error.as_fault().code


def overlapping(content: str, old: str) -> int:
    return sum(content.startswith(old, at) for at in range(len(content)))


@pytest.mark.meets("edit-file:exact:once", "edit-file:literal")
@given(before=texts, old=words, after=texts, new=texts)
def test_an_edit_changes_exactly_what_it_matched(before: str, old: str, after: str, new: str) -> None:
    content = before + old + after
    assume(old != new)
    if overlapping(content, old) == 1:
        assert apply(content, Replacement(old, new)).content == before + new + after
    else:
        assert code(content, Replacement(old, new)) == "ambiguous_match"
    assert apply(content, Replacement(old, new, True)).content == content.replace(old, new)


@pytest.mark.meets("edit-file:line-ends:kept")
@given(content=texts, old=words, new=texts, everywhere=st.booleans())
def test_a_file_with_windows_line_ends_keeps_them(content: str, old: str, new: str, everywhere: bool) -> None:
    assume("\n" in content)
    edit = Replacement(old, new, everywhere)
    windows = content.replace("\n", "\r\n")
    plain, refusal = attempt(content, edit)
    assert attempt(windows, edit) == (plain.replace("\n", "\r\n"), refusal)


@pytest.mark.meets("edit-file:line-ends:kept")
@given(content=st.text(LETTERS + "é\r", max_size=30), encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]))
def test_bytes_survive_reading_and_writing(content: str, encoding: str) -> None:
    bom = "\ufeff".encode(encoding)
    for data in (bom + content.encode(encoding), content.encode()):
        text = decode(data)
        assert text is not None
        assert text.content == content
        assert text.encode(text.content) == data


@pytest.mark.meets("multi-edit:sequential", "multi-edit:all-or-nothing")
@given(content=texts, pairs=st.lists(st.tuples(words, texts), min_size=1, max_size=4))
def test_many_edits_are_made_in_turn_or_not_at_all(content: str, pairs: list[tuple[str, str]]) -> None:
    edits = [Replacement(old, new) for old, new in pairs]
    expected = content
    for index, edit in enumerate(edits):
        expected, refusal = attempt(expected, edit)
        if refusal:
            with pytest.raises(ToolFailed) as caught:
                apply_all(content, edits)
            fault = caught.value.as_fault()
            assert (fault.code, fault.data["failedEditIndex"]) == (refusal, index)
            return
    assert apply_all(content, edits)[0] == expected


@pytest.mark.meets("edit-file:literal")
def test_what_other_languages_would_expand_stays_literal() -> None:
    for new in ("$&", "$1", "\\1", "\\g<0>", "%s", "{0}", "$$"):
        assert apply("a(b)*c", Replacement("(b)*", new)).content == f"a{new}c"


@pytest.mark.meets("edit-file:exact:once")
def test_an_ambiguous_match_names_its_lines() -> None:
    with pytest.raises(ToolFailed, match=r"oldText matches 3 locations \(lines 1, 3, 4\)") as caught:
        apply("x = 1\n\nx = 2\nx = 3\n", Replacement("x = ", "y = "))
    assert caught.value.data == {"matches": 3, "lines": [1, 3, 4]}
    assert "replaceAll" in caught.value.hint


def test_many_matches_are_counted_and_not_all_listed() -> None:
    with pytest.raises(ToolFailed, match=r"matches 40 locations .* and 30 more"):
        apply("x\n" * 40, Replacement("x", "y"))


def test_matches_that_overlap_are_ambiguous() -> None:
    assert code("aaa", Replacement("aa", "b")) == "ambiguous_match"


@pytest.mark.meets("edit-file:not-found:said")
def test_a_text_that_is_not_there_is_answered_with_the_nearest_line() -> None:
    content = "def one():\n    return 1\n\n\tdef two(argument):\n"
    for old, line in (("def two(argument):\n    pass", 4), ("    return  1", 2), ("def one ():", 1)):
        with pytest.raises(ToolFailed, match="oldText not found in file") as caught:
            apply(content, Replacement(old, "x"))
        assert caught.value.data == {"nearestLine": line}
        assert f"line {line}:" in caught.value.hint


def test_nothing_is_near_a_text_that_is_quite_other() -> None:
    with pytest.raises(ToolFailed) as caught:
        apply("abc\n", Replacement("0123456789", "x"))
    assert not caught.value.data


def test_an_edit_that_says_nothing_is_refused() -> None:
    assert code("abc", Replacement("", "x")) == "bad_edit"
    assert code("abc", Replacement("b", "b")) == "bad_edit"


@pytest.mark.meets("edit-file:line-ends:kept")
@pytest.mark.parametrize(
    ("content", "old", "new", "expected"),
    [
        ("a\r\nb\r\nc", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc"),
        ("a\r\nb", "a\r\nb", "x\r\ny", "x\r\ny"),
        ("a\r\nb", "a", "x\ny", "x\r\ny\r\nb"),
        ("a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
        ("a\nb", "a\r\nb", "x", None),
        ("a\nb\r\nc\nd", "a", "x\ny", "x\ny\nb\r\nc\nd"),
        ("a\nb\r\nc\nd", "b\nc", "x\ny", "a\nx\r\ny\nd"),
        ("a\r\nb", "\nb", "\nc", "a\r\nc"),
        ("a\rb", "a\rb", "x", "x"),
        ("no end", "end", "a\nb", "no a\nb"),
    ],
)
def test_new_text_ends_its_lines_as_the_file_does_there(content: str, old: str, new: str, expected: str | None) -> None:
    if expected is None:
        assert code(content, Replacement(old, new)) == "no_match"
    else:
        assert apply(content, Replacement(old, new)).content == expected
