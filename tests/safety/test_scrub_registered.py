"""Registered values: found exactly, in every encoding, from any thread, and only while they are registered."""

import base64
import json
from threading import Thread
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.safety.test_scrub import KEY
from toolcrib.safety.scrub import Scrubber

VALUE = 'p@ss/w+rd "é" 1'


@pytest.mark.meets("scrub:dynamic:encodings", "secret:known:scrubbed-encoded")
@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        base64.b64encode(VALUE.encode()).decode(),
        base64.b64encode(b"a" + VALUE.encode() + b"xyz").decode(),
        base64.b64encode(b"ab" + VALUE.encode() + b"x").decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        quote(VALUE, safe=""),
        quote(VALUE),
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        VALUE.encode().hex(),
        VALUE.encode().hex().upper(),
    ],
)
@pytest.mark.parametrize("engine", [True, False])
def test_a_registered_value_is_found_in_every_encoding(form: str, engine: bool):
    scrub = Scrubber([("MAIL", VALUE)], key=KEY, engine=engine)
    scrubbed = scrub(f"before {form} after")
    assert form[4:-4] not in scrubbed
    assert "[REDACTED:MAIL:" in scrubbed
    assert scrubbed.startswith("before ")
    assert scrubbed.endswith(" after")


@given(st.text(min_size=6, max_size=60), st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=80, deadline=None)
def test_any_registered_value_is_found_anywhere(value: str, before: str, after: str):
    scrub = Scrubber([("V", value)], key=KEY)
    scrubbed = scrub(before + value + after)
    assert scrub.restore(scrubbed) == before + value + after
    assert "[REDACTED:" in scrubbed


def test_registered_values_come_and_go():
    scrub = Scrubber(key=KEY)
    assert scrub("plain words here") == "plain words here"
    scrub.add("A", "plain words")
    assert scrub("plain words here").startswith("[REDACTED:A:")
    scrub.forget("A")
    assert scrub("plain words here") == "plain words here"
    scrub.add("short", "abc")
    assert scrub("abcdefgh words") == "abcdefgh words"


def test_registered_values_that_overlap_leave_nothing():
    scrub = Scrubber([("A", "abcdefgh"), ("B", "efghijkl")], key=KEY)
    assert scrub("-abcdefghijkl-").count("[REDACTED:") == 1
    assert "ijkl" not in scrub("-abcdefghijkl-")


def test_a_registered_value_of_several_lines_is_found_with_other_line_ends_and_line_by_line():
    value = "first line of it, long enough\nsecond line of it, long enough"
    scrub = Scrubber([("NOTE", value)], key=KEY)
    for text in (value, value.replace("\n", "\r\n"), json.dumps(value), "x second line of it, long enough y"):
        assert "line of it" not in scrub(text)


def test_hexadecimal_of_a_registered_value_is_found_in_any_case():
    scrub = Scrubber([("V", "hunter two")], key=KEY)
    digits = b"hunter two".hex()
    mixed = "".join(digit.upper() if at % 3 else digit for at, digit in enumerate(digits))
    assert scrub(f"<{mixed}>").startswith("<[REDACTED:V:")


def test_a_registered_value_in_another_alphabet_hits_only_itself():
    scrub = Scrubber([("V", "парольтри")], key=KEY)
    assert scrub("другоедело") == "другоедело"
    assert scrub("парольтри").startswith("[REDACTED:V:")


@pytest.mark.meets("scrub:threads:safe")
def test_values_that_come_and_go_in_other_threads_never_leak_where_they_stand():
    scrub = Scrubber([("KEPT", "kept for all time")], key=KEY)
    leaks: list[str] = []

    def change(thread: int) -> None:
        for number in range(60):
            name = f"v{thread}-{number}"
            scrub.add(name, f"value {thread} {number} secret")
            text = f"{number} kept for all time, value {thread} {number} secret"
            if "value" in scrub(text) or "kept" in scrub(text):
                leaks.append(text)
            scrub.forget(name)

    threads = [Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert leaks == []


def test_a_thousand_registered_values_are_all_found():
    scrub = Scrubber([(f"v{n}", f"{n:04}-a value nobody knows") for n in range(1000)], key=KEY)
    text = "\n".join(base64.b64encode(f"{n:04}-a value nobody knows".encode()).decode() for n in range(0, 1000, 7))
    assert scrub(text).count("[REDACTED:v") == len(range(0, 1000, 7))
