"""Words and stems."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.services.finding.stems import pieces, stem, stems

# Pairs that Porter's own description gives as examples.
_PAIRS = """
caresses caress  ponies poni  cats cat  feed feed  agreed agre  plastered plaster  bled bled  motoring motor  sing sing
conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall  hissing hiss  failing fail
filing file  happy happi  sky sky  relational relat  conditional condit  rational ration  digitizer digit
vietnamization vietnam  operator oper  decisiveness decis  hopefulness hope  formaliti formal  sensibiliti sensibl
triplicate triplic  formative form  electrical electr  goodness good  revival reviv  allowance allow  adjustable adjust
replacement replac  dependent depend  adoption adopt  effective effect  probate probat  rate rate  cease ceas
controll control  roll roll
"""
PORTER = _PAIRS.split()


@pytest.mark.parametrize(("word", "expected"), [*zip(PORTER[::2], PORTER[1::2], strict=True)])
def test_a_word_loses_its_endings(word: str, expected: str):
    assert stem(word) == expected


@pytest.mark.parametrize("form", ["lists", "listed", "listing"])
def test_forms_of_a_word_have_one_stem(form: str):
    assert stem(form) == stem("list")


def test_names_are_split_at_signs_numbers_and_capitals():
    assert pieces("readHTTPFile_v2-now") == ["read", "http", "file", "v", "2", "now"]


def test_words_outside_plain_letters_stay_whole():
    assert pieces("Größe über") == ["größe", "über"]


def test_words_that_say_nothing_are_left_out_unless_there_is_nothing_else():
    assert stems("how do I read the file") == ["read", "file"]
    assert stems("how to") == ["how", "to"]


@given(st.text(max_size=200))
def test_any_text_has_stems(text: str):
    assert all(one and one == one.lower() for one in stems(text))
