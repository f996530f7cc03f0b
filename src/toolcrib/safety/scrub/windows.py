"""How a long text is taken in pieces, so that a stream gives what one pass gives.

A window is looked at whole; it is given out up to a line end before its last part, never inside a find or between a
name and its value. Where windows lie depends only on the text, so the chunks in which it came make no difference.
"""

import re
from collections.abc import Sequence

from toolcrib.safety.scrub.blocks import KIND, goes_on, is_open
from toolcrib.safety.scrub.found import Found, merged

WINDOW = 16 * 1024  # characters that are looked at together, and so the most that a stream holds back
AHEAD = 2 * 1024  # the end of a window, which is looked at again with what follows it
_CONTEXT = 160  # before a find: its name, its program


def cut(text: str, finds: Sequence[Found], ahead: int) -> int:
    """Up to where a full window is given out."""
    at = _line_end(text, len(text) - ahead)
    for number in reversed(range(len(finds))):
        find = finds[number]
        if find.start - _CONTEXT < at < find.end:
            behind = finds[number - 1].end if number else 0  # a name stands between two finds
            at = max(behind, _line_end(text, max(behind, find.start - _CONTEXT)))
    return at or finds[0].end


def _line_end(text: str, limit: int) -> int:
    """Behind the last line end before the limit; else behind the last blank; else the limit."""
    at = text.rfind("\n", limit // 2, limit)
    if at < 0:
        at = text.rfind(" ", limit // 2, limit)
    return at + 1 if at >= 0 else limit


_RUN = re.compile(r"[A-Za-z0-9_+/=.%~-]*")


def left_open(part: str, size: int, finds: Sequence[Found]) -> Found | None:
    """The secret that fills a whole window to its end, and so may go on in the next."""
    if not finds or finds[-1].end < size or finds[-1].start >= size:
        return None
    return finds[-1] if is_open(part[size:]) else None


def continued(part: str, finds: Sequence[Found], before: Found | None) -> Sequence[Found]:
    """The finds of a window, with what it holds of a secret that began in an earlier one."""
    if before is None:
        return finds
    run = _RUN.match(part)
    end = goes_on(part, 0) if before.kind == KIND or run is None else run.end()
    return merged([Found(0, end, before.rank, before.kind), *finds]) if end else finds
