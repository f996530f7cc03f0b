"""Secrets that are written in another alphabet: base64, hex, percent and other escapes. What decodes to text is looked at."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.found import DECODED, Found
from toolcrib.safety.scrub.hidden import Replaced

Look = Callable[[str, int], list[Found]]
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _class(places: Callable[[int], bool]) -> bytes:
    letters = "".join(letter for at, letter in enumerate(_LETTERS) if places(at))
    return ("[" + letters.replace("+", "+-").replace("-", "\\-").replace("/", "/_") + "]").encode()


# Which letters can stand at each place of four when the bytes are printable: the first look is in the pattern itself.
_FIRST = _class(lambda at: 8 <= at <= 31 or at == 2)
_SECOND = _class(lambda at: at & 15 == 0 or 2 <= at & 15 <= 7)
_THIRD = _class(lambda at: at & 3 in {0, 1})
_ANY = rb"[A-Za-z0-9+/_\-]"
_GROUP = _FIRST + _SECOND + _THIRD + _ANY
_BASE64 = Row(b"", rb"(?:\A|[^A-Za-z0-9+_\-]|\\[nrt])(?:" + _GROUP + rb"){4,}" + _ANY + rb"*={0,2}")
_HEX = Row(b"", rb"(?:\A|[^0-9A-Za-z]|\\[nrtx]|0x)(?:[2-7][0-9a-fA-F]|0[9aAdD]){8,}(?:[0-9a-fA-F]{2})*")
_SPACED_HEX = Row(b"", rb"(?:\A|[^0-9A-Za-z])(?:(?:[2-7][0-9a-fA-F]|0[9aAdD]) ){11,}[0-9a-fA-F]{2}")
# The same of UTF-16, as PowerShell has it: every second byte is zero.
_WIDE = Row(
    b"",
    rb"(?:\A|[^A-Za-z0-9+_\-]|\\[nrt])(?:[A-Za-f][AQgw][AB]"
    + _ANY
    + rb"A[C-H][AEIMQUYcgkosw048]A){3,}[A-Za-z0-9+/]*={0,2}",
)
RUNS = b"|".join(row.rest for row in (_BASE64, _HEX, _SPACED_HEX, _WIDE))
_ESCAPES = (
    Row(b"%", rb"(?:3[aAdDbB]|40|2[0267bBfF]|5[0-9a-fA-F]|[467][0-9a-fA-F]%[0-9a-fA-F]{2}%)"),
    Row(b"\\u00", rb"[0-9a-fA-F]{2}"),
    Row(b"\\x", rb"[2-7][0-9a-fA-F]\\{1,2}x[2-7]"),
    Row(b"&#", rb"x?[0-9a-fA-F]{2,4};"),
    Row(b"&quot;"),
    Row(b"&amp;"),
    Row(b"&lt;/", rb"[A-Za-z0-9_:.\-]*(?:pass|pwd|secret|token|key)"),
)
_ESCAPE = re.compile(
    r"%([0-9a-fA-F]{2})|\\{1,2}u00([0-9a-fA-F]{2})|\\{1,2}x([0-9a-fA-F]{2})|&#x([0-9a-fA-F]{2,4});|&#([0-9]{2,4});|&(quot|amp|lt|gt|apos);"
)
_ENTITIES = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "apos": "'"}
_RUN = re.compile(r"[A-Za-z0-9+/_\-]+={0,2}")
_WRAPPED = re.compile(r"(?:\\n|\r?\n[ \t]*)([A-Za-z0-9+/_\-]{4,}={0,2})(?=$|[\s\"'\\])")
_PRINTABLE = re.compile(r"[\t\n\r -~\x85\xa0-\uffff]*")
_LONGEST_LINE = 4000


class Codes:
    """The pass over encodings. `look` says what a decoded text holds; it is given the depth that is left."""

    def __init__(self, look: Look, *, engine: bool = True) -> None:
        self._look = look
        self.finder = Finder([*_ESCAPES, _BASE64, _HEX, _SPACED_HEX, _WIDE], engine=engine)

    def finds(self, view: View, depth: int) -> Iterator[Found]:
        """Every encoded stretch that holds a secret."""
        text, done, read = view.text, 0, 0
        for begin, end in self.finder.spans(view.data):
            if text[begin] in "%\\&" and begin >= read and _ESCAPE.match(text, begin):
                read = self._line_end(text, begin)
                yield from self._escaped(text, begin, read, depth)
            start = _start(text, begin)
            if end - start >= 16 and start >= done:
                done = _end(text, start, end)
                told = _plain_hex(text[start:end]) or _plain_base64(text[start:done])
                if told and self._look(told, depth):
                    yield Found(start, done, DECODED, "encoded")

    def _line_end(self, text: str, begin: int) -> int:
        end = text.find("\n", begin, begin + _LONGEST_LINE)
        return end if end >= 0 else min(len(text), begin + _LONGEST_LINE)

    def _escaped(self, text: str, begin: int, end: int, depth: int) -> Iterator[Found]:
        """A line with escapes is looked at as it reads; only what an escape hid is new."""
        start = max(text.rfind("\n", 0, begin) + 1, begin - 400)
        line = text[start:end]
        places = [(found.start(), found.end(), _letter(found)) for found in _ESCAPE.finditer(line)]
        decoded = Replaced(line, places)
        for find in self._look(decoded.text, depth):
            old = decoded.back(find)
            if any(old.start - 40 < place[0] < old.end for place in places):
                yield Found(start + old.start, start + old.end, DECODED, find.kind)


def _start(text: str, begin: int) -> int:
    """Behind what stands before the run."""
    if text.startswith(("0x", "\\n", "\\r", "\\t", "\\x"), begin):
        return begin + 2
    return begin if text[begin].isalnum() else begin + 1


def _end(text: str, start: int, end: int) -> int:
    """The end of a run that goes on in the next lines."""
    while (more := _WRAPPED.match(text, end)) is not None and end - start >= 56:
        end = more.end()
    return end


def _plain_base64(run: str) -> str:
    run = re.sub(r"\\n|\s", "", run).rstrip("=")
    if "-" in run or "_" in run:
        run = run.replace("-", "+").replace("_", "/")
    run = run[: len(run) - (len(run) % 4 == 1)]
    try:
        return _readable(b64decode(run + "=" * (-len(run) % 4)))
    except (NotBase64, ValueError):
        return ""


def _plain_hex(run: str) -> str:
    try:
        run = run.replace(" ", "")
        return _readable(bytes.fromhex(run[: len(run) // 2 * 2]))
    except ValueError:
        return ""


def _readable(plain: bytes) -> str:
    """The bytes as text if the beginning reads as text; UTF-16 is known too."""
    if plain[1:8:2] == b"\0\0\0\0"[: len(plain[1:8:2])] and len(plain) > 8:
        plain = plain[::2]
    told = plain.decode("utf-8", "replace")
    return told if _PRINTABLE.fullmatch(told[:18]) else ""


def _letter(found: re.Match[str]) -> str:
    if found[6]:
        return _ENTITIES[found[6]]
    if found[5]:
        return chr(int(found[5]) % 0x110000)
    return chr(int(found[1] or found[2] or found[3] or found[4], 16))
