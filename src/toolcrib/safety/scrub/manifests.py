"""The data of Kubernetes secrets, in YAML and JSON: every value is one, whatever its name."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import FORM, Found
from toolcrib.safety.scrub.values import is_placeholder

ROWS = (Row(b"kind", rb"[\"']?[ \t]*:[ \t]*[\"']?Secret[\"']?[ \t]*[,}\r\n]"),)
MANIFESTS = 24  # in one window
_NEAR = 6000  # characters between a manifest's kind and its data
_BLOCK = re.compile(
    r"(?m)^(?P<indent>[ -]*)(?:data|stringData):[ \t]*\r?\n(?P<body>(?:(?P=indent)[ ]+[^\n]*+(?:\n|\Z)|[ \t]*+\n)++)"
)
_ENTRY = re.compile(
    r"(?m)^[ ]+[\"']?[\w.\-/]+[\"']?:[ \t]*(?:[|>][-+]?[ \t]*\r?\n(?P<text>(?:[ ]{4,}[^\n]*(?:\n|\Z))+)|[\"']?(?P<value>[^\s\"'#][^\n\"']*))"
)
_JSON = re.compile(r"\"(?:data|stringData)\"[ \t]*:[ \t]*\{([^{}]*)\}")
_JSON_ENTRY = re.compile(r"\"[^\"]+\"[ \t]*:[ \t]*\"([^\"]+)\"")


class Reader:
    """Reads the manifests of one window."""

    def __init__(self, view: View) -> None:
        self._text = view.text
        self._read = 0

    def read(self, start: int) -> Iterator[Found]:
        """The secrets of one; after many in one window the rest is left to the other passes."""
        self._read += 1
        if self._read <= MANIFESTS:
            yield from _manifest(self._text, start)


def _manifest(text: str, start: int) -> Iterator[Found]:
    """The data of the manifest in which `kind: Secret` stands."""
    if text[start - 1 : start] == '"':
        low, high = max(0, start - _NEAR), min(len(text), start + _NEAR)
        for block in _JSON.finditer(text, low, high):
            for entry in _JSON_ENTRY.finditer(text, block.start(1), block.end(1)):
                yield from _datum(text, *entry.span(1))
        return
    line = text.rfind("\n", 0, start) + 1
    indent = start - line
    low = max(text.rfind("\n---", 0, start) + 1, text.rfind("\n", 0, max(0, start - _NEAR)) + 1)
    high = text.find("\n---", start, start + _NEAR)
    for block in _BLOCK.finditer(text, low, start + _NEAR if high < 0 else high):
        if len(block["indent"]) == indent and not _between(text, block.start(), start, indent):
            for entry in _ENTRY.finditer(text, block.start("body"), block.end("body")):
                yield from _datum(text, *entry.span("text" if entry["text"] else "value"))


def _between(text: str, one: int, two: int, indent: int) -> bool:
    """Whether another item of a list begins between the two places."""
    low, high = sorted((one, two))
    return indent > 0 and re.search(rf"(?m)^[ ]{{0,{max(0, indent - 2)}}}- ", text[low + 1 : high]) is not None


def _datum(text: str, start: int, end: int) -> Iterator[Found]:
    raw = text[start:end]
    value = raw.strip()
    start += len(raw) - len(raw.lstrip())
    if not value or is_placeholder(value) or value.startswith(("$", "{{", "<", "[REDACTED")) or _is_public(value):
        return
    yield Found(start, start + len(value), FORM, "kubernetes")


def _is_public(value: str) -> bool:
    """A certificate, which everybody may see; or what is empty or a plain switch."""
    try:
        plain = b64decode(value[:64] + "=" * (-len(value[:64]) % 4)) if len(value) > 40 else b64decode(value)
    except (NotBase64, ValueError):
        plain = value.encode()
    return (
        b"BEGIN CERTIFICATE" in plain
        or b"BEGIN PUBLIC" in plain
        or "BEGIN CERTIFICATE" in value
        or plain in {b"true", b"false"}
    )
