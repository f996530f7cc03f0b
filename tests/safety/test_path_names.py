"""What a path means, before any disk is asked."""

import pytest

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.paths import Barred, clean, escaped, shown


@pytest.mark.meets("path:parent:refused")
def test_a_path_is_cleaned_to_one_form() -> None:
    roots = ("/work/link", "/srv/real")
    for path in ("a/b", "./a//b", "a/c/../b", "/work/link/a/b", "/srv/real/a/b", "//srv/real/a/b", "../link/a/b"):
        assert clean(path, roots) == "a/b"
    for path in ("", ".", "a/..", "/work/link", "/srv/real/"):
        assert clean(path, roots) == "."
    assert clean("/etc", ("/",)) == "etc"
    for path in ("..", "/work/linked", "/", "a/../../b"):
        with pytest.raises(ToolFailed, match="outside the workspace"):
            clean(path, roots)


@pytest.mark.meets("path:odd:refused")
def test_a_path_with_a_nul_or_too_long_is_refused() -> None:
    for path in ("a\0", "a/" * 3000):
        with pytest.raises(ToolFailed) as caught:
            clean(path, ("/work",))
        assert caught.value.as_fault().code == "bad_path"


@pytest.mark.meets("path:deny:hidden")
def test_a_barred_prefix_ends_at_a_part_of_the_path() -> None:
    barred = Barred(["/secrets/", "a//b", "."])
    assert barred.prefixes == ("a/b", "secrets")
    assert [barred.holds(path) for path in ("secrets", "secrets/x", "a/b/c")] == [True] * 3
    assert [barred.holds(path) for path in ("secrets2", "a", "x/secrets", "Secrets")] == [False] * 4


def test_a_file_system_that_folds_names_bars_every_form_of_a_name() -> None:
    barred = Barred(["Caf\u00e9"], folds=True)
    assert barred.holds("CAFE\u0301/x")
    assert not Barred(["Caf\u00e9"]).holds("CAFE\u0301/x")


def test_a_name_is_shown_without_control_characters_and_not_too_long() -> None:
    assert shown("a\nb") == escaped("a\nb") == "a\\nb"
    assert shown("\udcff") == "\\xff"
    assert escaped("é") == "é"
    assert len(shown("x" * 999)) == len(shown("é" * 999)) == 201
