"""From records to lines: what is kept of a call, and in which form."""

import msgspec
import pytest

from toolcrib.core.call import Caller, Record, Status
from toolcrib.services.record.lines import LONGEST_ARGUMENTS, WITHHELD, Drafts, Line, clean, gap


def line(caller: Caller | None = None, arguments: bytes = b"{}", scrub: object = str) -> Line:
    record = Record(
        id="c", at=1.0, caller=caller or Caller(agent="a"), tool="t", arguments=arguments, status=Status.DONE
    )
    return Drafts(scrub).of(record)[0]  # type: ignore[arg-type] # a test may hand in what is no scrubber


def test_of_a_plain_caller_there_is_no_context() -> None:
    assert line()[5] == ""


@pytest.mark.parametrize(
    ("caller", "told"),
    [
        (Caller(agent="a", depth=2, parents=("s",)), {"depth": 2, "parents": ["s"]}),
        (Caller(agent="a", provider="p", model="m", channel="c", chat="x"), None),
        (Caller(agent="a", toolboxes=()), {"toolboxes": []}),
        (Caller(agent="a", only=()), {"only": []}),
        (Caller(agent="a", channel="\ud800"), {"unreadable": True}),
    ],
)
def test_what_decides_about_a_callers_tools_is_kept_as_context(caller: Caller, told: object) -> None:
    found = msgspec.json.decode(line(caller)[5])
    assert found == (told or {"provider": "p", "model": "m", "channel": "c", "chat": "x"})


def test_two_callers_are_never_mixed_up() -> None:
    drafts = Drafts(str)
    for number in range(1000):
        record = Record(id="c", at=1.0, caller=Caller(agent=f"a{number}"), tool="t", arguments=b"", status=Status.DONE)
        assert drafts.of(record)[0][2] == f"a{number}"


@pytest.mark.parametrize("fault", [ValueError, KeyError, RecursionError, TypeError, ZeroDivisionError])
def test_a_scrubber_that_fails_withholds_the_arguments(fault: type[Exception]) -> None:
    def scrub(text: str) -> str:
        raise fault(text)

    assert line(arguments=b'"hunter2"', scrub=scrub)[7] == WITHHELD
    assert line(arguments=b'"hunter2"', scrub=lambda _text: None)[7] == WITHHELD


def test_a_secret_is_scrubbed_before_the_arguments_are_cut() -> None:
    text = b"x" * (LONGEST_ARGUMENTS - 4) + b"hunter2"
    assert "hunt" not in line(arguments=text, scrub=lambda text: text.replace("hunter2", "*"))[7]


def test_a_gap_says_how_many_records_it_stands_for() -> None:
    told, _ = gap(7, 5.0)
    assert (told[8], told[9], told[11], told[7]) == ("gap", "records_lost", 7, '{"lost":7}')


@pytest.mark.parametrize(
    ("text", "cleaned"), [("abc", "abc"), ("a\0b", "a\ufffdb"), ("é😀", "é😀"), ("\ud83d x", "? x"), ("", "")]
)
def test_cleaned_text_can_be_stored_anywhere(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned
    assert clean(cleaned) == cleaned
