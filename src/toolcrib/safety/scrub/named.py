"""Values beside a name that promises a secret: `name = value` in its many spellings, headers and cookies."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.found import NAMED, Found
from toolcrib.safety.scrub.names import NONE, PASSWORD, SECRET, WEAK, promise
from toolcrib.safety.scrub.values import is_placeholder, is_random, is_secret

KEYWORDS = (
    "pass pwd pw secret token key cred auth bearer salt nonce cookie sess dsn sig otp jwt hmac psk seed senha kennwort"
    " contrase mdp"
).split()
_GAP = rb"[ \t]{0,12}"
_SEP = rb"(?:=>|:=|\?=|:[ \t]{0,4}[A-Za-z_][A-Za-z0-9_.|?]{0,24}[ \t]{0,4}=|={1,3}|:|->|<-|!=|%3[aAdD])"
_QUOTE = rb"\\{0,3}[\"'`]"
_REST = (
    rb"[A-Za-z0-9_.\-]{0,40}"
    rb"(?:(?:" + _QUOTE + rb")?[\])}]{0,2}" + _GAP + _SEP + _GAP + rb"[\[(]?[brufBRUFL@$]{0,2}"
    rb"(?:" + _QUOTE + rb"[^\s\"'`]{4}|[^\s\"'`,;(){}<>\[\]|]{4})"
    rb"|(?:" + _QUOTE + rb")?[ \t]{0,4}(?:[,(]|\)[ \t]{0,2}\{)?[ \t]{0,4}[bru@$]?" + _QUOTE + rb"[^\s\"'`,)(\]]{4}"
    rb"|>[^\s<>\"'`]{4})"
)
ROWS = tuple(Row(word.encode(), _REST) for word in KEYWORDS)

_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_TAIL = re.compile(r"[A-Za-z0-9_.\-]*")
_AFTER = re.compile(
    r"""(?x) (?P<close>\\{0,3}["'`])? [\])}]{0,2} [ \t]*
    (?P<sep> => | := | \?= | :[ \t]{0,4}[A-Za-z_][\w.|?]{0,24}[ \t]{1,4}=(?=[ \t]) | :[ \t]{0,4}(?:str|string|String)[ \t]{0,4}= | ={1,3} | : | -> | <- | != | %3[aAdD]
       | [,(] | \)[ \t]{0,2}\{ | > | (?=[ \t]*[bru@$]?\\{0,3}["'`]) )
    [ \t]* [\[(]? (?:[brufBRUFL@$]{0,2}(?P<quote>\\{0,3}(?:\"\"\"|'''|["'`])))? """
)
_BARE = re.compile(r"""(?:[^\s"'`<>\\]|\\(?![nrt"'\\]))+""")
_CUT = re.compile(
    r"""&(?=[\w.%-]+=|amp;|$) | ;(?=$|[A-Za-z][\w ]*=) | ,(?=$|[A-Za-z_][\w.-]*[=:]) | \\?["'] | [)\]}]+[,;.:]*$ | [,;.:]+$""",
    re.VERBOSE,
)
_LEAD = re.compile(
    r"[ \t]*(?:[-*+>|#]{1,2}[ \t]+|\d+[:|\t][ \t]*)?(?:export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|ARG[ \t]+|declare -x[ \t]+|\$env:)?[\"']?"
)
_SCHEME = re.compile(
    r"(?i)(basic|bearer|token|apikey|api-key|bot|key|oauth|ssws|digest|negotiate|jwt|splunk|genie[kK]ey|pat|hmac"
    r"|aws4-hmac-sha256)[ \t]+(?:token=)?[\"']?([^\s\"',;]+)"
)
_PAIR = re.compile(r"([\w.\-]+)=\"?([^;\s\"']*)")
_COOKIE_PLAIN = frozenset(
    "path domain expires max-age samesite version comment _ga _gid _gat theme lang locale".split()
)


class Named:
    """The pass over names and values."""

    def __init__(self, *, engine: bool = True) -> None:
        self.finder = Finder(ROWS, fold=True, engine=engine)

    def finds(self, view: View) -> Iterator[Found]:
        """Every value that its name gives away."""
        text, data = view.text, view.data
        for keyword, _ in self.finder.spans(data):
            end = _TAIL.match(text, keyword).end()  # type: ignore[union-attr] - it matches the empty text too
            start = keyword
            lowest = max(0, keyword - 60)
            while start > lowest and data[start - 1] in _NAME:
                start -= 1
            name = text[start:end]
            level = promise(name)
            if level == WEAK and start and data[start - 1] == 32:
                level = promise(_two_words(text, start) + name)
            if (
                level == WEAK
                and start
                and data[start - 1] in b"?&"
                and name.lower().endswith(("sig", "signature", "auth"))
            ):
                level = SECRET  # of a signed URL
            if level:
                yield from _values(text, start, end, level)


def _two_words(text: str, start: int) -> str:
    """The word before, for `API key: ...`."""
    before = text[max(0, start - 24) : start - 1]
    return before[before.rfind(" ") + 1 :] + "_" if before.isascii() else ""


def _values(text: str, start: int, end: int, level: int) -> Iterator[Found]:
    name = text[start:end].lower()
    after = _AFTER.match(text, end)
    if after is None:
        return
    at, quote = after.end(), after["quote"]
    if name.endswith("cookie"):
        yield from _cookies(text, end)
        return
    if "auth" in name or quote is None:
        scheme = _SCHEME.match(text, at)
        if scheme is not None:
            yield from _header(scheme, level, name)
            return
    value, alone = _value(text, at, quote, after["sep"], start)
    if not value:
        return
    kind = "password" if level == PASSWORD else "secret"
    quoted = quote is not None or after["sep"] == ">"
    if level == SECRET and after["sep"] == "%3D":
        value = value.partition("%26")[0]
    if is_secret(value, level, quoted=quoted, alone=alone) or ("auth" in name and is_pair(value)):
        yield Found(at, at + len(value), NAMED, kind)


def _value(text: str, at: int, quote: str | None, sep: str, start: int) -> tuple[str, bool]:
    """The value as it stands, and whether it is all that its line assigns."""
    if quote is not None:
        return _quoted(text, at, quote), False
    if sep == ">":
        end = text.find("<", at, at + 4096)
        return text[at:end].rstrip() if end > 0 else "", False
    bare = _BARE.match(text, at)
    if bare is None:
        return "", False
    value = bare.group()
    alone = sep[0] in "=:?" and _is_alone(text, start, bare.end())
    if alone and value[-1] not in ",;)" and "&" not in value:
        return value, True
    cut = _CUT.search(value)
    return (value[: cut.start()] if cut else value), alone


def _quoted(text: str, at: int, quote: str) -> str:
    limit = text.find("\n", at) if len(quote) < 3 or quote[0] == "\\" else -1
    limit = len(text) if limit < 0 else limit
    limit = min(limit, at + 4200)
    end = text.find(quote, at, limit)
    while end > 0 and len(quote) == 1 and text[end - 1] == "\\" and text[end - 2] != "\\":
        end = text.find(quote, end + 1, limit)
    if end < 0:
        bare = _BARE.match(text, at)
        return bare.group() if bare is not None and bare.end() <= limit else ""
    return text[at:end]


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether the line is only this assignment: `export NAME=value`."""
    rest = text[end : end + 3]
    if rest.lstrip(" \t")[:1] not in {"", "\n", "\r", "#"} and not rest.startswith(("\\n", '"', "'")):
        return False
    line = text.rfind("\n", max(0, start - 60), start) + 1
    lead = _LEAD.match(text, line) if line or start <= 60 else None
    return lead is not None and lead.end() >= start or text[max(0, start - 2) : start] == "\\n"


def _header(scheme: re.Match[str], level: int, name: str) -> Iterator[Found]:
    """What follows `Basic`, `Bearer` and the like."""
    value = scheme[2].rstrip(".)]}>")
    start = scheme.start(2)
    if is_placeholder(value):
        return
    if is_pair(value) or is_secret(value, PASSWORD if "auth" in name else level, quoted=False, alone=True):
        yield Found(start, start + len(value), NAMED, "authorization")


def _cookies(text: str, at: int) -> Iterator[Found]:
    """The values of a Cookie or Set-Cookie line that could open a session."""
    end = text.find("\n", at)
    end = min(len(text) if end < 0 else end, at + 8192)
    for pair in _PAIR.finditer(text, at, end):
        name, value = pair[1].lower(), pair[2]
        if name in _COOKIE_PLAIN or is_placeholder(value):
            continue
        level = max(promise(name), SECRET if "sess" in name or name.endswith(("sid", "auth")) else NONE)
        if is_secret(value, level, quoted=True) if level else len(value) >= 16 and is_random(value):
            yield Found(pair.start(2), pair.end(2), NAMED, "cookie")


def is_pair(value: str) -> bool:
    """Whether this is base64 of `user:password`."""
    if len(value) < 8 or len(value) > 2048:
        return False
    try:
        plain = b64decode(
            value + "=" * (-len(value) % 4), altchars=b"-_" if "-" in value or "_" in value else None, validate=True
        )
        told = plain.decode("utf-8")
    except (NotBase64, ValueError):
        return False
    return ":" in told and told.isprintable() and len(told) > 3
