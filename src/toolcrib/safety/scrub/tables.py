"""Secrets in columns: CSV, aligned and Markdown tables, `INSERT INTO`; and the data of Kubernetes secrets."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import FORM, NAMED, Found
from toolcrib.safety.scrub.names import PASSWORD, SECRET, promise
from toolcrib.safety.scrub.values import is_placeholder, is_secret

_HEADS = "password passwd pwd secret token api_key apikey key passphrase pass credential".split(" ")
_MARKS = (b",", b"\t", b";", b"| ", b',"', b"_", b", ")  # before the last column
_CELL = rb"[A-Za-z0-9_ \"'-]{0,24}"
ROWS = (
    *(Row(word.encode(), _CELL + rb"[,;|\t][ \t]*[\"']?[A-Za-z_][A-Za-z0-9_ .\"'\-,;|\t]*\r?\n") for word in _HEADS),
    *(Row(word.encode(), rb"[A-Za-z0-9_]{0,12}[\"']?[ \t]*\|[ \t]*\r?\n") for word in _HEADS),
    *(Row(mark + word.encode(), rb"[a-z0-9_]{0,12}[\"']?[ \t]*\r?\n") for word in _HEADS for mark in _MARKS),
    Row(b"insert into", rb"[ \t]+[^\s(]{1,64}[ \t]*\([^)]{0,400}(?:passw|pwd|secret|token|api_?key|pass)[^)]{0,400}\)[ \t\r\n]*values"),
    Row(b"kind", rb"[\"']?[ \t]*:[ \t]*[\"']?Secret[\"']?[ \t]*[,}\r\n]"),
)
_HEADER_CELL = re.compile(r"[\"']?[A-Za-z_][\w \-/()]{0,40}[\"']?")
_RULE = re.compile(r"[\s|+:=-]*")
_BLOCK = re.compile(
    r"(?m)^(?P<indent>[ -]*)(?:data|stringData):[ \t]*\r?\n(?P<body>(?:(?P=indent)[ ]+[^\n]*(?:\n|\Z)|[ \t]*(?:\n))+)"
)
_ENTRY = re.compile(
    r"(?m)^[ ]+[\"']?[\w.\-/]+[\"']?:[ \t]*(?:[|>][-+]?[ \t]*\r?\n(?P<text>(?:[ ]{4,}[^\n]*(?:\n|\Z))+)|[\"']?(?P<value>[^\s\"'#][^\n\"']*))"
)
_JSON = re.compile(r"\"(?:data|stringData)\"[ \t]*:[ \t]*\{([^{}]*)\}")
_JSON_ENTRY = re.compile(r"\"[^\"]+\"[ \t]*:[ \t]*\"([^\"]+)\"")
_FIELD = re.compile(r"\s*(?:'((?:[^'\\]|''|\\.)*)'|\"([^\"]*)\"|([^,()]+))")
ROWS_READ = 400


def knows(text: str, start: int, end: int) -> bool:
    """Whether a match is of this table: a head ends its line."""
    return text[end - 1] == "\n" or text[start : start + 7].lower().startswith(("insert ", "kind"))


def read(view: View, start: int, end: int) -> Iterator[Found]:
    """The secrets of a column that is headed so."""
    lead = view.text[start : start + 4].lower()
    if lead == "kind":
        yield from _kubernetes(view.text, start)
    elif lead == "inse":
        yield from _insert(view.text, start, end)
    else:
        yield from _columns(view.text, start, end)


def _cells(line: str, mark: str) -> list[tuple[int, int]]:
    """Where the cells of a line stand, without blanks and quotes."""
    cells: list[tuple[int, int]] = []
    at = 0
    while at <= len(line):
        start = at
        while start < len(line) and line[start] == " ":
            start += 1
        if start < len(line) and line[start] == '"' and (close := line.find('"', start + 1)) > 0:
            end = close
            at = line.find(mark, close)
            start += 1
        else:
            at = line.find(mark, start)
            end = len(line) if at < 0 else at
            while end > start and line[end - 1] in " \r\t":
                end -= 1
        cells.append((start, end))
        if at < 0:
            break
        at += len(mark)
    return cells


def _columns(text: str, start: int, end: int) -> Iterator[Found]:
    head = text.rfind("\n", max(0, start - 400), start + 1) + 1
    line = text[head:end].rstrip("\r\n")
    mark = next((mark for mark in ("|", "\t", ";", ",") if mark in line), "")
    names = [line[a:b] for a, b in _cells(line, mark)] if mark and len(line) < 600 else []
    if sum(map(bool, names)) < 2 or (mark != "|" and not all(names)):
        return
    if not all(_HEADER_CELL.fullmatch(name) or not name for name in names):
        return
    levels = {at: level for at, name in enumerate(names) if (level := promise(name.strip("\"'").replace(" ", "_"))) >= SECRET}
    if levels:
        yield from _rows(text, end, mark, len(names), levels)


def _rows(text: str, at: int, mark: str, width: int, levels: dict[int, int]) -> Iterator[Found]:
    """The cells of these columns, as long as rows have this width."""
    for _ in range(ROWS_READ):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        row = text[at:stop]
        if not row.strip():
            return
        if not _RULE.fullmatch(row):
            cells = _cells(row, mark)
            if len(cells) != width:
                return
            for number, level in levels.items():
                begin, close = cells[number]
                if _is_held(row[begin:close], level):
                    yield Found(at + begin, at + close, NAMED, "password" if level == PASSWORD else "secret")
        at = stop + 1
        if at >= len(text):
            return


def _is_held(value: str, level: int) -> bool:
    return is_secret(value, level, quoted=True, alone=True) or (level == PASSWORD and _is_chosen(value))


def _is_chosen(value: str) -> bool:
    return (
        len(value) >= 5
        and value.isprintable()
        and " " not in value
        and not is_placeholder(value)
        and not value.startswith(("$", "{", "<"))
    )


def _insert(text: str, start: int, end: int) -> Iterator[Found]:
    """`INSERT INTO users (name, password) VALUES ('a', 'b'), ('c', 'd')`."""
    opened = text.find("(", start)
    names = [name.strip(' \t\n`"[]') for name in text[opened + 1 : text.find(")", opened)].split(",")]
    levels = {number: level for number, name in enumerate(names) if (level := promise(name)) >= SECRET}
    stop = text.find(";", end, end + 8192)
    stop = min(len(text), end + 8192) if stop < 0 else stop
    for group in re.compile(r"\(((?:[^()'\"]|'(?:[^'\\]|''|\\.)*'|\"[^\"]*\"|\([^()]*\))*)\)").finditer(
        text, end, stop
    ):
        fields = list(_FIELD.finditer(text, group.start(1), group.end(1)))
        if len(fields) != len(names):
            continue
        for number, level in levels.items():
            which = fields[number].lastindex or 3
            value = fields[number][which]
            if which < 3 and (
                is_secret(value, level, quoted=True, alone=True) or (level == PASSWORD and _is_chosen(value))
            ):
                yield Found(*fields[number].span(which), NAMED, "password")


def _kubernetes(text: str, start: int) -> Iterator[Found]:
    """The data of the manifest in which `kind: Secret` stands."""
    if text[start - 1 : start] == '"':
        low, high = max(0, start - 8192), min(len(text), start + 8192)
        for block in _JSON.finditer(text, low, high):
            for entry in _JSON_ENTRY.finditer(text, block.start(1), block.end(1)):
                yield from _datum(text, *entry.span(1))
        return
    line = text.rfind("\n", 0, start) + 1
    indent = start - line
    low = text.rfind("\n---", 0, start) + 1
    high = text.find("\n---", start)
    for block in _BLOCK.finditer(text, low, len(text) if high < 0 else high):
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
