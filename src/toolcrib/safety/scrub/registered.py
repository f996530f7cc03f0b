"""Values that are known to be secret, found exactly, raw and in their encodings.

Each form of a value is looked for by its first six bytes, all of them in one search; what follows is compared.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from threading import Lock
from typing import NamedTuple

from msgspec import Struct

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.found import REGISTERED, Found

SHORTEST = 6
_ANCHOR = SHORTEST  # bytes of a form that are searched
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_PER_FINDER = 8000  # anchors in one automaton
_LINE = 16  # of a value of many lines, each line this long counts by itself


class _Form(NamedTuple):
    literal: bytes
    left: int = 0  # base64 characters at the edges that hold a part of the value
    right: int = 0
    name: str = ""
    text: str = ""  # what the literal stands for, where Latin-1 cannot say it


_Anchors = dict[bytes, list[_Form]]


class _Search(NamedTuple):
    """Forms by their anchors; those of hexadecimal digits in any case."""

    anchors: _Anchors
    finders: tuple[Finder, ...]
    fold: bool

    def finds(self, view: View) -> Iterator[Found]:
        """Every form that stands there; they may overlap."""
        data = view.data
        compared = data.lower() if self.fold else data
        for finder in self.finders:
            start = 0  # after each hit the search goes on inside it: two values may share characters
            while (span := next(finder.spans(compared, start), None)) is not None:
                start = span[0] + 1
                for form in self.anchors[compared[span[0] : span[1]]]:
                    if compared.startswith(form.literal, span[0]) and view.text.startswith(form.text, span[0]):
                        yield _edged(data, span[0], form)


class _Snapshot(Struct, frozen=True):
    searches: tuple[_Search, ...]
    longest: int


_EMPTY = _Snapshot((), 0)


class Registered:
    """The values of a session by name. Changes make a new automaton when it is next needed; readers keep their own."""

    def __init__(self, values: Iterable[tuple[str, str]] = (), *, engine: bool = True) -> None:
        self._engine = engine
        self._lock = Lock()
        self._forms: dict[str, tuple[str, list[_Form], list[_Form]]] = {}
        self._now = _EMPTY
        self._stale = False
        for name, value in values:
            self.add(name if name not in self._forms else f"{name}-{len(self._forms)}", value)

    def add(self, name: str, value: str) -> None:
        """Take out this value from now on; one shorter than 6 characters would hit by chance and is not taken."""
        if self._forms.get(name, ("",))[0] == value:
            return
        made = None if len(value) < SHORTEST else (value, _forms(value), _hexed(value))
        with self._lock:
            if made is None:
                self._forms.pop(name, None)
            else:
                self._forms[name] = made
            self._stale = True

    def forget(self, name: str) -> None:
        """Look for this value no more."""
        with self._lock:
            self._stale = self._forms.pop(name, None) is not None or self._stale

    def __bool__(self) -> bool:
        return bool(self._forms)

    @property
    def longest(self) -> int:
        """Characters of the longest form."""
        return self._snapshot().longest

    def finds(self, view: View) -> Iterator[Found]:
        """Every form of every value; they may overlap."""
        for search in self._snapshot().searches:
            yield from search.finds(view)

    def hits(self, view: View) -> bool:
        """Whether a value stands there."""
        return next(self.finds(view), None) is not None

    def _snapshot(self) -> _Snapshot:
        if self._stale:
            with self._lock:
                if self._stale:
                    self._now = self._built()
                    self._stale = False
        return self._now

    def _built(self) -> _Snapshot:
        plain = _search(((name, forms) for name, (_, forms, _) in self._forms.items()), engine=self._engine)
        hexed = _search(((name, forms) for name, (_, _, forms) in self._forms.items()), engine=self._engine, fold=True)
        both = (plain, hexed)
        sizes = (len(form.literal) for search in both for forms in search.anchors.values() for form in forms)
        return _Snapshot(both, max(sizes, default=0))


def _edged(data: bytes, begin: int, form: _Form) -> Found:
    """A hit, with the characters of base64 that hold a part of the value."""
    left, end = begin, begin + len(form.literal)
    right = end
    while form.left > begin - left and left and data[left - 1] in _BASE64:
        left -= 1
    while form.right > right - end and right < len(data) and data[right] in _BASE64:
        right += 1
    while form.right and data[right : right + 1] == b"=":
        right += 1
    return Found(left, right, REGISTERED, form.name)


def _search(named: Iterable[tuple[str, list[_Form]]], *, engine: bool, fold: bool = False) -> _Search:
    anchors: _Anchors = {}
    seen: set[tuple[bytes, str]] = set()
    for name, forms in named:
        for form in forms:
            if (form.literal, form.text) not in seen:
                seen.add((form.literal, form.text))
                anchors.setdefault(form.literal[:_ANCHOR], []).append(form._replace(name=name))
    literals = sorted(anchors)  # in order, so that the engine makes a tree of them
    groups = [literals[at : at + _PER_FINDER] for at in range(0, len(literals), _PER_FINDER)]
    return _Search(anchors, tuple(Finder([Row(anchor) for anchor in group], engine=engine) for group in groups), fold)


def _forms(value: str) -> list[_Form]:
    """A value as it may stand in a text, with how many characters at its edges hold a part of it."""
    raw = value.encode("utf-8", "surrogatepass")
    texts = {value, _marked_up(value), *_escaped(value), *_lines(value)}
    if "\n" in value:
        texts |= {value.replace("\n", "\r\n"), *_escaped(value.replace("\n", "\r\n"))}
    literals: set[bytes] = set()
    for upper in (True, False):
        literals |= {_quoted(raw, kept, upper=upper) for kept in (_UNRESERVED, _UNRESERVED | {47})}
        literals.add(_quoted(raw, _UNRESERVED | {32}, upper=upper).replace(b" ", b"+"))
    whole = b64encode(raw)
    for width in (64, 76):  # wrapped, each line counts by itself
        if len(whole) > width:
            literals.update(line for line in _cut(whole, width) if len(line) >= _LINE)
    forms = [_Form(literal) for literal in literals]
    forms += (_Form(text.encode("latin-1", "replace"), text="" if text.isascii() else text) for text in texts)
    for shift in range(3):
        forms += _base64(raw, shift)
    return [form for form in forms if len(form.literal) >= SHORTEST]


def _marked_up(value: str) -> str:
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        value = value.replace(sign, entity)
    return value


def _cut(whole: bytes, width: int) -> list[bytes]:
    return [whole[at : at + width] for at in range(0, len(whole), width)]


def _hexed(value: str) -> list[_Form]:
    """The bytes in hexadecimal, in lower case."""
    raw = value.encode("utf-8", "surrogatepass")
    texts = (raw.hex(), raw.hex(" "), raw.hex(":"), raw.hex("-"), "".join(f"\\x{byte:02x}" for byte in raw))
    return [_Form(text.encode()) for text in texts]


def _lines(value: str) -> list[str]:
    """The long lines of a value that has several; the outer lines of a PEM block are no secret."""
    lines = [line.strip() for line in value.splitlines()]
    return [line for line in lines if len(line) >= _LINE and not line.startswith("-----")] if len(lines) > 1 else []


def _escaped(value: str) -> set[str]:
    """As a string of JSON: with and without other alphabets, and with `/` escaped."""
    told = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return told | {text.replace("/", "\\/") for text in told} | {json.dumps(text)[1:-1] for text in told}


def _quoted(raw: bytes, kept: frozenset[int], *, upper: bool) -> bytes:
    form = "%{:02X}" if upper else "%{:02x}"
    return b"".join(bytes((byte,)) if byte in kept else form.format(byte).encode() for byte in raw)


def _base64(raw: bytes, shift: int) -> Iterator[_Form]:
    """What of the base64 of a longer text does not change with what is around the value."""
    whole = b64encode(b"\0" * shift + raw).rstrip(b"=")
    left = (0, 2, 3)[shift]
    partial = (len(raw) + shift) % 3 != 0
    core = whole[left : len(whole) - partial]
    yield _Form(core, int(shift > 0), int(partial))
    if b"+" in core or b"/" in core:
        yield _Form(core.replace(b"+", b"-").replace(b"/", b"_"), int(shift > 0), int(partial))
