"""Tokens that a provider gave a shape of its own."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.found import PROVIDER, Found
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
_DOUBTED = frozenset({"openai", "vault", "resend", "lob", "launchdarkly", "alibaba", "voyage", "yandex", "brave", "nuget"})


class Tokens:
    """The pass over provider tokens."""

    def __init__(self, *, engine: bool = True) -> None:
        self._finder = Finder(ROWS, engine=engine)

    def finds(self, view: View) -> Iterator[Found]:
        """Every token in the text."""
        text, data = view.text, view.data
        for begin, end in self._finder.spans(data):
            start, row = _row_at(data, begin)
            if row is None:
                continue
            if row.before:
                found = re.search(row.before, text[max(0, start - _REACH) : start])
                if found is None:
                    continue
                start -= len(found.group(1))
            if data[end - 1 : end] in b".-_" and end - start > 24:
                end = start + len(text[start:end].rstrip(".-")) or end
            if _is_token(text[start:end], row):
                yield Found(start, end, PROVIDER, row.kind)


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
    return row.kind not in _DOUBTED or (any(c.isdigit() for c in body) or "-" not in body) and is_random(body)


_EXAMPLE = re.compile(r"(?i)example|x{5,}|your|placeholder|redacted|dummy|\*{3}|0{12,}")


def _is_example(token: str) -> bool:
    return _EXAMPLE.search(token) is not None
