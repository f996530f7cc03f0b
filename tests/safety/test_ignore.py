"""Globs, ignore files and patterns, by what they choose."""

import pytest

from toolcrib.core.errors import ToolFailed
from toolcrib.safety import boundaries, patterns
from toolcrib.safety.globs import Glob, quoted
from toolcrib.safety.ignore import Level, Sieve, Wanted, read_rules


@pytest.mark.meets("glob:finds")
@pytest.mark.parametrize(
    ("glob", "fits", "misses"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "x/src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"]),
        ("**/test_*", ["test_a", "x/test_a"], ["x/atest_a"]),
        ("src/**", ["src/a", "src/b/c"], ["src", "lib/a"]),
        ("**", ["a", "a/b"], []),
        ("a?c", ["abc", "x/abc"], ["ac", "a/c"]),
        ("[ab].txt", ["a.txt", "b.txt"], ["c.txt"]),
        ("[!ab].txt", ["c.txt"], ["a.txt"]),
        ("[a-c-]x", ["bx", "-x"], ["dx"]),
        ("[]]x", ["]x"], ["x"]),
        ("*.{js,ts}", ["a.js", "x/b.ts"], ["a.tsx"]),
        ("{a,b{c,d}}", ["a", "bc", "bd"], ["b"]),
        (r"\*.py", ["*.py"], ["a.py"]),
        ("a**b", ["axb", "ab"], ["a/b"]),
        ("./a/b", ["a/b"], ["x/a/b"]),
        ("/a", ["a"], []),
        ("x/**", ["x/a"], ["x"]),
        ("/**", ["a", "a/b"], []),
    ],
)
def test_a_glob_fits_what_it_should(glob: str, fits: list[str], misses: list[str]) -> None:
    made = Glob(glob)
    assert [path for path in fits if not made.fits(path)] == []
    assert [path for path in misses if made.fits(path)] == []


@pytest.mark.parametrize("glob", ["[a", "{a", "a}", "a\\", "[]", "[!]", "{a,{b}", "["])
def test_a_broken_glob_is_refused(glob: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        Glob(glob)
    assert caught.value.as_fault().code == "bad_pattern"


@pytest.mark.parametrize("name", ["a*b", "[x]", "{a,b}", "a\\b", "!a", "#a", "é", "a b"])
def test_a_quoted_name_stands_for_itself(name: str) -> None:
    assert Glob("/" + quoted(name)).fits(name)


def test_a_hostile_glob_takes_no_time() -> None:
    assert not Glob("*a" * 60 + "b").fits("a" * 250)
    assert not Glob("{a,aa}" * 25 + "b").fits("a" * 250)


def test_the_last_line_of_an_ignore_file_that_fits_decides() -> None:
    rules = read_rules(b"\xef\xbb\xbf*.log\n!keep.log\nbuild/\n/top\n# no\n\\#yes\n\nspace \\ \n[broken\n")
    verdicts = {
        (b"a.log", False): True,
        (b"x/a.log", False): True,
        (b"x/keep.log", False): False,
        (b"build", True): True,
        (b"build", False): None,
        (b"top", False): True,
        (b"x/top", False): None,
        (b"#yes", False): True,
        (b"other", False): None,
    }
    assert {key: rules.verdict(key[0], folder=key[1]) for key in verdicts} == verdicts


def test_globs_of_a_call_stand_above_ignore_files_and_hidden_names() -> None:
    level = Level(b"", (None, None, read_rules(b"*.log\n")))
    assert Sieve(Wanted([])).drops(b"a.log", level, folder=False)
    assert not Sieve(Wanted(["*.log"])).drops(b"a.log", level, folder=False)
    assert Sieve(Wanted(["*.log"])).drops(b"a.txt", level, folder=False)
    assert Sieve(Wanted(["!a.txt"])).drops(b"a.txt", level, folder=False)
    assert Sieve(Wanted([])).drops(b".env", None, folder=False)
    assert not Sieve(Wanted([]), hidden=True).drops(b".env", None, folder=False)


def test_a_broken_glob_of_a_call_is_refused_and_a_broken_line_of_a_file_is_passed_over() -> None:
    with pytest.raises(ToolFailed, match="is not a glob: a \\[ without its \\]"):
        Wanted(["[a"])
    assert read_rules(b"[a\nb").verdict(b"b", folder=False)


@pytest.mark.meets("grep:pattern:bad")
@pytest.mark.parametrize("pattern", ["", "a\\nb", "a\nb", "\\r$", "x" * 5000])
def test_a_pattern_that_cannot_match_a_line_is_refused(pattern: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        patterns.checked(pattern, multiline=False)
    assert caught.value.as_fault().code == "bad_pattern"


def test_a_line_end_in_a_pattern_means_both_kinds() -> None:
    assert patterns.for_ripgrep(r"a\nb[\n]\\n") == r"a\r?\nb[\n]\\n"
    assert patterns.for_re2(r"a\nb", multiline=True) == r"a\r?\nb"


def test_classes_are_written_out_for_re2() -> None:
    assert patterns.for_re2(r"[^a]\.", multiline=False) == r"[^\r\na]\."
    assert patterns.for_re2(r"[]a]\d[\d]", multiline=False) == r"[]a][\p{Nd}][\p{Nd}]"
    assert patterns.for_re2(r"[\D[x]\W\S", multiline=False).startswith(r"[\P{Nd}[x][^\r\n\p{L}")
    assert patterns.for_re2(r"\u{e9}\x41\W\S$[\s]", multiline=True).startswith(r"\x{e9}\x41[^\p{L}")
    assert patterns.for_re2(r"\x{41}\p{Lu}[[:alpha:].]", multiline=False) == r"\x{41}\p{Lu}[[:alpha:].]"


def test_words_of_any_language_have_boundaries() -> None:
    assert boundaries.marked("é 1").encode() == "\ue000é\ue000 \ue0001\ue000".encode()
    assert boundaries.marked("ab") == "\ue000a\ue001b\ue000"
    assert [boundaries.bounded(pattern) for pattern in (r"\bx", r"[\b]\\b")] == [True, False]
    assert boundaries.for_marked(r"(?i)\ba{2}") == r"(?i)\x{e000}(?:[\x{e000}\x{e001}]?a){2}"
    assert boundaries.loose(r"\bfoo\B[\b]") == r"(?:)foo(?:)[\b]"
