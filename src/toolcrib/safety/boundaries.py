r"""Word boundaries that know all of Unicode, for RE2, whose `\b` knows ASCII only.

A line gets a mark before each character and at its end: one mark where a word begins or ends, another where none
does. In the pattern `\b` and `\B` become those marks, and every other piece passes over one.

    line     été 1       ──►   ◆é·t·é◆ ◆1◆
    pattern  \bé.        ──►   ◆(?:[◆·]?é)(?:[◆·]?.)
"""

import unicodedata
from collections.abc import Iterator
from functools import cache

from toolcrib.safety.patterns import pieces, within

EDGE, INNER = "\ue000", "\ue001"  # private use: no text means anything by them
_MARKS = r"\x{e000}\x{e001}"
_PLAIN = {r"\b": "(?:)", r"\B": "(?:)"}
_MARKED = {r"\b": r"\x{e000}", r"\B": r"\x{e001}", "$": rf"[{_MARKS}]?$", r"\z": rf"[{_MARKS}]?\z"}
_JOINTS = frozenset({"^", "|", "(", ")", "*", "+", "?", r"\A"})
_RAW = {"{": "}", "(?": ":>)"}  # what begins it, what may end it: repetitions, and the head of a group
_WORD = ("L", "M", "Nd", "Nl", "Pc")


def bounded(pattern: str) -> bool:
    r"""Whether a pattern holds `\b` or `\B`."""
    return any(piece in _PLAIN and not inside for piece, inside in pieces(pattern))


def loose(pattern: str) -> str:
    """The pattern without its boundaries: it matches every line that the pattern matches, and others."""
    return "".join(_PLAIN[piece] if piece in _PLAIN and not inside else piece for piece, inside in pieces(pattern))


def for_marked(pattern: str) -> str:
    """The pattern for a line with marks, as RE2 takes it."""
    out: list[str] = []
    raw = before = ""
    opened = False
    for piece, inside in pieces(pattern):
        if raw:
            raw = "" if piece in raw else raw
            out.append(piece)
        elif inside:
            out.append(
                _barring(within(piece, inside=True))
                if opened
                else rf"(?:[{_MARKS}]?" + _barring(within(piece, inside=True))
            )
            opened = piece != "]"
            out.append("" if opened else ")")
        else:
            raw = _RAW.get(before + piece if piece == "?" else piece, "")
            out.append(piece if raw or piece in _JOINTS else _MARKED.get(piece) or rf"(?:[{_MARKS}]?{_one(piece)})")
        before = piece
    return "".join(out)


def _one(piece: str) -> str:
    if piece.startswith(r"\P"):
        return rf"[^{_MARKS}\p{piece[2:]}]"
    return _barring(within(piece, inside=False))


def _barring(written: str) -> str:
    """A negated class that does not take a mark for a character."""
    return rf"[^{_MARKS}{written[2:]}" if written.startswith("[^") else written


def marked(line: str) -> str:
    """The line with its marks."""
    return "".join(_marked(line))


def _marked(line: str) -> Iterator[str]:
    inside = False
    for character in line:
        word = _is_word(character)
        yield EDGE if word is not inside else INNER
        yield character
        inside = word
    yield EDGE if inside else INNER


@cache
def _is_word(character: str) -> bool:
    return unicodedata.category(character).startswith(_WORD)


def column(marked_line: bytes, at: int) -> int:
    """Where a place in a marked line is in the line itself."""
    before = marked_line[:at]
    return at - 3 * (before.count(EDGE.encode()) + before.count(INNER.encode()))
