"""The first look: a short search that most clean texts do not pass. It knows words and marks only, and may cry wolf."""

from collections.abc import Callable
from typing import Any

from toolcrib.safety.scrub import shaped
from toolcrib.safety.scrub.codes import RUNS
from toolcrib.safety.scrub.commands import PROGRAMS
from toolcrib.safety.scrub.finder import compiled, escaped
from toolcrib.safety.scrub.named import KEYWORDS
from toolcrib.safety.scrub.names import VENDORS
from toolcrib.safety.scrub.providers import BOUND, INNER, MARKS

_SIGNS = rb"://[^\s/]{0,200}@|%(?:3a|40|3d|[4-7][0-9a-f]%)|:\$|:\{s|\{aq|\\u00|\\x|&#|&quot|begin |private-l|:\*:|:5432|:thin:|mnemonic|phrase|\{s?sha|\{s?md5|\{crypt|:\\/\\/|<<<|\.sign\(|\.verify\(|createhmac|new pdo\(|getconnection\(|\"kty\"|\]:[0-9]|&lt;/|community|identified|basic |_connect\(|login\(|authenticate\(|sign_?in\(|@tcp\(|<auth-user|bcrypt\.hash\(|hashpw\(|aes\.new\(|sentinel |-stdin|echo |printf |chpasswd"


def gate(*, engine: bool) -> Callable[[bytes], Any]:
    """A search that gives None for a text in which no pass would find anything. Without RE2 it lets all through."""
    words = b"|".join(escaped(word.encode()) for word in (*KEYWORDS, *sorted(VENDORS)))
    programs = b"|".join(escaped(name.encode()) for name in sorted(PROGRAMS))
    marks = b"|".join(escaped(row[1].encode()) for row in (*MARKS, *INNER))
    short = b"|".join(escaped(row[1].encode()) for row in BOUND if len(row[1]) < 3)
    bound = b"|".join(escaped(row[1].encode()) for row in BOUND if len(row[1]) > 2)
    pattern = (
        b"(?i:"
        + words
        + b"|"
        + _SIGNS
        + rb"|\b(?:"
        + programs
        + rb")(?:\.exe)?[ \t])|"
        + marks
        + rb"|(?:\A|[^A-Za-z0-9]|\\[nrt])(?:(?:"
        + bound
        + rb")[A-Za-z0-9_+/=.:-]{3}|(?:"
        + short
        + rb")[A-Za-z0-9_+/=.:-]{12})|"
        + b"|".join((RUNS, shaped.RUNS))
    )
    made = compiled(pattern) if engine else None
    return made.search if made is not None else _always


def _always(_: bytes) -> bool:
    return True
