"""What strangers wrote stands in a fence that they cannot leave."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcrib.safety.fence import clean, fence, plain

pytestmark = pytest.mark.meets("browse-url:untrusted")
NEARLY = st.lists(
    st.sampled_from([*"<>/ \n\t", "untrusted", "UNTRUSTED", "un", "trusted", "\uff1c", "\ufe64", "\u200b", "\u200d",
                     "\u00ad", "\ufe0f", "\U000e0041", "\u202e", 'id="1"']), max_size=30,
).map("".join)  # fmt: skip


def fences(text: str) -> list[str]:
    """What a reader who overlooks unseen characters takes for a fence."""
    seen = "".join(sign for sign in text if unicodedata.category(sign) not in {"Cf", "Mn"})
    seen = unicodedata.normalize("NFKC", seen)
    return re.findall(r"<\s*/?\s*untrusted", seen, re.IGNORECASE)


@given(NEARLY)
@example("< \u200d untrusted")
@example("<" + "\n" * 40 + "/ \ufe0f \u200duntrusted")
def test_no_text_holds_a_fence_of_its_own(text: str):
    assert fences(clean(text)) == []
    assert len(fences(fence(text, text))) == 2


@given(st.text(max_size=200))
def test_a_clean_text_stays_clean(text: str):
    assert clean(clean(text)) == clean(text)


def test_two_fences_never_have_the_same_number():
    marks = {re.findall(r'id="([0-9a-f]{8})"', fence("x", "http://a.example/"))[0] for _ in range(50)}
    assert len(marks) == 50


def test_both_ends_carry_the_same_number_and_the_origin():
    text = fence("words", 'http://a.example/"><x')
    first, last = text.splitlines()[0], text.splitlines()[-1]
    number = re.findall(r'id="([0-9a-f]{8})"', first)
    assert number == re.findall(r'id="([0-9a-f]{8})"', last)
    assert 'from="http://a.example/\'&gt;&lt;x"' in first


def test_what_a_person_does_not_see_is_taken_out():
    assert clean("a\u200bb\u202ec\x1b[0m\U000e0041d") == "abc[0md"
    assert clean("\u0645\u06cc\u200c\u062e tab\tline\n") == "\u0645\u06cc\u200c\u062e tab\tline\n"


@given(st.text(max_size=80), st.integers(2, 40))
def test_a_line_stays_one_line_within_its_quotes(text: str, most: int):
    line = plain(text, most)
    assert len(line) <= most
    assert not set('"<>\n\r') & set(line)
