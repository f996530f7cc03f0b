"""Values that are known to be secret, found exactly, raw and in their encodings."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from threading import Lock

from msgspec import Struct

from toolcrib.safety.scrub.finder import Finder, Row
from toolcrib.safety.scrub.found import REGISTERED, Found

SHORTEST = 6
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_PER_FINDER = 4000  # forms in one automaton
_LINE = 16  # of a value of many lines, each line this long counts by itself


class _Form(Struct, frozen=True):
    name: str
    left: int = 0  # base64 characters at the edges that hold a part of the value
    right: int = 0


class _Snapshot(Struct, frozen=True):
    forms: dict[bytes, _Form]
    finders: tuple[Finder, ...]
    longest: int


_EMPTY = _Snapshot({}, (), 0)


class Registered:
    """The values of a session by name. Changes make a new automaton; readers keep the one they have."""

    def __init__(self, values: Iterable[tuple[str, str]] = (), *, engine: bool = True) -> None:
        self._engine = engine
        self._lock = Lock()
        self._values = {name: value for name, value in values if len(value) >= SHORTEST}
        self._now = _EMPTY
        self._stale = bool(self._values)

    def add(self, name: str, value: str) -> None:
        """Take out this value from now on; one shorter than 6 characters would hit by chance and is not taken."""
        with self._lock:
            if len(value) < SHORTEST:
                self._values.pop(name, None)
            else:
                self._values[name] = value
            self._stale = True

    def remove(self, name: str) -> None:
        """Forget a value."""
        with self._lock:
            self._stale = self._values.pop(name, None) is not None or self._stale

    def __bool__(self) -> bool:
        return bool(self._values)

    @property
    def longest(self) -> int:
        """Characters of the longest form."""
        return self._snapshot().longest

    def finds(self, data: bytes) -> Iterator[Found]:
        """Every form of every value; they may overlap."""
        now = self._snapshot()
        for finder in now.finders:
            yield from _all(finder, data, now.forms)

    def _snapshot(self) -> _Snapshot:
        if self._stale:
            with self._lock:
                self._now = _built(self._values, engine=self._engine)
                self._stale = False
        return self._now


def _all(finder: Finder, data: bytes, forms: dict[bytes, _Form]) -> Iterator[Found]:
    """The matches of one automaton. After each the search goes on inside it: two values may share characters."""
    start = 0
    while (span := next(finder.spans(data, start), None)) is not None:
        begin, end = span
        form = forms[data[begin:end]]
        left, right = begin, end
        while form.left > begin - left and left and data[left - 1] in _BASE64:
            left -= 1
        while form.right > right - end and right < len(data) and data[right] in _BASE64:
            right += 1
        while form.right and data[right : right + 1] == b"=":
            right += 1
        yield Found(left, right, REGISTERED, form.name)
        start = begin + 1


def _built(values: dict[str, str], *, engine: bool) -> _Snapshot:
    forms: dict[bytes, _Form] = {}
    for name, value in values.items():
        for literal, left, right in _forms(value):
            if len(literal) >= SHORTEST:
                forms.setdefault(literal, _Form(name, left, right))
    literals = sorted(forms, key=lambda literal: (-len(literal), literal))
    groups = [literals[at : at + _PER_FINDER] for at in range(0, len(literals), _PER_FINDER)]
    finders = tuple(Finder([Row(literal) for literal in group], engine=engine) for group in groups)
    return _Snapshot(forms, finders, max(map(len, literals), default=0))


def _forms(value: str) -> Iterator[tuple[bytes, int, int]]:
    """A value as it may stand in a text, with how many characters at its edges hold a part of it."""
    raw = value.encode("utf-8", "surrogatepass")
    for text in {value, *_escaped(value), *_lines(value)}:
        yield text.encode("latin-1", "replace"), 0, 0
    for hexed in (raw.hex(), raw.hex().upper(), raw.hex(" "), raw.hex(":"), "".join(f"\\x{byte:02x}" for byte in raw)):
        yield hexed.encode(), 0, 0
    for upper in (True, False):
        for kept in (_UNRESERVED, _UNRESERVED | {47}):
            yield _quoted(raw, kept, upper=upper), 0, 0
        yield _quoted(raw, _UNRESERVED | {32}, upper=upper).replace(b" ", b"+"), 0, 0
    for shift in range(3):
        yield from _base64(raw, shift)


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


def _base64(raw: bytes, shift: int) -> Iterator[tuple[bytes, int, int]]:
    """What of the base64 of a longer text does not change with what is around the value."""
    whole = b64encode(b"\0" * shift + raw).rstrip(b"=")
    left = (0, 2, 3)[shift]
    partial = (len(raw) + shift) % 3 != 0
    core = whole[left : len(whole) - partial]
    if len(core) < SHORTEST:
        return
    yield core, int(shift > 0), int(partial)
    if b"+" in core or b"/" in core:
        yield core.replace(b"+", b"-").replace(b"/", b"_"), int(shift > 0), int(partial)
