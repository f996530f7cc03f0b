"""Where lines, windows and chunks end, no secret is lost and nothing else is taken."""

import string
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.safety.test_scrub import SCRUB, TOKEN
from toolcrib_bench.scrub_cases import negatives, positives

PIECES = [case.text for case in (*positives(seed=2), *negatives(seed=2))]


@pytest.mark.meets("scrub:stream:equal")
@given(st.integers(0, 1 << 30))
@settings(max_examples=25, deadline=None)
def test_a_stream_gives_what_one_pass_gives(seed: int):
    pick = Random(seed)
    joint = pick.choice(["\n", " ", "", ", "])
    text = joint.join(pick.choice(PIECES) for _ in range(pick.randrange(1, 900)))
    stream = SCRUB.stream()
    given_out: list[str] = []
    at = 0
    while at < len(text):
        size = pick.choice([1, 7, 100, 512, 5000, 40_000])
        given_out.append(stream.feed(text[at : at + size]))
        at += size
    assert "".join(given_out) + stream.end() == SCRUB(text)


def test_no_secret_is_lost_where_windows_meet():
    filler = "The quick brown fox jumps over the lazy dog.\n"
    for shift in range(0, 400, 7):
        text = filler * 310 + "y" * shift + "\n" + f"password=Zx9kkqLm{shift}a\n{TOKEN}\n" + filler * 200
        scrubbed = SCRUB(text)
        assert "Zx9kkqLm" not in scrubbed
        assert TOKEN not in scrubbed


def test_a_token_at_the_end_of_a_line_leaves_the_next_line_alone():
    for size in (20, 40, 74, 156):
        token = "sk-" + "proj-" + "aB3" * 60
        for after in ("plain words", "next_line: x", "DB_HOST=localhost", "abc/def/ghi", "}"):
            text = f"key={token[: size + 8]}\n{after}"
            scrubbed = SCRUB(text)
            assert scrubbed.startswith("key=[REDACTED:openai:")
            assert scrubbed.endswith("]\n" + after)


@pytest.mark.meets("scrub:bounds:whole")
def test_a_token_that_a_terminal_broke_is_taken_whole():
    token = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0" * 6
    text = f"export OPENAI={token}"
    broken = "\n".join(text[at : at + 80] for at in range(0, len(text), 80))
    scrubbed = SCRUB(f"$ env\n{broken}\ndone\n")
    assert scrubbed.startswith("$ env\nexport OPENAI=[REDACTED:openai:")
    assert scrubbed.endswith("]\ndone\n")


def test_two_tokens_on_two_lines_are_two():
    tokens = ["sk-" + "proj-" + letters * 20 for letters in ("aB3x", "Zy8w")]
    scrubbed = SCRUB("\n".join(tokens))
    assert scrubbed.count("[REDACTED:openai:") == 2
    assert "\n[" in scrubbed


@pytest.mark.meets("scrub:bounds:whole")
@pytest.mark.parametrize("lines", [20, 250, 900])
@pytest.mark.parametrize("joint", ["\n", "\\n", "\n    "])
@given(st.integers(0, 20_000), st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_a_key_longer_than_a_window_is_taken_whole(lines: int, joint: str, lead: int, seed: int):
    pick = Random(seed)
    body = ["".join(pick.choices(string.ascii_letters + string.digits + "+/", k=64)) for _ in range(lines)]
    frame = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]
    scrubbed = SCRUB("a line of a log\n" * (lead // 16) + joint.join(frame) + "\nand the words after it\n" * 9)
    assert not any(line in scrubbed for line in body)
    assert scrubbed.count("and the words after it") == 9


def test_a_value_longer_than_a_window_is_taken_whole():
    long = "aB3xZ9" * 6000
    for text in (f"token={long} end", f"Authorization: Bearer {long} end"):
        scrubbed = SCRUB(text)
        assert long[:100] not in scrubbed
        assert scrubbed.endswith("] end")


def test_the_first_line_of_a_key_alone_takes_nothing():
    text = 'if "-----BEGIN PRIVATE KEY-----" in text:\n    return the END of it\nwords and words\n'
    assert SCRUB(text) == text
