"""What the inside of a private key looks like, also where its first line stood in an earlier window."""

import re

KIND = "private-key"
# What the inside of a key is made of, line after line, whatever quotes, indents and escapes are around the lines.
_LINES = re.compile(
    r"""(?:(?:\\[nr]|[\s"'+,`|>#*\\-])*+
    (?:(?:Proc-Type|DEK-Info|Comment|Version|Charset|Hash|Subject|x-[\w-]{1,40}):[^\n\\]{0,120}+
      |[A-Za-z0-9+/=]{20,}+ | [A-Za-z0-9+/=]{1,19}+(?=["'\\,`]{0,4}(?:\s|\Z|-----|\\[nr]))(?![ ]\S)))*+""",
    re.VERBOSE,
)
_BLANK = re.compile(r"(?:\\[nr]?|[\s\"'+,`|>#*])*")


def goes_on(text: str, at: int) -> int:
    """Up to where the text reads like the inside of a key."""
    found = _LINES.match(text, at)
    return at if found is None else found.end()


def is_open(rest: str) -> bool:
    """Whether nothing but blanks and quotes follows, so that the key may go on in the next window."""
    return _BLANK.fullmatch(rest) is not None
