"""A name that promises a secret in one field, and the secret in the next: lists, cells, elements and lines of their own."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import NAMED, Found
from toolcrib.safety.scrub.names import NONE, PASSWORD, promise
from toolcrib.safety.scrub.values import is_secret

_BELOW = rb"[\"']?:[ \t]*(?:(?:[|>][-+]?|!!str|&[a-z0-9_]+)[ \t]*)?(?:\r?\n[ \t]+|[ \t])[\"']?[^\s\"':#{}\[\]]{4}"
_CELL = rb"[a-z0-9_]*[`*]*[ \t]*\|[ \t]*[`\"]?[^\s|`\"]{6}"
ROWS = (
    Row(b"value", rb"[\"']?[ \t]*[:=>][ \t]*[\"']?[^\s\"'<>]{4}"),
    Row(b"default", rb"[ \t]*=[ \t]*\"[^\s\"]{4}"),
    Row(b"</key>", rb"\s*<string>[^\s<]{4}"),
    *(
        Row(word, _BELOW)
        for word in (
            b"password",
            b"passwd",
            b"passphrase",
            b"secret",
            b"token",
            b"apikey",
            b"api_key",
            b"api-key",
            b"pass",
            b"pwd",
        )
    ),
    *(
        Row(word, rb"\w*[\"']>[^\s<>\"']{4}[^<>\n]*</")
        for word in (b"password", b"passwd", b"secret", b"token", b"apikey", b"api_key")
    ),
    *(
        Row(word, _CELL)
        for word in (b"password", b"passwd", b"secret", b"token", b"apikey", b"api_key", b"access_key", b"secret_key")
    ),
)
_ATTRIBUTE = re.compile(r"""\w*["']>(?P<value>[^<>"]{4,512})</""")
_NAMES = re.compile(r"""(?:key|name|id)=["'][\w.-]*\Z""")
_NAMED = re.compile(
    r"""(?isx)(?<![A-Za-z])(?:(?:parameter)?(?:name|key)|variable|output|type(?=["']?[ \t]*[:=>]?[ \t]*["']?password))
    ["']?(?:[ \t]*[:=>][ \t]*|[ \t]+)["']?(?P<name>[A-Za-z][\w.:/-]{1,80})["']?(?=[\s,<>}/]|$)"""
)
_OWNER = re.compile(r"""["']?(?P<name>[A-Za-z][\w.-]{1,80})["']?[ \t]*[:=][ \t]*\{[^{}]{0,80}\Z""")
_VALUED = re.compile(r"""(?is)(?:value|default)["']?[ \t]*[:=>][ \t]*(?P<quote>["']?)(?P<value>[^\n"'<>]+)""")
_APART = {"v": 240, "d": 500}  # characters between a name and its value or default
_NAME = re.compile(r"[\w.-]*\Z")
_LINE = re.compile(
    r"""["']?:[ \t]*(?P<mark>[|>][-+]?|!!str|&\w+)?[ \t]*(?P<below>\r?\n[ \t]+)?["']?(?P<value>[^\s"']+)["']?[ \t]*(?=\n|\r|\Z)"""
)
_NEXT = re.compile(r"""\w*[`*]*[ \t]*\|[ \t]*[`"]?(?P<value>[^\s|`"]+)[`"]?[ \t]*\|""")
_STRING = re.compile(r"\s*<string>([^<]{4,512})</string>", re.IGNORECASE)
_KEY = re.compile(r"<key>([^<]{2,80})\Z", re.IGNORECASE)


def knows(lead: bytes, matched: bytes) -> bool:
    """Whether a match that begins so, and is this, is of this table."""
    return (
        lead.startswith((b"value", b"default", b"</key"))
        or b"|" in matched
        or matched.endswith(b"</")
        or _LINED.match(matched) is not None
    )


_LINED = re.compile(rb"[\w-]+[\"']?:[ \t]*(?:[|>!&][^\r\n]*[\r\n]|[\r\n]|!!str|&\w)")


def read(view: View, start: int, end: int) -> Iterator[Found]:
    """The secret in the field beside."""
    text = view.text
    lead = text[start : start + 5].lower()
    if lead in {"value", "defau"}:
        yield from _apart(text, start)
    elif lead == "</key":
        yield from _string(text, start)
    elif text.startswith("</", end - 2):
        yield from _beside(text, start, _ATTRIBUTE)
    else:
        yield from _beside(text, start, _NEXT if "|" in text[start:end] and ":" not in text[start:end] else _LINE)


def _found(text: str, value: str, start: int, level: int, *, quoted: bool) -> Iterator[Found]:
    if value and is_secret(value, level, quoted=quoted, alone=True):
        at = text.index(value, start)
        yield Found(at, at + len(value), NAMED, "password" if level == PASSWORD else "secret")


def _apart(text: str, start: int) -> Iterator[Found]:
    """Environment lists, app settings, Terraform: `name: X` and `value: Y`, or `"X": {"value": "Y"}`."""
    found = _VALUED.match(text, start)
    low = max(0, start - _APART[text[start].lower()])
    low += text[low:start].lower().rfind(text[start : start + 5].lower()) + 1  # not before another value
    if found is None:
        return
    name = _owner(text, low, start)
    level = promise(name) if name else NONE
    if level == NONE:
        return
    value = found["value"].strip()
    if not found["quote"]:
        value = value.rstrip(",} ")
    yield from _found(text, value, found.start("value"), level, quoted=bool(found["quote"]))


def _owner(text: str, low: int, start: int) -> str:
    """The name that this value belongs to."""
    owner = _OWNER.search(text, low, start)
    if owner is not None and promise(owner["name"]) != NONE:
        return owner["name"]
    names = list(_NAMED.finditer(text, low, start))
    inside = start and text[start - 1].isalpha() and text[max(0, start - 9) : start].lower() != "parameter"
    if not names or inside:
        return ""
    between = text[names[-1].end() : start]
    if between.count("\n") > 4 or "\n\n" in between or "value" in between.lower():
        return ""
    return names[-1]["name"]


def _string(text: str, start: int) -> Iterator[Found]:
    """`<key>password</key><string>hunter2</string>` of a property list."""
    found = _STRING.match(text, start + 6)
    name = _KEY.search(text, max(0, start - 90), start)
    if found is not None and name is not None and (level := promise(name[1])) != NONE:
        yield from _found(text, found[1].strip(), found.start(1), level, quoted=True)


def _beside(text: str, start: int, form: re.Pattern[str]) -> Iterator[Found]:
    """The next cell of the row, or the line below the name."""
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    before = _NAME.search(text, max(0, start - 60), start)
    name = (before.group() if before is not None else "") + text[start:end]
    found = form.match(text, end)
    level = promise(name)
    if found is None or level == NONE:
        return
    if form is _ATTRIBUTE and not _NAMES.search(text, max(0, start - 60), start):
        return
    value = found["value"]
    marked = form is _ATTRIBUTE or (form is _LINE and found["mark"] is not None)
    if is_secret(value, level, quoted=marked, alone=marked):
        yield Found(found.start("value"), found.end("value"), NAMED, "password" if level == PASSWORD else "secret")
