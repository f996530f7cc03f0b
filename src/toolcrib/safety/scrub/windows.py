"""How a long text is taken in pieces, so that a stream gives what one pass gives.

A window is looked at whole; it is given out up to a line end before its last part, never inside a find or between a
name and its value. Where windows lie depends only on the text, so the chunks in which it came make no difference.
"""

from collections.abc import Sequence

from toolcrib.safety.scrub.found import Found

WINDOW = 16 * 1024  # characters that are looked at together, and so the most that a stream holds back
AHEAD = 2 * 1024  # the end of a window, which is looked at again with what follows it
_CONTEXT = 160  # before a find: its name, its program


def cut(text: str, finds: Sequence[Found], ahead: int) -> int:
    """Up to where a full window is given out."""
    at = _line_end(text, len(text) - ahead)
    for find in reversed(finds):
        if find.start - _CONTEXT < at < find.end:
            at = _line_end(text, max(0, find.start - _CONTEXT))
    if at <= 0:  # finds from beginning to end: give out the first ones
        at = next((find.end for find in finds if find.end > _CONTEXT), len(text) - ahead)
    return next((find.end for find in finds if find.start < at < find.end), at)


def _line_end(text: str, limit: int) -> int:
    """Behind the last line end before the limit; else behind the last blank; else the limit."""
    at = text.rfind("\n", limit // 2, limit)
    if at < 0:
        at = text.rfind(" ", limit // 2, limit)
    return at + 1 if at >= 0 else limit
