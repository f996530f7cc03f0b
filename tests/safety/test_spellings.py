"""One path, one address, many ways to write it: what a rule is compared with."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import examples
from toolcrib.safety.paths import clean
from toolcrib.safety.spellings import spellings

relative = partial(clean, roots=("/work", "/real/work"))
names = st.text("ab. -*", min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})
detours = st.sampled_from(["", "./", ".//", "x/../", "./y/z/../../"])
starts = st.sampled_from(["", "./", "/work/", "//work/", "/real/work/./", "../work/"])


@given(parts=st.lists(names, min_size=1, max_size=4), data=st.data())
def test_a_path_is_always_among_its_spellings(parts: list[str], data: st.DataObject) -> None:
    written = data.draw(starts) + "/".join(data.draw(detours) + part for part in parts)
    assert "/".join(parts) in spellings(written, relative)
    assert spellings(written, relative)[0] == written
    examples.count()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("HTTP://Example.COM:80/a/../b", "http://example.com/b"),
        ("https://EXAMPLE.com", "https://example.com/"),
        ("https://example.com//x/%61dmin/?q=%61", "https://example.com/x/admin/?q=%61"),
        ("../../etc/passwd", "../../etc/passwd"),
        ("/etc/./passwd", "/etc/passwd"),
    ],
)
def test_an_address_and_a_path_outside_are_cleaned_too(text: str, meant: str) -> None:
    assert meant in spellings(text, relative)


@pytest.mark.parametrize("text", ["", "plain", "two\nlines/../x", "ftp://x/../y", "http://[", "a/" * 3000])
def test_what_is_neither_stays_as_it_is(text: str) -> None:
    assert spellings(text, relative) == (text,)
