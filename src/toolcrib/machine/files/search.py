"""Looks for lines in files. ripgrep does it where it can; the engine in here gives the same answers everywhere.

plan  ──►  files that match, in path order, lazily  ──►  gathered up to the limit
           ripgrep.py, or `look` below
"""

import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from toolcrib.core.heavy import heavy
from toolcrib.machine import ripgrep
from toolcrib.machine.files import faults, tree
from toolcrib.machine.files.root import Root
from toolcrib.machine.halt import Halt
from toolcrib.safety import boundaries, patterns
from toolcrib.safety.globs import quoted
from toolcrib.safety.ignore import VERSION_CONTROL, Sieve, Wanted
from toolcrib.safety.text import searchable
from toolcrib.services.content.files import BYTES_SEARCHED, FileHits, Hits, Line, Mode, Query


class Match(Struct, frozen=True):
    """A line that matched: its number, where it lies in the data, and at which byte of it the first match begins."""

    number: int
    start: int
    end: int
    column: int


def search(root: Root, query: Query, halt: Halt, program: str | None = None) -> Hits:
    """Search by ripgrep if there is one and the query lets it, else by ourselves."""
    patterns.checked(query.pattern, multiline=query.multiline)
    globs = ([query.glob] if query.glob else []) + [f"!{name}" for name in sorted(VERSION_CONTROL)]
    sieve = Sieve(Wanted(globs), query.hidden)
    with root.entered(query.path) as handle:
        top, status = tree.start(root, handle, query.path)
        if not stat.S_ISDIR(status.st_mode):
            return _gathered(look(root, handle, _single(top, status, query), query, halt), query)
        os.close(root.beneath.open_plain(handle, top, os.O_RDONLY | os.O_DIRECTORY))
        passed = tree.Passed(BYTES_SEARCHED)
        files = tree.candidates(root, handle, top, sieve, ignore=not query.no_ignore, passed=passed)
        if program and (query.no_ignore or _plain_parents(root, handle, top)):
            globs += [f"!/{quoted(prefix)}" for prefix in root.barred.prefixes]
            rules = _root_rules(root, handle, top) and not query.no_ignore
            command = ripgrep.command(program, query, top, globs, rules=rules, size=BYTES_SEARCHED)
            where = f"/proc/self/fd/{handle}" if os.path.exists("/proc/self/fd") else root.path  # noqa: PTH110
            found = ripgrep.run(command, where, query, halt, lambda path: _data(root, handle, path) is not None)
            return _with_passed(_gathered(found, query), passed, files, halt)
        return _with_passed(_gathered(look(root, handle, files, query, halt), query), passed, (), halt)


def _with_passed(hits: Hits, passed: tree.Passed, rest: Iterable[str], halt: Halt) -> Hits:
    """The hits, and what was not looked into; ripgrep does not tell, so its walk is walked once more."""
    if hits.cut:
        return hits
    for _ in rest:
        halt.check()
    return msgspec.structs.replace(hits, large=tuple(passed.large), linked=tuple(passed.linked))


def _single(path: str, status: os.stat_result, query: Query) -> list[str]:
    """A file that was named: what keeps it from being searched is said."""
    if not stat.S_ISREG(status.st_mode):
        raise faults.irregular(query.path)
    if status.st_nlink > 1:
        raise faults.linked(query.path)
    if status.st_size > BYTES_SEARCHED:
        raise faults.too_large(query.path, status.st_size, BYTES_SEARCHED)
    return [path]


def _plain_parents(root: Root, handle: int, top: str) -> bool:
    """Whether ripgrep can be told of every ignore file above the path: only the workspace's own .gitignore."""
    for parent in tree.parents(top):
        present = {one.name for one in tree.names(root, handle, parent)}
        if present & {".rgignore", ".ignore"} or (parent != "." and ".gitignore" in present):
            return False
    return True


def _root_rules(root: Root, handle: int, top: str) -> bool:
    return top != "." and tree.content(root, handle, ".gitignore", tree.BYTES_OF_RULES) is not None


def _data(root: Root, handle: int, path: str) -> bytes | None:
    data = tree.content(root, handle, path, BYTES_SEARCHED)
    return None if data is None else searchable(data)


