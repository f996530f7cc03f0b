"""Tokens of providers that no table knows: a short prefix and a long stretch that nobody would write; pairs of hex numbers."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.found import DECODED, Found

_LONG = 34  # letters and digits after the prefix, at least
_TURNS, _CASES = 5, 6  # changes between digit and letter, and between the cases: names have fewer
_EDGE = rb"(?:\A|[^A-Za-z0-9_./+-]|\\[nrt])"
# What is searched counts little, so that it stays one pass; the shapes are matched where it hits.
_PREFIXED = Row(b"", _EDGE + rb"[a-z][a-z0-9]*[_-](?:[A-Za-z0-9_-]*[0-9][A-Za-z]){4}[A-Za-z0-9_-]*")
_PAIRED = Row(
    b"",
    _EDGE
    + rb"(?:[0-9a-f]{8}[0-9a-f]*(?:-[0-9a-f]{8}-[0-9a-f]{8}|\.[A-Za-z0-9]{16}|:[0-9a-f]{16})|[0-9]{8}[0-9]*\|[A-Za-z0-9_-]{16}"
    + rb"|[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{16}|[MNO][A-Za-z0-9_-]+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{16}"
    + rb"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:[0-9a-f]{16})",
)
_PAIR = re.compile(
    r"(?:[0-9a-f]{32}(?:-[0-9a-f]{8}-[0-9a-f]{8}|\.[A-Za-z0-9]{16})|[0-9a-f]{24}:[0-9a-f]{64}|[0-9]{15,16}\|[A-Za-z0-9_-]{27}"
    r"|[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}|[MNO][A-Za-z0-9]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}:[0-9a-f]{32})(?![A-Za-z0-9_-])"
)
_PREFIX = re.compile("[a-z][a-z0-9]{1,7}[_-]")
_TURN = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
_CASE = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_NO_SECRET = re.compile(r"sha\d|md5|h1-|v\d|id|ref|css|chunk|urn|req|trace|span|commit|rev|etag|cache")
RUNS = _PREFIXED.rest + b"|" + _PAIRED.rest


class Shaped:
    """The pass over these."""

    def __init__(self, *, engine: bool = True) -> None:
        self._prefixed = Finder([_PREFIXED], engine=engine)
        self._paired = Finder([_PAIRED], engine=engine)

    def finds(self, view: View) -> Iterator[Found]:
        """Every stretch that is shaped like a token."""
        text = view.text
        for begin, end in self._prefixed.spans(view.data):
            start = _start(text, begin)
            if _is_token(text[start:end]):
                yield Found(start, end, DECODED, "token")
        for begin, _ in self._paired.spans(view.data):
            found = _PAIR.match(text, _start(text, begin))
            if found is not None:
                yield Found(found.start(), found.end(), DECODED, "token")


def _start(text: str, begin: int) -> int:
    if text[begin] == "\\":
        return begin + 2
    return begin if text[begin].isalnum() else begin + 1


def _is_token(run: str) -> bool:
    """Whether what follows the prefix changes between cases and digits as no name does."""
    prefix = _PREFIX.match(run)
    if prefix is None or _NO_SECRET.match(run):
        return False
    body = run[prefix.end() :]
    marks = body.count("_") + body.count("-")
    return (
        len(body) - marks >= _LONG
        and marks * 8 <= len(body)
        and len(_TURN.findall(body)) >= _TURNS
        and len(_CASE.findall(body)) >= _CASES
    )
