"""Tokens that a provider gave a shape of its own."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View, is_joined
from toolcrib.safety.scrub.finder import view as make_view
from toolcrib.safety.scrub.found import PROVIDER, Found
from toolcrib.safety.scrub.hidden import Replaced
from toolcrib.safety.scrub.providers import BOUND, INNER, MARKS, U
from toolcrib.safety.scrub.values import is_placeholder, is_random

ROWS: tuple[Row, ...] = (
    *(Row(literal.encode(), rest.encode(), kind=kind) for kind, literal, rest in MARKS),
    *(Row(literal.encode(), rest.encode(), kind=kind, before=before) for kind, literal, rest, before in INNER),
    *(Row(literal.encode(), rest.encode(), bound=True, kind=kind) for kind, literal, rest in BOUND),
)
_UUID = U.encode()
# For each first letter how long the literals are that begin with it, the longest first.
_SIZES = {
    first: sorted({len(row.literal) for row in ROWS if row.literal[:1] == first}, reverse=True)
    for first in {row.literal[:1] for row in ROWS}
}
_REACH = 120  # characters that may stand before an inner literal
# Kinds whose shape is short: they must also read like no word.
_DOUBTED = frozenset(
    {
        "openai",
        "vault",
        "resend",
        "lob",
        "launchdarkly",
        "alibaba",
        "voyage",
        "yandex",
        "brave",
        "nuget",
        "appveyor",
        "checkout",
        "ntfy",
    }
)
# Kinds whose beginning is so short that the rest must have letters of both cases and digits.
_MIXED = frozenset(
    {"litellm", "composio", "modal", "roboflow", "crates", "flagsmith", "mollie", "gocardless", "bitcoin"}
    | {"mandrill", "fauna", "secret-key", "sanity", "adafruit", "netbird", "honeybadger"}
    | {"okta", "airtable-key", "beamer", "chargebee", "gemfury", "ionic", "mem0", "clickhouse", "dub"}
)

_PIECES = 6
_TRIES = 24  # beginnings in one run of letters that are looked at: no token has so many in front of it
_TERMINAL = 60  # columns from which on a line may be one that a terminal broke
_RUN = re.compile(r"[A-Za-z0-9_+/=.\-]*")
_BREAK = re.compile(r"[A-Za-z0-9_+/=.\-]*(\\?\r?\n)(?=[A-Za-z0-9_+/=\-])")
_NO_JOIN = frozenset({"lob", "vault", "resend", "launchdarkly", "yandex", "voyage", "octopus", "discord"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]{60,76}\r?")
_BEGINNINGS = tuple(literal for _, literal, _ in (*MARKS, *BOUND) if len(literal) > 3 or literal == "sk-")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]+")


def _searched(row: Row) -> Row:
    """The row as it is searched: only its beginning, which a line end may break. The whole is matched where it stands."""
    if row.before:
        return Row(row.literal, b"[A-Za-z0-9_~.-]" if row.rest else b"")
    if row.rest.startswith(_UUID):
        return Row(row.literal, b"[0-9a-fA-F]{8}-", bound=row.bound)
    size = 10 if len(row.literal) < 4 else 4
    return Row(row.literal, rb"[A-Za-z0-9_+/=.%%~\\\r\n-]{%d}" % size, bound=row.bound)


def _by_literal() -> dict[bytes, list[tuple[Row, re.Pattern[bytes]]]]:
    table: dict[bytes, list[tuple[Row, re.Pattern[bytes]]]] = {}
    for row in ROWS:
        table.setdefault(row.literal, []).append((row, re.compile(re.escape(row.literal) + row.rest)))
    return table


class Tokens:
    """The pass over provider tokens."""

    def __init__(self, *, engine: bool = True) -> None:
        self.finder = Finder([_searched(row) for row in ROWS], engine=engine)
        self._rows = _by_literal()

    def finds(self, view: View) -> Iterator[Found]:
        """Every token in the text."""
        places = self.finder.places(view.data)
        begin = next(places, None)
        tries = end = 0
        while begin is not None:
            if begin >= end:
                run = _RUN.match(view.text, begin + 1)
                tries, end = 0, begin if run is None else run.end()
            tries += 1
            find = self._at(view, begin)
            if find is not None:
                yield find
            try:
                begin = places.send(find.end if find is not None else end if tries > _TRIES else None)
            except StopIteration:
                return

    def _at(self, view: View, begin: int) -> Found | None:
        """The token at a place: behind its boundary, if the match has one."""
        text, data = view.text, view.data
        for start in (begin, begin + 1, begin + 2):
            for row, pattern in self._candidates(data, start):
                if len(row.literal) < 5 and _is_inside(text, start):
                    continue
                found = pattern.match(data, start)
                find = None if found is None else _read(text, start, found.end(), row)
                if not row.before and row.kind not in _NO_JOIN and len(row.literal) > 2:
                    find = self._joined(text, start, find)
                if find is not None:
                    return find
        return None

    def _candidates(self, data: bytes, start: int) -> Iterator[tuple[Row, re.Pattern[bytes]]]:
        """The rows whose literal stands here, the longest first: `sk-proj-` says more than `sk-`."""
        for size in _SIZES.get(data[start : start + 1], ()):
            for each in self._rows.get(data[start : start + size], ()):
                if not (each[0].bound and is_joined(data, start)):
                    yield each

    def _joined(self, text: str, start: int, best: Found | None) -> Found | None:
        """With one more line each time, for as long as a line goes on in the next. `best`: what the first one holds."""
        places: list[tuple[int, int, str]] = []
        at, width = start, 0
        if best is not None and text[best.end : best.end + 1] not in {"\n", "\r", "\\"}:
            return best
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


def _is_inside(text: str, start: int) -> bool:
    """Whether this is a line of a block of base64, where every short beginning turns up some day."""
    line = text.rfind("\n", max(0, start - 80), max(0, start - 1)) + 1
    return text[start - 1 : start] == "\n" and _BASE64.fullmatch(text, line, start - 1) is not None


def _is_token(token: str, row: Row) -> bool:
    body = token[len(row.literal) :] if not row.before else token
    if is_placeholder(body) and (len(set(body.lower())) <= 2 or _is_example(token)):
        return False
    if row.kind in _MIXED and (
        body.upper() == body or body == body.lower() or not (any(map(str.isdigit, body)) or _changes(body))
    ):
        return False
    return row.kind not in (_DOUBTED | _MIXED) or (
        (any(c.isdigit() for c in body) or "-" not in body) and is_random(body)
    )


def _changes(body: str) -> bool:
    """Whether the cases change more often than in a name."""
    return len(_CASE.findall(body)) * 3 >= len(body)


_CASE = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_EXAMPLE = re.compile(r"(?i)example|x{5,}|your|placeholder|redacted|dummy|\*{3}|0{12,}")


def _is_example(token: str) -> bool:
    return _EXAMPLE.search(token) is not None
