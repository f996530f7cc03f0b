"""Tokens that a provider gave a shape of its own."""

import re
from collections.abc import Generator, Iterator

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
_TERMINAL = 60  # columns from which on a line may be one that a terminal broke
_RUN = re.compile(r"[A-Za-z0-9_+/=.\-]*")
_BREAK = re.compile(r"[A-Za-z0-9_+/=.\-]*(\\?\r?\n)(?=[A-Za-z0-9_+/=\-])")
_JOIN = rb"[A-Za-z0-9_+/=.\-]*\\?\r?\n[A-Za-z0-9_+/=\-]{3}"
_NO_JOIN = frozenset({"lob", "vault", "resend", "launchdarkly", "yandex", "voyage", "octopus", "discord"})
_BEGINNINGS = tuple(literal for _, literal, _ in (*MARKS, *BOUND) if len(literal) > 3 or literal == "sk-")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]+")


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
        at: int | None = 0
        while at is not None:
            at = yield from self._until_broken(text, data, at)

    def _until_broken(self, text: str, data: bytes, at: int) -> Generator[Found, None, int | None]:
        """The tokens up to one that a line end may have broken; gives where to go on."""
        for begin, end in self.finder.spans(data, at):
            start, row = _row_at(data, begin)
            if row is None:
                continue
            broken = text.find("\n", start, end)
            find = _read(text, start, end, row) if broken < 0 else self._broken(text, begin, start, broken)
            if find is not None and broken < 0 and not row.before and text[end : end + 1] in {"\n", "\r", "\\"}:
                find = self._joined(text, start, find)
            if find is not None:
                yield find
            after = end if find is None else find.end
            if broken >= 0 or after > end:
                return max(broken, after if find is not None else 0)
        return None

    def _broken(self, text: str, begin: int, start: int, line_end: int) -> Found | None:
        """What stands before a line end that the match reached over, with the next lines if it goes on there."""
        whole = next(self.finds(make_view(text[begin:line_end])), None)
        if whole is not None:
            whole = Found(whole.start + begin, whole.end + begin, whole.rank, whole.kind)
        joined = self._joined(text, start, whole if whole is None or whole.start == start else None)
        return joined or whole

    def _joined(self, text: str, start: int, best: Found | None) -> Found | None:
        """With one more line each time, for as long as a line goes on in the next. `best`: what the first one holds."""
        places: list[tuple[int, int, str]] = []
        at, width = start, 0
        while len(places) < _PIECES and (found := _BREAK.match(text, at)) is not None:
            here = found.start(1) - (text.rfind("\n", 0, at) + 1)
            run = _RUN.match(text, found.end())
            if (
                run is None
                or (places and best is not None and here < width)
                or not _goes_on(text, found, run, here, best)
            ):
                break
            width = here
            places.append((found.start(1) - start, found.end(1) - start, ""))
            at = found.end()
            whole = Replaced(text[start : run.end()], places)
            for find in self.finds(make_view(whole.text)):
                if find.start == 0:
                    old = whole.back(find)
                    best = Found(old.start + start, old.end + start, old.rank, old.kind)
        return best


def _goes_on(text: str, found: re.Match[str], run: re.Match[str], width: int, best: Found | None) -> bool:
    """Whether the next line is the rest of this one: it was continued by hand, or broken where a terminal ends.

    The rest must not read like words. A line that is too short for a terminal is gone on with only when there is no
    token without it, or when the rest fills a line by itself and is no hash.
    """
    rest = run.group()
    if found[1].startswith("\\"):
        return True
    if rest.startswith(_BEGINNINGS) or not (is_random(rest) or (len(rest) < 12 and _is_mixed(rest))):
        return False
    if width >= _TERMINAL or best is None:
        return True
    alone = text[run.end() : run.end() + 1] in {"", "\n", "\r"}
    return alone and len(rest) >= 12 and _is_mixed(rest) and not _HEX.fullmatch(rest)


def _is_mixed(run: str) -> bool:
    return any(c.isdigit() for c in run) and any(c.isalpha() for c in run)


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
