"""Tokens that a provider gave a shape of its own."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.finder import view as make_view
from toolcrib.safety.scrub.found import PROVIDER, Found
from toolcrib.safety.scrub.hidden import Replaced
from toolcrib.safety.scrub.providers import BOUND, INNER, MARKS
from toolcrib.safety.scrub.values import is_placeholder, is_random

ROWS: tuple[Row, ...] = (
    *(Row(literal.encode(), rest.encode(), kind=kind) for kind, literal, rest in MARKS),
    *(Row(literal.encode(), rest.encode(), kind=kind, before=before) for kind, literal, rest, before in INNER),
    *(Row(literal.encode(), rest.encode(), bound=True, kind=kind) for kind, literal, rest in BOUND),
)
_BY_LITERAL = {row.literal: row for row in reversed(ROWS)}
_SIZES = sorted({len(row.literal) for row in ROWS}, reverse=True)
_REACH = 120  # characters that may stand before an inner literal
# Kinds whose shape is short: they must also read like no word.
_DOUBTED = frozenset(
    {"openai", "vault", "resend", "lob", "launchdarkly", "alibaba", "voyage", "yandex", "brave", "nuget"}
)

_PIECES = 6
_RUN = re.compile(r"[A-Za-z0-9_+/=.\-]*")
_BREAK = re.compile(r"[A-Za-z0-9_+/=.\-]*(\\?\r?\n)(?=[A-Za-z0-9_+/=\-])")
_JOIN = rb"[A-Za-z0-9_+/=.\-]*\\?\r?\n[A-Za-z0-9_+/=\-]{3}"
_NO_JOIN = frozenset({"lob", "vault", "resend", "launchdarkly", "openai-old", "yandex", "voyage", "octopus", "discord"})


def _searched(row: Row) -> Row:
    """The row as it is searched: whole, or broken at a line end."""
    if row.before or len(row.literal) < 3 or row.kind in _NO_JOIN:
        return row
    return Row(row.literal, b"(?:" + row.rest + b"|" + _JOIN + b")", bound=row.bound, kind=row.kind)


class Tokens:
    """The pass over provider tokens."""

    def __init__(self, *, engine: bool = True) -> None:
        self.finder = Finder([_searched(row) for row in ROWS], engine=engine)

    def finds(self, view: View) -> Iterator[Found]:
        """Every token in the text."""
        text, data = view.text, view.data
        for begin, end in self.finder.spans(data):
            start, row = _row_at(data, begin)
            if row is None:
                continue
            broken = text.find("\n", start, end)
            if broken >= 0:
                yield from self._joined(text, start)
                continue
            find = _read(text, start, end, row)
            if find is None:
                continue
            yield find
            if text[end : end + 1] in {"\n", "\r", "\\"} and not row.before and _is_full(text, end):
                yield from self._joined(text, start)

    def _joined(self, text: str, start: int) -> Iterator[Found]:
        """With one more line each time, until the pieces are a token and the last line was not full."""
        best: Found | None = None
        places: list[tuple[int, int, str]] = []
        at = start
        width = 0
        while len(places) < _PIECES and (found := _BREAK.match(text, at)) is not None:
            here = found.start(1) - (text.rfind("\n", 0, at) + 1)
            if best is not None and here != width:
                break
            width = max(width, here)
            places.append((found.start(1) - start, found.end(1) - start, ""))
            last = _RUN.match(text, found.end())
            at = found.end()
            whole = Replaced(text[start : last.end() if last is not None else at], places)
            for find in self.finds(make_view(whole.text)):
                if find.start == 0:
                    best = whole.back(find)
                    best = Found(best.start + start, best.end + start, best.rank, best.kind)
        if best is not None:
            yield best


def _read(text: str, start: int, end: int, row: Row) -> Found | None:
    """The find at a match, with what stands before its literal."""
    if row.before:
        found = re.search(row.before, text[max(0, start - _REACH) : start])
        if found is None:
            return None
        start -= len(found.group(1))
    if end - start > 24:
        end = start + len(text[start:end].rstrip(".-"))
    return Found(start, end, PROVIDER, row.kind) if _is_token(text[start:end], row) else None


def _is_full(text: str, edge: int) -> bool:
    """Whether the line is as long as a terminal is wide, and what follows does not read like a new line."""
    line = text.rfind("\n", 0, edge) + 1
    run = _RUN.match(text, text.find("\n", edge) + 1)
    return edge - line >= 60 and run is not None and is_random(run.group())


def _row_at(data: bytes, begin: int) -> tuple[int, Row | None]:
    """The row that matched: its literal stands at the beginning, or after what is before it."""
    for start in (begin, begin + 1, begin + 2):
        for size in _SIZES:
            row = _BY_LITERAL.get(data[start : start + size])
            if row is not None and (start == begin or row.bound):
                return start, row
    return begin, None


def _is_token(token: str, row: Row) -> bool:
    body = token[len(row.literal) :] if not row.before else token
    if is_placeholder(body) and (len(set(body.lower())) <= 2 or _is_example(token)):
        return False
    return row.kind not in _DOUBTED or ((any(c.isdigit() for c in body) or "-" not in body) and is_random(body))


_EXAMPLE = re.compile(r"(?i)example|x{5,}|your|placeholder|redacted|dummy|\*{3}|0{12,}")


def _is_example(token: str) -> bool:
    return _EXAMPLE.search(token) is not None
