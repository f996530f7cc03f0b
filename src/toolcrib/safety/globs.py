"""Globs, in the dialect that ripgrep and ignore files share, as regular expressions over bytes.

`*` and `?` stay within one folder, `**` crosses folders, `[ab]`, `[!ab]` and `{a,b}` choose. Matching takes linear
time whatever the glob: it may come from a file that a stranger wrote.
"""

import os
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy

_PARTS = re.compile(rb"\\.?|\?|\*+|\[[!^]?\]?(?:[^\]\\]|\\.)*\]?|[{},]|[^\\?*\[{},]+", re.DOTALL)


class BadGlob(ValueError):
    """A glob that means nothing, such as one with an open bracket."""


def as_regex(glob: bytes) -> bytes:
    """The glob as an expression that must match a whole path."""
    if glob == b"**":
        return b"(?s).*"
    out: list[bytes] = [b"(?s)"]
    depth = at = 0
    while at < len(glob):
        found = _PARTS.match(glob, at)
        token = found.group() if found else glob[at : at + 1]
        if token.startswith(b"**") and _alone(glob, at, at + len(token)) and len(token) == 2:
            step, piece = _folders(glob, at)
            at += step
            out.append(piece)
            continue
        at += len(token)
        if token == b"{":
            depth += 1
            out.append(b"(?:")
        elif token == b"}":
            depth -= 1
            out.append(b")")
        else:
            out.append(b"|" if token == b"," and depth else _one(token))
        if depth < 0:
            raise BadGlob("a } without its {")
    if depth:
        raise BadGlob("a { without its }")
    return b"".join(out)


def _alone(glob: bytes, start: int, end: int) -> bool:
    """Whether a `**` is a whole part of the path."""
    return (start == 0 or glob[start - 1 : start] == b"/") and (end == len(glob) or glob[end : end + 1] == b"/")


def _folders(glob: bytes, at: int) -> tuple[int, bytes]:
    """What a `**` between slashes stands for, and how much of the glob that takes up."""
    if at + 2 == len(glob):
        return 2, b".*"
    return 3, b"(?:.*/)?"


def _one(token: bytes) -> bytes:
    first = token[:1]
    if first == b"*":
        return b"[^/]*"
    if first == b"?":
        return b"[^/]"
    if first == b"\\":
        if len(token) == 1:
            raise BadGlob("a backslash with nothing after it")
        return literal(token[1:])
    return _choice(token) if first == b"[" else literal(token)


def _choice(token: bytes) -> bytes:
    """A bracketed choice of characters."""
    if not token.endswith(b"]") or len(token.lstrip(b"[!^")) == 0 or token in (b"[]", b"[!]", b"[^]"):
        raise BadGlob("a [ without its ]")
    inner = token[1:-1]
    negated = inner[:1] in (b"!", b"^")
    inner = inner[1:] if negated else inner
    out: list[bytes] = []
    at = 0
    while at < len(inner):
        if inner[at : at + 1] == b"-" and 0 < at < len(inner) - 1:
            out.append(b"-")
            at += 1
            continue
        at += inner[at : at + 1] == b"\\" and at + 1 < len(inner)
        out.append(b"\\x%02x" % inner[at])
        at += 1
    return b"[" + (b"^" if negated else b"") + b"".join(out) + b"]"


def literal(text: bytes) -> bytes:
    """Text that stands for itself in an expression."""
    return b"".join(bytes((c,)) if c >= 0x80 or chr(c).isalnum() else b"\\x%02x" % c for c in text)


def quoted(path: str) -> str:
    """A path as a glob that stands for just that path."""
    return re.sub(r"([\\*?\[\]{},!#])", r"\\\1", path)


@cache
def options() -> Any:  # noqa: ANN401 - re2 has no types
    """Bytes, one by one: a name need not be UTF-8."""
    made = heavy("re2").Options()
    made.encoding = made.Encoding.LATIN1
    made.log_errors = False
    made.max_mem = 64 << 20
    return made


class Globs:
    """Many globs at once. `matches` gives the numbers of those that fit, in one pass."""

    def __init__(self, expressions: Iterable[bytes]) -> None:
        self._set = heavy("re2").Set.FullMatchSet(options())
        self.size = 0
        for expression in expressions:
            self._set.Add(expression)
            self.size += 1
        if self.size:
            self._set.Compile()

    def matches(self, path: bytes) -> list[int]:
        """The numbers of the globs that fit the whole path."""
        return self._set.Match(path) or [] if self.size else []


class Glob:
    """One glob, as a tool is given it: without a slash it fits a name in any folder, with one the whole path."""

    def __init__(self, glob: str) -> None:
        anchored = "/" in glob.rstrip("/")
        whole = glob.strip("/") if anchored else f"**/{glob}"
        whole = whole.removeprefix("./")
        try:
            self._expression = heavy("re2").compile(as_regex(os.fsencode(whole)), options())
        except (BadGlob, heavy("re2").error) as error:
            raise bad_glob(glob, error) from None

    def fits(self, path: str) -> bool:
        """Whether a path, relative to where one looks, fits."""
        return self._expression.fullmatch(os.fsencode(path)) is not None


def bad_glob(glob: str, error: Exception) -> ToolFailed:
    """The refusal of a glob."""
    return ToolFailed(
        f"{glob[:200]!r} is not a glob: {error}.", code="bad_pattern", hint="Examples: *.py, src/**/*.ts, *.{js,jsx}."
    )
