"""All passes over one window of text, and the one look that says whether any of them is needed."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub import commands, fields, forms, lines, manifests, tables
from toolcrib.safety.scrub.codes import Codes
from toolcrib.safety.scrub.finder import Finder, View
from toolcrib.safety.scrub.finder import view as make_view
from toolcrib.safety.scrub.found import DECODED, PROVIDER, Found
from toolcrib.safety.scrub.gate import gate
from toolcrib.safety.scrub.hidden import has_hidden, without_hidden
from toolcrib.safety.scrub.marks import MARK
from toolcrib.safety.scrub.named import Named
from toolcrib.safety.scrub.shaped import Shaped
from toolcrib.safety.scrub.tokens import Tokens

_SHAPES = (PROVIDER, DECODED)  # ranks of finds by shape alone
_DIGEST = re.compile(
    r"(?i)(?:sha-?[0-9]{1,3}|md5|blake2[bs]?|h1|integrity|checksum|digest)[\"']?[ \t]?[=:-][ \t]?[\"']?\Z"
)
_PUBLIC = re.compile(
    r"""(?i)(?:kid|x5t(?:#s256)?|["'][xyn]|id|etag|cursor|public_?key|hash)["']?[ \t]?[=:][ \t]?["']?\Z"""
)
DEPTH = 2  # decoders inside decoders


class Rules:
    """The passes, compiled once a process. Tables that do not get in each other's way share one search."""

    view = staticmethod(make_view)

    def __init__(self, *, engine: bool = True) -> None:
        self._tokens = Tokens(engine=engine)
        self._named = Named(engine=engine)
        self._shaped = Shaped(engine=engine)
        self._places = Finder((*forms.ROWS, *commands.ROWS), fold=True, engine=engine)
        self._lines = Finder((*tables.ROWS, *manifests.ROWS, *fields.ROWS, *lines.ROWS), fold=True, engine=engine)
        self._codes = Codes(self.look, engine=engine)
        self._gate = gate(engine=engine)

    def finds(self, view: View) -> list[Found]:
        """Every find of every pass; they may overlap."""
        if "[REDACTED:" not in view.text:
            return self._seen(view, DEPTH)
        masked = make_view(MARK.sub(lambda found: "*" * len(found.group()), view.text))  # scrubbed text stays as it is
        return _outside_marks(view.text, self._seen(masked, DEPTH))

    def look(self, text: str, depth: int) -> list[Found]:
        """What a decoded text holds."""
        return self._seen(make_view(text), depth - 1)

    def may_hold(self, text: str) -> bool:
        """Whether any pass has something to look at: one search, for texts that are short and clean."""
        return self._gate(text.encode("latin-1", "replace")) is not None or has_hidden(text)

    def _seen(self, seen: View, depth: int) -> list[Found]:
        """A text with hidden characters is looked at as a reader sees it."""
        if not has_hidden(seen.text):
            return self._all(seen, depth)
        bare = without_hidden(seen.text)
        return [bare.back(find) for find in self._all(make_view(bare.text), depth)]

    def _all(self, view: View, depth: int) -> list[Found]:
        if self._gate(view.data) is None:
            return []
        finds = [*self._tokens.finds(view), *self._named.finds(view), *self._placed(view), *self._lined(view)]
        finds += self._shaped.finds(view)
        finds = [find for find in finds if find.rank not in _SHAPES or not _is_public(view.text, find)]
        if depth:
            finds += self._codes.finds(view, depth)
        return finds

    def _placed(self, view: View) -> Iterator[Found]:
        data = view.data
        command = commands.Reader(view)
        for start, end in self._places.spans(data):
            if forms.knows(data[start : start + 16].lower()):
                yield from forms.read(view, start, end)
            else:
                yield from command.read(start)

    def _lined(self, view: View) -> Iterator[Found]:
        text, data = view.text, view.data
        table, manifest = tables.Reader(view), manifests.Reader(view)
        for start, end in self._lines.spans(data):
            if text[start] in "kK" and text[start : start + 4].lower() == "kind":
                yield from manifest.read(start)
            elif tables.knows(text, start, end) and (cells := list(table.read(start, end))):
                yield from cells
            elif fields.knows(data[start : start + 8].lower(), data[start:end]):
                yield from fields.read(view, start, end)
            else:
                yield from lines.read(view, start, end)


def _is_public(text: str, find: Found) -> bool:
    """Whether what stands before says that this is a digest or a public id, which may look like anything."""
    before = text[max(0, find.start - 16) : find.start]
    return _DIGEST.search(before) is not None or (find.rank == DECODED and _PUBLIC.search(before) is not None)


def _outside_marks(text: str, finds: list[Found]) -> list[Found]:
    """Without what reaches into a mark."""
    marks = [found.span() for found in MARK.finditer(text)]
    return [find for find in finds if not any(find.start < end and start < find.end for start, end in marks)]
