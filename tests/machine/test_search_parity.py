"""ripgrep and our own engine give the same answers, over random trees, ignore files and queries."""

import random
import shutil
from pathlib import Path

import pytest

from toolcrib.core.errors import ToolError
from toolcrib.machine.files.root import Root
from toolcrib.machine.files.search import search
from toolcrib.machine.halt import Halt
from toolcrib.services.content.files import Hits, Mode, Query

RIPGREP = shutil.which("rg")
TREES = 40
QUERIES = 12

NAMES = ("a", "b.py", "c.txt", "dist", ".hid", "x y", "é.md", "Foo.py", "a.log", "[z]", "build", ".env", "sub", "b.pyc")
FOLDERS = ("src", "lib", "dist", ".cfg", "deep", "build", "a b", "node_modules", ".git", "{n}")
LINES = (
    "foo",
    "foo bar",
    "  foo",
    "bar foo baz",
    "Foo = 1",
    "",
    "x",
    "naïve foo",
    "ÄÖÜ äöü",
    "foofoo",
    "tab\there",
    "a.b(c)[d]",
    "end foo",
    "١٢٣",
    "12 foo-34",
    "line with trailing space ",
    "\u2028sep",
)
PATTERNS = (
    "foo",
    "^foo",
    "foo$",
    "^$",
    "o+",
    r"\bfoo\b",
    r"\bäöü\b",
    r"\b\w{3}\b",
    r"o\B",
    r"(?i:\bna)ï?v|\b[^a-z ]+\b",
    r"\B[^o]|\Wfoo\b$",
    r"^\b.\b",
    r"\w+ \w+",
    r"\d+",
    r"\s",
    r"\S+\s\S",
    "[^a-z]",
    "[^o]$",
    r"[\w.]+\(",
    "ä|x",
    "(?i)FOO",
    "f.o",
    ".*",
    "x*",
    r"\W\w",
    r"^\s*$",
    "[[:digit:]]+",
    r"[]x]",
    r"\x66oo",
    r"\u0066oo",
    r"[\u0061-\U00000066]o",
    r"\p{Lu}",
    r"\D$",
    "nosuchthing",
    "foo|bar|baz",
    "(foo){2}",
)
ACROSS = (
    r"^$",
    r"foo\nbar",
    r"foo\s+bar",
    "foo.*bar",
    "(?-s)foo.bar",
    r"x\n\n",
    "^foo$",
    r"[^x]foo",
    "bar$",
    r"\n",
    "foo",
)
RULES = (
    "*.log",
    "/dist",
    "dist/",
    "build",
    "!*.log",
    "src/*.py",
    "**/deep",
    "deep/**",
    "a/**/b.py",
    "*.py[co]",
    "!.env",
    "#comment",
    r"\#x",
    "x y",
    "/src/",
    "?.txt",
    "[!a]",
    "{a,c}.*",
    "!.cfg/",
    "lib/*",
    "!lib/b.py",
    "a ",
    "[z",
    "**",
    "/**/c.txt",
    "*",
    "!*/",
    "foo**bar",
    "!src/**",
)
GLOBS = ("*.py", "!*.py", "src/**", "**/deep/*", "*.{py,txt}", "/a", "[ab]*", "sub", "lib/", "?.*", "!src/", ".*", "*")


def grow(make: random.Random, folder: Path, depth: int) -> None:
    for name in make.sample(NAMES, make.randint(1, 5)):
        (folder / name).write_bytes(content(make))
    for name in (".gitignore", ".ignore", ".rgignore"):
        if make.random() < 0.3:
            (folder / name).write_text("\n".join(make.choices(RULES, k=make.randint(1, 4))) + "\n")
    if make.random() < 0.15:
        (folder / "link").symlink_to(make.choice(("src", "..", "/etc/passwd", "a")))
    if depth:
        for name in make.sample(FOLDERS, make.randint(0, 3)):
            if not (folder / name).exists():
                (folder / name).mkdir()
                grow(make, folder / name, depth - 1)


def content(make: random.Random) -> bytes:
    end = make.choice(("\n", "\n", "\n", "\r\n"))
    text = end.join(make.choices(LINES, k=make.randint(0, 12))) + make.choice(("", end))
    shape = make.randint(0, 12)
    if shape == 0:
        return b"\xff\xfe" + text.encode("utf-16-le")
    if shape == 1:
        return b"\xfe\xff" + text.encode("utf-16-be")
    if shape == 2:
        return b"\xef\xbb\xbf" + text.encode()
    if shape == 3:
        return text.encode() + b"\0foo\n"
    if shape == 4:
        return text.encode("latin-1", "replace")
    if shape == 5:
        return text.encode() * 4000 + make.choice((b"\0", b"")) + b"foo\n"
    return text.encode()


def asked(make: random.Random, folders: list[str]) -> Query:
    multiline = make.random() < 0.25
    return Query(
        pattern=make.choice(ACROSS if multiline else PATTERNS),
        path=make.choice([".", ".", *folders]),
        mode=make.choice(list(Mode)),
        glob=make.choice(["", "", "", *GLOBS]),
        before=make.choice((0, 0, 1, 3)),
        after=make.choice((0, 0, 2)),
        ignore_case=make.random() < 0.2,
        multiline=multiline,
        hidden=make.random() < 0.3,
        no_ignore=make.random() < 0.2,
        limit=make.choice((1, 3, 10, 100, 500)),
    )


def answer(root: Root, query: Query, program: str | None) -> Hits | str:
    try:
        return search(root, query, Halt(30), program)
    except ToolError as error:
        return error.as_fault().code


def compare(folder: Path, seed: int) -> int:
    make = random.Random(seed)
    grow(make, folder, 3)
    root = Root(str(folder), ("denied", make.choice(FOLDERS)))
    folders = [str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_dir() and not one.is_symlink()]
    for _ in range(QUERIES):
        query = asked(make, sorted(folders))
        assert answer(root, query, RIPGREP) == answer(root, query, None), f"seed {seed}: {query}"
    return QUERIES


@pytest.mark.skipif(RIPGREP is None, reason="ripgrep is not on the PATH")
@pytest.mark.meets("grep:engines:agree")
@pytest.mark.parametrize("seed", range(TREES))
def test_both_engines_agree(tmp_path: Path, seed: int) -> None:
    assert compare(tmp_path, seed) == QUERIES
