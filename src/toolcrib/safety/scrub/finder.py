"""Finds rows of patterns in a text in linear time: RE2 over all of them, or Python's `re` at each row's literal.

Text is looked at as Latin-1 with one byte a character, so that places are the same in both.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from msgspec import Struct

from toolcrib.core.heavy import heavy

_FEW = 10  # repetitions that may be counted


class Row(Struct, frozen=True):
    """A literal, and what follows it as a pattern that both engines know."""

    literal: bytes
    rest: bytes = b""
    bound: bool = False  # no letter and no digit may stand before it
    kind: str = ""
    before: str = ""  # what stands before it, for Python's `re`; group 1 belongs to the match


class View(Struct, frozen=True):
    """A text and the same as bytes, place by place."""

    text: str
    data: bytes


def view(text: str) -> View:
    """The two sides of a text."""
    return View(text, text.encode("latin-1", "replace"))


class Finder:
    """The places where one of the rows matches: the leftmost first, none inside another."""

    def __init__(self, rows: Sequence[Row], *, fold: bool = False, engine: bool = True) -> None:
        self._fold = fold
        self.pattern = (b"(?i:%s)" if fold else b"(?:%s)") % _joined(rows)
        made = compiled(self.pattern) if engine else None
        self._iterate = made.finditer if made is not None else None
        self._rows = [] if made is not None else [(row, _python(row, fold=fold)) for row in rows]

    @property
    def linear(self) -> bool:
        """Whether RE2 does the work."""
        return self._iterate is not None

    def spans(self, data: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
        """Beginning and end of each match; a bound row's beginning may lie on what is before it."""
        if self._iterate is None:
            yield from self._windowed(data, start)
            return
        for found in self._iterate(data, start):
            yield found.span()

    def places(self, data: bytes) -> Generator[int, int | None, None]:
        """Where a match begins, also inside another; what is sent back is where to go on."""
        if self._iterate is None:
            yield from self._windowed_places(data)
            return
        at = 0
        while (found := next(self._iterate(data, at), None)) is not None:
            begin: int = found.start()
            at = (yield begin) or begin + 1

    def _windowed_places(self, data: bytes) -> Generator[int, int | None, None]:
        at = 0
        for begin in sorted({begin for begin, _, _ in self._hits(data, 0)}):
            if begin >= at:
                at = (yield begin) or at

    def _windowed(self, data: bytes, start: int) -> Iterator[tuple[int, int]]:
        last = start
        for begin, _, end in sorted(self._hits(data, start)):
            if begin >= last:
                yield begin, end
                last = end

    def _hits(self, data: bytes, start: int) -> list[tuple[int, int, int]]:
        """The fall-back: every place of every literal, then the row's pattern there."""
        folded = data.lower() if self._fold else data
        hits: list[tuple[int, int, int]] = []
        for order, (row, pattern) in enumerate(self._rows):
            literal = row.literal
            if not literal:  # nothing to look for: the pattern is cheap enough to run over all
                hits += ((found.start(), order, found.end()) for found in pattern.finditer(data, start))
                continue
            at = folded.find(literal, start)
            while at >= 0:
                found = pattern.match(data, at)
                if found is not None and not (row.bound and is_joined(data, at)):
                    hits.append((at, order, found.end()))
                at = folded.find(literal, at + 1)
        return hits


def is_joined(data: bytes, at: int) -> bool:
    """Whether a letter or digit stands before, which is not the end of an escape for a line end."""
    if at == 0 or not data[at - 1 : at].isalnum():
        return False
    return not (data[at - 1 : at] in {b"n", b"r", b"t"} and at > 1 and data[at - 2 : at - 1] == b"\\")


def _python(row: Row, *, fold: bool) -> re.Pattern[bytes]:
    return re.compile(re.escape(row.literal) + row.rest, re.IGNORECASE if fold else 0)


def compiled(pattern: bytes) -> Any:  # noqa: ANN401 - RE2 has no types
    """The pattern as an RE2, or None where it is not installed."""
    try:
        re2 = heavy("re2")
    except ModuleNotFoundError:
        return None
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.max_mem = 64 << 20
    return re2.compile(pattern, options)


def _joined(rows: Sequence[Row]) -> bytes:
    free = [escaped(row.literal) + _relaxed(row.rest) for row in rows if not row.bound]
    bound = [escaped(row.literal) + _relaxed(row.rest) for row in rows if row.bound]
    if bound:
        free.append(rb"(?:\A|[^A-Za-z0-9]|\\[nrt])(?:" + b"|".join(bound) + b")")
    return b"|".join(free)


_COUNT = re.compile(rb"\{(\d+),(\d+)\}")


def _relaxed(pattern: bytes) -> bytes:
    """Without upper counts: each would be a state of RE2's for every place, and the search no longer one pass."""

    def put(found: re.Match[bytes]) -> bytes:
        low, high = int(found[1]), int(found[2])
        return found[0] if high < _FEW else {0: b"*", 1: b"+"}.get(low, b"{%d,}" % low)

    return _COUNT.sub(put, pattern)


def escaped(literal: bytes) -> bytes:
    """The literal for RE2."""
    return b"".join(b"\\x%02x" % byte if not chr(byte).isalnum() else bytes((byte,)) for byte in literal)
