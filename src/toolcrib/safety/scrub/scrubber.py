"""Takes credentials out of text: registered values first, then tokens, names, forms and encodings.

    scrub = Scrubber()
    scrub.add("MAIL_PASSWORD", value)  # from now on it leaves nowhere, in any of its encodings
    scrub("text")                      # the text with `[REDACTED:kind:xxxx]` for each secret
    scrub.forget("MAIL_PASSWORD")

Whoever learns a secret (the vault, the configuration, a prompt) adds it before it hands it out. All of this may be
called from any thread.
"""

import os
from collections.abc import Iterable, Sequence
from functools import cache

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.safety.scrub.finder import view as _view
from toolcrib.safety.scrub.found import Found, merged
from toolcrib.safety.scrub.marks import Marks
from toolcrib.safety.scrub.registered import SHORTEST, Registered
from toolcrib.safety.scrub.windows import AHEAD, WINDOW, continued, cut, left_open
from toolcrib.services.content.marks import BEGINS

_REMEMBERED = 64  # characters of a text that is known to be clean: field names and short answers come again and again
_MOST_REMEMBERED = 4096


@cache
def _rules(engine: bool):  # noqa: ANN202, FBT001 - built once a process, when the first text needs it
    return heavy("toolcrib.safety.scrub.rules").Rules(engine=engine)


class Scrubber:
    """One session's scrubber: its registered values, its marks, and the rules that all sessions share."""

    def __init__(
        self, dynamic: Iterable[tuple[str, str]] = (), *, key: bytes | None = None, engine: bool = True
    ) -> None:
        self._registered = Registered(dynamic, engine=engine)
        self._marks = Marks(key or os.urandom(32))
        self._engine = engine
        self._clean: set[str] = set()
        self._may_hold = self._first

    def __call__(self, text: str) -> str:
        size = len(text)
        clean = self._clean  # a value that is added meanwhile makes a new one
        if size < SHORTEST or (size <= _REMEMBERED and text in clean):
            return text
        if size <= WINDOW:
            scrubbed = text if self._is_clean(text) else self.marked(text, self.finds(text))
        else:
            stream = Stream(self)
            scrubbed = stream.feed(text) + stream.end()
        if size <= _REMEMBERED and scrubbed is text:
            self._remember(clean, text)
        return scrubbed

    def scan(self, text: str) -> tuple[str, list[Found]]:
        """The scrubbed text, and where in the given one the secrets stand."""
        stream = Stream(self, keep=True)
        scrubbed = stream.feed(text) + stream.end()
        return scrubbed, stream.found

    def stream(self, *, keep: bool = False) -> "Stream":
        """A scrubber for text that comes in chunks. `keep`: its `found` says where the secrets stand."""
        return Stream(self, keep=keep)

    def add(self, name: str, value: str) -> None:
        """Take out this value, raw and encoded, from now on; values under 6 characters are left alone."""
        self._registered.add(name, value)
        self._clean = set()

    def forget(self, name: str) -> None:
        """Leave the value of this name alone from now on."""
        self._registered.forget(name)

    def restore(self, text: str) -> str:
        """The text with the secrets of this session's marks put back."""
        return self._marks.restore(text)

    def restored(self, text: str, held: str = "") -> str:
        """The same for a file that is written; refuses a mark that is not known here and does not stand in `held`."""
        if BEGINS not in text:
            return text
        if mark := self._marks.stranger(text, held):
            raise ToolFailed(
                f"Nothing was written: {mark} stands for no secret that is known here, and the file would lose its own.",
                code="unknown_mark",
                hint="Read the file again and use the mark that it shows now, or change only the text around it.",
            )
        return self._marks.restore(text)

    def finds(self, text: str) -> list[Found]:
        """The secrets of one window."""
        rules = _rules(self._engine)
        view = rules.view(text)
        finds = rules.finds(view)
        if self._registered:
            finds = [*self._registered.finds(view), *finds]
        return merged(finds)

    def marked(self, text: str, finds: Sequence[Found]) -> str:
        """The text with marks in the places of the finds."""
        if not finds:
            return text
        pieces: list[str] = []
        at = 0
        for find in finds:
            pieces += (text[at : find.start], self._marks.of(find.kind, text[find.start : find.end]))
            at = find.end
        return "".join((*pieces, text[at:]))

    def ahead(self) -> int:
        """How much of a window's end is looked at again: any registered value must fit."""
        return max(AHEAD, self._registered.longest) if self._registered else AHEAD

    def _is_clean(self, text: str) -> bool:
        if self._may_hold(text):
            return False
        return not self._registered or not self._registered.hits(_view(text))

    def _remember(self, clean: set[str], text: str) -> None:
        if len(clean) >= _MOST_REMEMBERED:
            clean.clear()
        clean.add(text)

    def _first(self, text: str) -> bool:
        self._may_hold = _rules(self._engine).may_hold
        return self._may_hold(text)


class Stream:
    """Scrubs text as it comes, and gives what one pass over the whole would give, whatever the chunks.

    It holds back at most one window: 16,384 characters, or four times the longest registered form if that is more. A
    secret that is longer (a key, a very long token) is taken in pieces of a window, each with a mark of its own. What
    tells of a secret more than a window away, such as the `kind: Secret` far above a value, is not seen.
    """

    def __init__(self, scrubber: Scrubber, *, keep: bool = False) -> None:
        self.found: list[Found] = []
        self._keep = keep
        self._scrubber = scrubber
        self._held = ""
        self._given = 0
        self._open: Found | None = None

    def feed(self, chunk: str) -> str:
        """What can be given out now that this has come."""
        text = self._held + chunk if self._held else chunk
        ahead = self._scrubber.ahead()
        window = max(WINDOW, 4 * ahead)
        at = 0
        pieces: list[str] = []
        while len(text) - at > window:
            part = text[at : at + window]
            finds = continued(part, self._scrubber.finds(part), self._open)
            size = cut(part, finds, ahead)
            given = [find for find in finds if find.start < size]
            self._open = left_open(part, size, given)
            pieces.append(self._give(part[:size], given))
            at += size
        self._held = text[at:]
        return "".join(pieces)

    def end(self) -> str:
        """The rest."""
        text, self._held = self._held, ""
        return self._give(text, continued(text, self._scrubber.finds(text), self._open)) if text else ""

    def _give(self, text: str, finds: Sequence[Found]) -> str:
        if self._keep:
            at = self._given
            self.found += (Found(find.start + at, find.end + at, find.rank, find.kind) for find in finds)
        self._given += len(text)
        return self._scrubber.marked(text, finds)
