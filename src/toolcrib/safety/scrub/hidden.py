"""Characters that a reader does not see or that a terminal put in, taken out with the way back to their places."""

import re
from bisect import bisect_right
from collections.abc import Iterable

from toolcrib.safety.scrub.found import Found

_ANSI = r"\x1b(?:\[[0-9;:?<=>!]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)|[@-Z\\^_=>()][A-B0-2]?)"
_ZERO = "\u00ad\u034f\u061c\u115f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
HIDDEN = re.compile(f"{_ANSI}|[{_ZERO}]+")
_SEEN = re.compile(f"\x1b|[{_ZERO}]")


class Replaced:
    """A text in which pieces were replaced or left out, and the places of what is left."""

    def __init__(self, text: str, pieces: Iterable[tuple[int, int, str]]) -> None:
        told: list[str] = []
        self._here: list[int] = [0]  # where a stretch begins in the new text
        self._there: list[tuple[int, int]] = [(0, 1)]  # the same in the old one, and how many old characters one is
        at = size = 0
        for start, end, new in pieces:
            told += (text[at:start], new)
            size += start - at
            if new:
                self._here.append(size)
                self._there.append((start, end - start))
                size += len(new)
            self._here.append(size)
            self._there.append((end, 1))
            at = end
        told.append(text[at:])
        self.text = "".join(told)

    def back(self, find: Found) -> Found:
        """The same find in the old text; its end is behind the last character that belongs to it."""
        return Found(self._place(find.start), self._place(find.end - 1, last=True), find.rank, find.kind)

    def _place(self, at: int, *, last: bool = False) -> int:
        number = bisect_right(self._here, at) - 1
        there, each = self._there[number]
        if each != 1:
            return there + each if last else there
        return there + at - self._here[number] + last


def has_hidden(text: str) -> bool:
    """Whether the text has characters that a reader does not see."""
    if text.isascii():
        return "\x1b" in text
    return _SEEN.search(text) is not None


def without_hidden(text: str) -> Replaced:
    """The text as a reader sees it."""
    return Replaced(text, ((found.start(), found.end(), "") for found in HIDDEN.finditer(text)))
