"""Secrets in columns: CSV, aligned and Markdown tables, and `INSERT INTO`."""

import re
from collections.abc import Iterator

from toolcrib.safety.scrub.finder import Row, View
from toolcrib.safety.scrub.found import NAMED, Found
from toolcrib.safety.scrub.names import PASSWORD, SECRET, promise
from toolcrib.safety.scrub.values import is_placeholder, is_secret

_HEADS = [
    "password",
    "passwd",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "key",
    "passphrase",
    "pass",
    "credential",
]
_MARKS = (b",", b"\t", b";", b"| ", b',"', b';"', b'\t"', b"_", b", ")  # before the last column
_CELL = rb"[A-Za-z0-9_ \"'-]{0,24}"
ROWS = (
    *(Row(word.encode(), _CELL + rb"[,;|\t][ \t]*[\"']?[A-Za-z_][A-Za-z0-9_ .\"'\-,;|\t]*\r?\n") for word in _HEADS),
    *(Row(word.encode(), rb"[A-Za-z0-9_]{0,12}[\"']?[ \t]*\|[ \t]*\r?\n") for word in _HEADS),
    *(Row(mark + word.encode(), rb"[a-z0-9_]{0,12}[\"']?[ \t]*\r?\n") for word in _HEADS for mark in _MARKS),
    *(Row(word.encode(), rb"[a-z0-9_]{0,12}[ ]{2,}[A-Za-z][A-Za-z0-9_ ]*\r?\n") for word in _HEADS),
    *(Row(b"  " + word.encode(), rb"[a-z0-9_]{0,12}[ ]*\r?\n") for word in _HEADS),
    Row(
        b"insert into",
        rb"[ \t]+[^\s(]{1,64}[ \t]*\([^)]{0,400}(?:passw|pwd|secret|token|api_?key|pass)[^)]{0,400}\)[ \t\r\n]*values",
    ),
)
_HEADER_CELL = re.compile(r"[\"']?[A-Za-z_][\w \-/()]{0,40}[\"']?")
_RULE = re.compile(r"[\s|+:=-]*")
_FIELD = re.compile(r"\s*(?:'((?:[^'\\]|''|\\.)*+)'|\"([^\"]*)\"|([^,()]+))")
_TUPLE = re.compile(r"\(((?:[^()'\"]++|'(?:[^'\\]|''|\\.)*+'|\"[^\"]*+\"|\([^()]*+\))*+)\)")
_HEAD = re.compile(r"[^\s]+(?: [^\s]+)*")
_HEADED = re.compile(r"[A-Za-z][A-Za-z0-9_()-]*(?: [A-Za-z0-9_()-]+)?")
_WORD = re.compile(r"([^\s]{4,})(?=\s{2}|\s*\Z)")
ROWS_READ = 400
INSERTED = 8192  # characters of an INSERT that are read


def knows(text: str, start: int, end: int) -> bool:
    """Whether a match is of this table: a head ends its line."""
    return text[end - 1] == "\n" or text[start : start + 7].lower() == "insert "


class Reader:
    """Reads the tables of one window; a row that was read as such is not read again as a head."""

    def __init__(self, view: View) -> None:
        self._text = view.text
        self._done = 0

    def read(self, start: int, end: int) -> Iterator[Found]:
        """The secrets of a column that is headed so."""
        if start < self._done:
            return
        if self._text[start : start + 7].lower() == "insert ":
            yield from self._insert(start, end)
        else:
            yield from self._columns(start, end)

    def _columns(self, start: int, end: int) -> Iterator[Found]:
        text = self._text
        head = text.rfind("\n", max(0, start - 400), start + 1) + 1
        line = text[head:end].rstrip("\r\n")
        mark = next((mark for mark in ("|", "\t", ";", ",") if mark in line), "")
        if not mark and "  " in line:
            yield from self._aligned(head, end)
            return
        names = [line[a:b] for a, b in _cells(line, mark)] if mark and len(line) < 600 else []
        if sum(map(bool, names)) < 2 or (mark != "|" and not all(names)):
            return
        if not all(_HEADER_CELL.fullmatch(name) or not name for name in names):
            return
        levels = {at: promise(name.strip("\"'").replace(" ", "_")) for at, name in enumerate(names)}
        levels = {at: level for at, level in levels.items() if level >= SECRET}
        if levels:
            yield from self._rows(end, mark, len(names), levels)

    def _aligned(self, head: int, end: int) -> Iterator[Found]:
        """Columns that begin where their heads do, two blanks between them."""
        text = self._text
        heads = list(_HEAD.finditer(text, head, end))
        if len(heads) < 2 or not all(_HEADED.fullmatch(found.group()) for found in heads):
            return
        bounds = [found.start() - head for found in heads]
        levels = {
            at: level for at, found in enumerate(heads) if (level := promise(found.group().replace(" ", "_"))) >= SECRET
        }
        at = end
        for _ in range(ROWS_READ if levels else 0):
            stop = text.find("\n", at)
            row = text[at : stop if stop >= 0 else len(text)]
            if not row.strip():
                return
            for number, level in levels.items():
                cell = _WORD.match(row, bounds[number])
                if (
                    cell is not None
                    and (not bounds[number] or row[bounds[number] - 1] == " ")
                    and _is_held(cell[1], level)
                ):
                    yield Found(
                        at + cell.start(1), at + cell.end(1), NAMED, "password" if level == PASSWORD else "secret"
                    )
            at = self._done = stop + 1 if stop >= 0 else len(text)
            if at >= len(text):
                return

    def _rows(self, at: int, mark: str, width: int, levels: dict[int, int]) -> Iterator[Found]:
        """The cells of these columns, as long as rows have this width."""
        text = self._text
        for _ in range(ROWS_READ):
            stop = text.find("\n", at)
            stop = len(text) if stop < 0 else stop
            row = text[at:stop]
            cells = [] if _RULE.fullmatch(row) else _cells(row, mark)
            if not row.strip() or len(cells) not in {0, width}:
                return
            for number, level in levels.items() if cells else ():
                begin, close = cells[number]
                if _is_held(row[begin:close], level):
                    yield Found(at + begin, at + close, NAMED, "password" if level == PASSWORD else "secret")
            at = self._done = stop + 1
            if at >= len(text):
                return

    def _insert(self, start: int, end: int) -> Iterator[Found]:
        """`INSERT INTO users (name, password) VALUES ('a', 'b'), ('c', 'd')`."""
        text = self._text
        opened = text.find("(", start)
        names = [name.strip(' \t\n`"[]') for name in text[opened + 1 : text.find(")", opened)].split(",")]
        levels = {number: level for number, name in enumerate(names) if (level := promise(name)) >= SECRET}
        stop = text.find(";", end, end + INSERTED)
        self._done = stop = min(len(text), end + INSERTED) if stop < 0 else stop
        for group in _TUPLE.finditer(text, end, stop):
            fields = list(_FIELD.finditer(text, group.start(1), group.end(1)))
            for number, level in levels.items() if len(fields) == len(names) else ():
                which = fields[number].lastindex or 3
                if which < 3 and _is_held(fields[number][which], level):
                    yield Found(*fields[number].span(which), NAMED, "password")


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


def _is_held(value: str, level: int) -> bool:
    if is_secret(value, level, quoted=True, alone=True):
        return True
    plain = len(value) >= 5 and value.isprintable() and " " not in value and value[0] not in "${<`*"
    return plain and level == PASSWORD and not is_placeholder(value)