class Finder:
    """A pattern, compiled as far as it is needed."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self.strict = self._compiled(patterns.for_re2(query.pattern, multiline=query.multiline))
        self._bounded = not query.multiline and boundaries.bounded(query.pattern)

    @cached_property
    def loose(self) -> Any:  # noqa: ANN401 - re2 has no types
        """Finds at least what the pattern finds."""
        return self._compiled(patterns.for_re2(boundaries.loose(self._query.pattern), multiline=False))

    @cached_property
    def _marked(self) -> Any:  # noqa: ANN401 - re2 has no types
        return self._compiled(boundaries.for_marked(self._query.pattern))

    def scout(self, data: bytes) -> Any:  # noqa: ANN401 - re2 has no types
        """What finds the lines of these data that are worth a look."""
        return self.loose if self._bounded and not data.isascii() else self.strict

    def column(self, line: bytes) -> int:
        """Where in a line the first match begins; -1 if there is none."""
        if not self._bounded or line.isascii():
            found = self.strict.search(line)
            return found.start() if found else -1
        marked = boundaries.marked(line.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        found = self._marked.search(marked)
        return boundaries.column(marked, found.start()) if found else -1

    def _compiled(self, written: str) -> Any:  # noqa: ANN401 - re2 has no types
        """For bytes of UTF-8, in linear time."""
        re2 = heavy("re2")
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not self._query.ignore_case
        try:
            re2.compile(
                patterns.spelled(self._query.pattern), options
            )  # what is wrong is told about the pattern as it was given
            return re2.compile(f"(?{'ms' if self._query.multiline else 'm'}){written}".encode(), options)
        except re2.error as error:
            why = error.args[0] if error.args else b""
            raise patterns.bad_pattern(why.decode(errors="replace") if isinstance(why, bytes) else str(why)) from None


def look(root: Root, handle: int, files: Iterable[str], query: Query, halt: Halt) -> Generator[FileHits]:
    """Our own engine."""
    finder = Finder(query)
    for path in files:
        halt.check()
        data = _data(root, handle, path)
        if not data:
            continue
        if not query.multiline:
            data = data.replace(b"\r\n", b"\n")
        matches = _across(finder.strict, data, halt) if query.multiline else _by_line(finder, data, halt)
        hits = _hits(path, data, matches, query)
        if hits.count:
            yield hits


def _by_line(finder: Finder, data: bytes, halt: Halt) -> Iterator[Match]:
    """Lines that match by themselves: each that is worth a look is looked at alone."""
    scout = finder.scout(data)
    number = counted = at = 0
    while at < len(data) and (found := scout.search(data, at)) and found.start() < len(data):
        halt.check()
        start = data.rfind(b"\n", 0, found.start()) + 1
        end = data.find(b"\n", found.start())
        end = len(data) if end < 0 else end
        number += data.count(b"\n", counted, start)
        counted = start
        column = finder.column(data[start:end])
        if column >= 0:
            yield Match(number + 1, start, end, column)
        at = end + 1


def _across(expression: Any, data: bytes, halt: Halt) -> Iterator[Match]:  # noqa: ANN401 - re2 has no types
    """Lines that a match touches. The lines of one match follow each other; none is given twice."""
    number, at = 0, 0  # of the first line not given yet
    for found in expression.finditer(data):
        halt.check()
        first, last = found.span()
        last = max(first, last - 1)
        while at < len(data) and at <= last:
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            number += 1
            if end >= first:
                yield Match(number, at, end, max(0, first - at))
            at = end + 1


def _hits(path: str, data: bytes, matches: Iterator[Match], query: Query) -> FileHits:
    if query.mode is Mode.FILES:
        return FileHits(path, int(next(matches, None) is not None))
    if query.mode is Mode.COUNT:
        return FileHits(path, sum(1 for _ in matches))
    # One more than is shown: it says that there is more, and where the last context ends.
    shown = [match for match, _ in zip(matches, range(query.limit + 1), strict=False)]
    if not (query.before or query.after):
        return FileHits(path, len(shown), tuple(_line(data, match) for match in shown))
    return FileHits(path, len(shown), tuple(_with_context(data, shown, query)))


def _line(data: bytes, match: Match) -> Line:
    return Line(match.number, data[match.start : match.end].rstrip(b"\r").decode(errors="replace"), column=match.column)


def _with_context(data: bytes, matches: list[Match], query: Query) -> Iterator[Line]:
    lines = data.removesuffix(b"\n").split(b"\n")
    by_number = {match.number: match for match in matches}
    around = sorted(
        {
            number
            for match in matches
            for number in range(max(1, match.number - query.before), min(len(lines), match.number + query.after) + 1)
        }
    )
    for number in around:
        match = by_number.get(number)
        text = lines[number - 1].rstrip(b"\r").decode(errors="replace")
        yield _line(data, match) if match else Line(number, text, match=False)


def _gathered(found: Generator[FileHits], query: Query) -> Hits:
    """The first hits, up to the limit; then the engine is stopped."""
    with closing(found):
        return _first(found, query)


def _first(found: Iterator[FileHits], query: Query) -> Hits:
    """The first hits: so many lines when lines are asked for, else so many files."""
    files: list[FileHits] = []
    left = query.limit
    for hits in found:
        if left == 0:
            return Hits(tuple(files), cut=True)
        if query.mode is not Mode.CONTENT:
            files.append(hits)
            left -= 1
            continue
        if hits.count > left:
            files.append(_cut(hits, left))
            return Hits(tuple(files), cut=True)
        files.append(hits)
        left -= hits.count
    return Hits(tuple(files))


def _cut(hits: FileHits, count: int) -> FileHits:
    places = [index for index, line in enumerate(hits.lines) if line.match]
    return msgspec.structs.replace(hits, count=count, lines=hits.lines[: places[count]])
