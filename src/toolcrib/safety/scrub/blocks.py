"""Private keys that fill lines: PEM and its kin, and PuTTY's."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.found import FORM, Found
from toolcrib.safety.scrub.values import is_placeholder

KIND = "private-key"
# What the inside of a key is made of, line after line, whatever quotes, indents and escapes are around the lines.
_LINES = re.compile(
    r"""(?:(?:\\[nr]|[\s"'+,`|>#*\\-])*+
    (?:(?:Proc-Type|DEK-Info|Comment|Version|Charset|Hash|Subject|x-[\w-]{1,40}):[^\n\\]{0,120}+
      |[A-Za-z0-9+/=]{20,}+ | [A-Za-z0-9+/=]{1,19}+(?=["'\\,`]{0,4}(?:\s|\Z|-----|\\[nr]))(?![ ]\S)))*+""",
    re.VERBOSE,
)
_BLANK = re.compile(r"(?:\\[nr]?|[\s\"'+,`|>#*])*")
_FAR = 12_000  # characters between the two frames of a key that are taken whatever stands between
_EDGE = " \t\r\n\"'+,`\\|>#*"
_BODY = re.compile(r"[A-Za-z0-9+/=]")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:PRIVATE KEY|Static key)|-----BEGIN")
_LONG = re.compile(r"[A-Za-z0-9+/=]{40}")


def read(text: str, start: int, end: int) -> Iterator[Found]:
    """The body of a private key; its first and last line stay, so that a reader knows what it was."""
    if start < 4 or text[max(0, start - 5) : start].strip("- "):
        return
    close = _END.search(text, end, end + _FAR)
    stop = close.start() if close is not None and _LONG.search(text, end, close.start()) else goes_on(text, end)
    begin = end
    while begin < stop and not _BODY.match(text, begin):
        begin += 2 if text[begin] == "\\" else 1
    while stop > begin and text[stop - 1] in _EDGE:
        stop -= 1
    if text[stop - 2 : stop] in {"\\n", "\\r"}:
        stop -= 2
    if stop - begin >= 16 and not is_placeholder(text[begin : begin + 60]):
        yield Found(begin, stop, FORM, KIND)


def read_putty(text: str, start: int, end: int) -> Iterator[Found]:
    """`Private-Lines: 8` and so many lines."""
    count = int(re.sub(r"\D", "", text[start:end]))
    at = end
    for _ in range(count):
        line = text.find("\n", at)
        if line < 0:
            at = len(text)
            break
        at = line + 1
    yield Found(end, len(text[:at].rstrip("\r\n")), FORM, KIND)


def goes_on(text: str, at: int) -> int:
    """Up to where the text reads like the inside of a key."""
    found = _LINES.match(text, at)
    return at if found is None else found.end()


def is_open(rest: str) -> bool:
    """Whether nothing but blanks and quotes follows, so that the key may go on in the next window."""
    return _BLANK.fullmatch(rest) is not None
