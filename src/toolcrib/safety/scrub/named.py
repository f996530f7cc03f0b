"""Values beside a name that promises a secret: `name = value` in its many spellings, headers and cookies."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Finder, Row, View
from toolcrib.safety.scrub.found import NAMED, Found
from toolcrib.safety.scrub.names import NONE, PASSWORD, SECRET, VENDORS, WEAK, promise
from toolcrib.safety.scrub.values import LONGEST, is_placeholder, is_random, is_secret

KEYWORDS = [
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "bearer",
    "salt",
    "nonce",
    "cookie",
    "sess",
    "dsn",
    "sig",
    "otp",
    "jwt",
    "_pat",
    "-pat",
    "hmac",
    "psk",
    "seed",
    "senha",
    "kennwort",
    "contrase",
    "mdp",
    "sonar.login",
    "contribsys",
]
_PLACES = (*KEYWORDS, *sorted(VENDORS))
# No counts in what is searched: each would be a state for every place, and the search would no longer be one pass.
_GAP = rb"[ \t]*"
_SEP = (
    rb"(?:::[ \t]|::?:=|(?:[.+]|\|\||\?\?)=|=>|:=|\?=|:[ \t]*[&A-Za-z_][A-Za-z0-9_.|?&' <>\[\]]*=|[sS]tring[ \t]*=|[ \t]is[ \t]|==?=?|:|->|<-|!=|%3[aAdD]"
    rb"|as[ \t]+[a-z]+[ \t]*=|\{[ \t]*get;[a-z; \t]*\}[ \t]*=|\.(?:type|fill|send_?keys|set_?value|val)\(|\.value[ \t]*="
    rb"|[:=][ \t]*[A-Za-z_][A-Za-z0-9_.]*[ \t]+(?:\|\||\?\?))"
)
_QUOTE = rb"\\*[\"'`]"
_REST = (
    rb"[A-Za-z0-9_.\-]*"
    rb"(?:[\])}]*(?:" + _QUOTE + rb")?[\])}]*" + _GAP + _SEP + _GAP + rb"(?:\[\]byte\(|[\[(])?[brufBRUFLN@$]*"
    rb"(?:" + _QUOTE + rb"[^\s\"'`]{4}|[^\s\"'`,;(){}<>\[\]|]{4})"
    rb"|[\])}]*(?:" + _QUOTE + rb")?[ \t]*(?:[,({]|\)[ \t]*\{)?[ \t]*[bru@$]?" + _QUOTE + rb"[^\s\"'`,]{4}"
    rb"|[ \t]*:?=[ \t]*[(\\]\r?\n[ \t]*" + _QUOTE + rb"[^\s\"'`]{4}"
    rb"|>[^\s<>\"'`]{4})"
)
ROWS = tuple(Row(word.encode(), _REST) for word in _PLACES)

_NAME = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
_TAIL = re.compile(r"[A-Za-z0-9_.\-]*")
_AFTER = re.compile(
    r"""(?x) (?:[\])}]{1,2}(?=["'`]))? (?P<close>\\{0,3}["'`])? [\])}]{0,2} [ \t]*
    (?P<sep> :?=[ \t]{0,4}[(\\]\r?\n(?=[ \t]*["'`]) | \.value[ \t]{0,4}=(?!=) | (?<=[ \t])is(?=[ \t]) | [sS]tring[ \t]{0,4}= | \.(?:[tT]ype|fill|[sS]end_?[kK]eys|[sS]et_?[vV]alue|val)\( | [aA]s[ \t]{1,4}\w{1,16}[ \t]{0,4}=
       | \{[ \t]{0,2}get;[\w; \t]{0,16}\}[ \t]{0,4}= | [:=][ \t]{0,4}[A-Za-z_][\w.]{0,60}[ \t]{1,4}(?:\|\||\?\?)(?=[ \t]*["'`])
       | ::?:= | ::(?=[ \t]) | (?:[.+]|\|\||\?\?)= | => | := | \?= | :[ \t]{0,4}&?(?:'\w{1,16}[ \t])?(?:mut[ \t])?[A-Za-z_][\w.|?<>\[\],]{0,24}[ \t]{1,4}=(?=[ \t]) | :[ \t]{0,4}(?:str|string|String)[ \t]{0,4}= | ={1,3} | : | -> | <- | != | %3[aAdD]
       | [,({] | \)[ \t]{0,2}\{ | > | (?=[ \t]*[bru@$]?\\{0,3}["'`]) )
    [ \t]* (?:\[\]byte\(|[\[(])? (?:[brufBRUFLN@$]{0,2}(?P<quote>\\{0,3}(?:\"\"\"|'''|["'`])))? """
)
_BARE = re.compile(r"""(?:[^\s"'`<>\\]|\\(?![nrt"'\\]))+""")
_CUT = re.compile(
    r"""&(?=[\w.%\[\]-]+=|amp;|$) | ;(?=$|[A-Za-z][\w ]*=) | ,(?=$|[A-Za-z_][\w.-]*[=:]) | \\?["'] | \)\]\( | [)\]}]+[,;.:]*$ | [,;.:]+$""",
    re.VERBOSE,
)
_LEAD = re.compile(
    r"[ \t]*(?:[-*+>|#]{1,2}[ \t]+|\d+[:|\t][ \t]*)?(?:export[ \t]+|set[ \t]+|setx[ \t]+|ENV[ \t]+|ARG[ \t]+|declare -x[ \t]+|\$env:)?[\"']?"
)
_SCHEME = re.compile(
    r"(?i)(basic|bearer|token|apikey|api-key|bot|key|oauth|ssws|digest|negotiate|jwt|splunk|genie[kK]ey|pat|hmac"
    r"|aws4-hmac-sha256)[ \t]+(?:token=)?[\"']?([^\s\"',;]+)"
)
# A value inside a call that only changes its form: `Buffer.from('...')`.
_WRAPS = re.compile(r"(?i)(?:new )?[\w.:]*(?:from|decode|bytes|encode|unhexlify|string|secret_?str|key)\($")
_STRING = re.compile(r"""(["'])([^"'\n]{8,512})\1""")
_SHORT = 128
_ELEMENT = re.compile(r"(?:[Ff]ield|[Ii]nput|[Bb]ox|[Ee]l(?:ement)?)?\.(?:value|[Tt]ext)\Z")  # of a form on a page
_ARN = re.compile(r"\barn:aws[\w-]*:[^\s\"']*\Z")
_USER_PAIR = re.compile(r"[\w.@+-]{1,64}:([^\s:@/]{4,})")
_PAIR = re.compile(r"([\w.\-]+)=\"?([^;\s\"']*)")
_COOKIE_PLAIN = frozenset(
    [
        "path",
        "domain",
        "expires",
        "max-age",
        "samesite",
        "version",
        "comment",
        "_ga",
        "_gid",
        "_gat",
        "theme",
        "lang",
        "locale",
    ]
)


class Named:
    """The pass over names and values."""

    def __init__(self, *, engine: bool = True) -> None:
        self.finder = Finder(ROWS, fold=True, engine=engine)

    def finds(self, view: View) -> Iterator[Found]:
        """Every value that its name gives away."""
        text, data = view.text, view.data
        taken = 0  # up to where a secret was found
        done = 0  # up to where a value was read: names inside it are read less far
        for keyword, _ in self.finder.spans(data):
            if keyword < taken:
                continue
            start = keyword
            lowest = max(0, keyword - 60)
            while start > lowest and data[start - 1] in _NAME:
                start -= 1
            end = _TAIL.match(text, keyword, keyword + 80).end()  # type: ignore[union-attr] - it matches "" too
            level = _level(text, start, end)
            if (
                level == NONE
                or _ARN.search(text, max(0, start - 100), start)
                or (done and text[start:end].lower().endswith("cookie") and start < done)
            ):
                continue
            reader = _Reader(text, start, end, level, _SHORT if start < done else LONGEST)
            for find in reader.finds():
                taken = max(taken, find.end)
                yield find
            done = max(done, reader.done)


def _level(text: str, start: int, end: int) -> int:
    """What the name promises; one word tells more with what stands before it."""
    name = _ELEMENT.sub("", text[start:end].removeprefix("-D").removeprefix("-P"))
    level = promise(name)
    if level == WEAK and start:
        if text[start - 1] == " ":
            return promise(_two_words(text, start) + name)
        if text[start - 1] in "?&" and name.lower().endswith(("sig", "signature", "auth")):
            return SECRET  # of a signed URL
    return level


def _two_words(text: str, start: int) -> str:
    """The word before, for `API key: ...`."""
    before = text[max(0, start - 24) : start - 1]
    return before[before.rfind(" ") + 1 :] + "_" if before.isascii() else ""


class _Reader:
    """Reads what stands behind one name."""

    def __init__(self, text: str, start: int, end: int, level: int, reach: int) -> None:
        self.done = end
        self._text, self._start, self._end, self._level = text, start, end, level
        self._reach = reach  # characters of a value that are read
        self._name = text[start:end].lower()

    def finds(self) -> Iterator[Found]:
        """The secrets of this name's value."""
        text, name = self._text, self._name
        after = _AFTER.match(text, self._end)
        if after is None:
            return
        at, quote, sep = after.end(), after["quote"], after["sep"]
        if name.endswith("cookie"):
            yield from self._cookies()
            return
        scheme = _SCHEME.match(text, at, at + self._reach) if "auth" in name or quote is None else None
        if scheme is not None:
            yield from self._header(scheme)
            return
        if not sep and (quote == "`" or name == "pass"):
            return  # prose: pass `x=1` to ...
        value, alone = self._value(at, quote, sep)
        if not sep and value[:1] in ")];,:.}":
            return  # the quote was the end of a string that names the secret
        if value.endswith("(") and _WRAPS.match(value) and (inner := _STRING.match(text, at + len(value))) is not None:
            at, quote, value = inner.start(2), inner[1], inner[2]
        self.done = at + len(value)
        if not value:
            return
        yield from self._judged(at, value, quoted=quote is not None or sep == ">", alone=alone)

    def _judged(self, at: int, value: str, *, quoted: bool, alone: bool) -> Iterator[Found]:
        pair = _USER_PAIR.fullmatch(value) if "auth" in self._name else None
        if pair is not None and is_secret(pair[1], PASSWORD, quoted=quoted, alone=alone):
            yield Found(at + pair.start(1), at + len(value), NAMED, "password")
        elif is_secret(value, self._level, quoted=quoted, alone=alone) or ("auth" in self._name and is_pair(value)):
            yield Found(at, self._end_of(at + len(value)), NAMED, "password" if self._level == PASSWORD else "secret")

    def _end_of(self, end: int) -> int:
        """A secret longer than what was read of it ends where its run of characters does."""
        bare = _BARE.match(self._text, end) if end - self._end >= LONGEST else None
        return end if bare is None else bare.end()

    def _value(self, at: int, quote: str | None, sep: str) -> tuple[str, bool]:
        """The value as it stands, and whether it is all that its line assigns."""
        text = self._text
        if quote is not None:
            return self._quoted(at, quote), False
        if sep == ">":
            end = text.find("<", at, at + self._reach)
            return text[at:end].rstrip() if end > 0 else "", False
        bare = _BARE.match(text, at, at + self._reach)
        if bare is None:
            return "", False
        value = bare.group()
        alone = self._name.startswith("--") or (sep[0] in "=:?" and _is_alone(text, self._start, bare.end()))
        if alone and value[-1] not in ",;)" and "&" not in value:
            return value, True
        cut = _CUT.search(value)
        value = value[: cut.start()] if cut else value
        return value.partition("%26")[0] if sep[0] == "%" else value, alone

    def _quoted(self, at: int, quote: str) -> str:
        text = self._text
        limit = at + self._reach
        if len(quote) < 3 or quote[0] == "\\":
            line = text.find("\n", at, limit)
            limit = line if line >= 0 else limit
        end = text.find(quote, at, limit)
        while end > 0 and len(quote) == 1 and text[end - 1] == "\\" and text[end - 2] != "\\":
            end = text.find(quote, end + 1, limit)
        if end >= 0:
            return text[at:end]
        bare = _BARE.match(text, at, limit)
        return bare.group() if bare is not None else ""

    def _header(self, scheme: re.Match[str]) -> Iterator[Found]:
        """What follows `Basic`, `Bearer` and the like."""
        value = scheme[2].rstrip(".)]}>")
        start = scheme.start(2)
        self.done = start + len(value)
        if is_placeholder(value) or value[:1] in "{$<%(":
            return
        level = PASSWORD if "auth" in self._name else self._level
        if is_pair(value) or is_secret(value, level, quoted=False, alone=True):
            yield Found(start, self.done, NAMED, "authorization")

    def _cookies(self) -> Iterator[Found]:
        """The values of a Cookie or Set-Cookie line that could open a session."""
        text = self._text
        end = text.find("\n", self._end)
        self.done = end = min(len(text) if end < 0 else end, self._end + 8192)
        for pair in _PAIR.finditer(text, self._end, end):
            name, value = pair[1].lower(), pair[2]
            if name in _COOKIE_PLAIN or is_placeholder(value):
                continue
            level = max(promise(name), SECRET if "sess" in name or name.endswith(("sid", "auth")) else NONE)
            if is_secret(value, level, quoted=True) if level else len(value) >= 16 and is_random(value):
                yield Found(pair.start(2), pair.end(2), NAMED, "cookie")


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether the line is only this assignment: `export NAME=value`."""
    rest = text[end : end + 3]
    if rest.lstrip(" \t")[:1] not in {"", "\n", "\r", "#"} and not rest.startswith(("\\n", '"', "'")):
        return False
    if text[max(0, start - 2) : start] == "\\n":
        return True
    line = text.rfind("\n", max(0, start - 60), start) + 1
    lead = _LEAD.match(text, line) if line or start <= 60 else None
    return lead is not None and lead.end() >= start


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
