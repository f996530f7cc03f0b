"""Searches by the `rg` program: its command line, and its answers as they come.

It runs in the workspace's own handle, follows no link, reads no configuration and no ignore file above the
workspace, and every file it names is looked at again through that handle before it is believed.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import IO, TypeAlias

import msgspec
from msgspec import Struct, field

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.halt import Halt
from toolcrib.safety import patterns
from toolcrib.services.content.files import FileHits, Line, Mode, Query

_FIXED = (
    "--no-config",
    "--no-messages",
    "--no-mmap",  # only then does it look for NUL bytes in the whole of a file
    "--no-require-git",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--no-ignore-parent",
    "--no-follow",
    "--crlf",
    "--color=never",
    "--sort=path",
)
_BLOCK = 1 << 16
Believed: TypeAlias = Callable[[str], bool]
Reader: TypeAlias = Callable[[IO[bytes], Query, Believed], Iterator[FileHits]]


class _Said(Struct):
    """Text, or base64 of bytes that are not UTF-8."""

    text: str = ""
    packed: bytes | None = field(default=None, name="bytes")  # msgspec unpacks the base64

    def raw(self) -> bytes:
        return self.text.encode() if self.packed is None else self.packed


class _Submatch(Struct):
    start: int
    end: int


class _Data(Struct):
    path: _Said | None = None
    lines: _Said | None = None
    line_number: int | None = None
    submatches: tuple[_Submatch, ...] = ()


class _Event(Struct):
    data: _Data
    type: str = ""


_decode = msgspec.json.Decoder(_Event).decode


def command(
    program: str, query: Query, path: str, globs: Sequence[str], *, rules: bool = False, size: int = 0
) -> list[str]:
    """The command line for a query. With `rules`, the workspace's .gitignore holds in a folder below it too."""
    out = [program, *_FIXED, f"--max-filesize={size}"]
    out += [f"--glob={glob}" for glob in globs]
    chosen = {
        "--hidden": query.hidden,
        "--no-ignore": query.no_ignore,
        "--ignore-case": query.ignore_case,
        "--multiline": query.multiline,
        "--multiline-dotall": query.multiline,
        "--ignore-file=.gitignore": rules,
    }
    out += [option for option, holds in chosen.items() if holds]
    if query.mode is Mode.FILES:
        out += ["--files-with-matches", "--null"]
    elif query.mode is Mode.COUNT and not query.multiline:
        out += ["--count", "--null", "--with-filename"]
    else:
        out += ["--json", f"--before-context={query.before}", f"--after-context={query.after}"]
    return [*out, f"--regexp={patterns.for_ripgrep(query.pattern)}", "--", "./" if path == "." else f"./{path}"]


def run(arguments: Sequence[str], where: str, query: Query, halt: Halt, believed: Believed) -> Generator[FileHits]:
    """Start it, and give what it finds file by file. Whoever stops listening stops it."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(  # noqa: S603 - no shell, a fixed program, and the pattern is one argument
            arguments,
            cwd=where,
            env={"PATH": "/usr/bin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        timer = halt.bind(process.kill)
        try:
            assert process.stdout is not None  # noqa: S101 - for the type checker: it was asked for
            read: Reader = _events if "--json" in arguments else _files if query.mode is Mode.FILES else _counts
            yield from read(process.stdout, query, believed)
            halt.check()
            _judge(process.wait(), errors)
        finally:
            timer.cancel()
            process.kill()


def _judge(code: int, errors: IO[bytes]) -> None:
    """Refuse the pattern if it was the trouble. Files that could not be read are passed over, as in any search."""
    if code != 2:
        return
    errors.seek(0)
    told = errors.read(_BLOCK).decode(errors="replace").strip()
    if told.startswith(("rg: regex", "regex")) or "not allowed in a regex" in told:
        raise patterns.bad_pattern(told.splitlines()[-1].removeprefix("error: ").removeprefix("rg: "))
    if told:
        raise ToolFailed(f"ripgrep failed: {told.splitlines()[0][:300]}", code="io_error")


def _path(raw: bytes) -> str:
    return os.fsdecode(raw.removeprefix(b"./"))


def _records(stream: IO[bytes], end: bytes) -> Iterator[bytes]:
    """What lies between two ends; `end` closes each."""
    rest = b""
    while block := stream.read(_BLOCK):
        *whole, rest = (rest + block).split(end)
        yield from whole


def _files(stream: IO[bytes], _query: Query, believed: Believed) -> Iterator[FileHits]:
    for raw in _records(stream, b"\0"):
        if believed(path := _path(raw)):
            yield FileHits(path, 1)


def _counts(stream: IO[bytes], _query: Query, believed: Believed) -> Iterator[FileHits]:
    for raw in stream:
        name, _, count = raw.rpartition(b"\0")
        if believed(path := _path(name)):
            yield FileHits(path, int(count))


def _events(stream: IO[bytes], query: Query, believed: Believed) -> Iterator[FileHits]:
    path, lines = "", dict[int, Line]()
    taking = False
    count = 0
    for raw in stream:
        event = _decode(raw)
        if event.type == "begin" and event.data.path:
            path, lines, count = _path(event.data.path.raw()), {}, 0
            taking = believed(path)
        elif event.type == "end" and taking:
            if count:
                yield _hits(path, lines, count, query)
            taking = False
        elif taking and event.type in {"match", "context"}:
            count += _take(event, lines)
            if query.mode is Mode.CONTENT and count > query.limit:
                yield _hits(path, lines, count, query)
                return


def _hits(path: str, lines: dict[int, Line], count: int, query: Query) -> FileHits:
    if query.mode is not Mode.CONTENT:
        return FileHits(path, count, ())
    # ripgrep also gives the context of an empty match behind the last line, which is no line.
    matches = [number for number, line in lines.items() if line.match]
    near = {one for number in matches for one in range(number - query.before, number + query.after + 1)}
    return FileHits(path, count, tuple(lines[number] for number in sorted(near & lines.keys())))


def _take(event: _Event, lines: dict[int, Line]) -> int:
    """Note an event's lines; how many of them matched and were not noted yet."""
    said, number = event.data.lines, event.data.line_number or 1
    match = event.type == "match"
    begins = _Columns(event.data.submatches)
    fresh = at = 0
    for line in (said.raw() if said else b"").removesuffix(b"\n").split(b"\n"):
        column = begins.within(at, at + len(line))
        known = lines.get(number)
        if known is None or (match and not known.match):
            fresh += match
            lines[number] = Line(number, line.rstrip(b"\r").decode(errors="replace"), match, column)
        number += 1
        at += len(line) + 1
    return fresh


class _Columns:
    """Where in each line the first match that touches it begins. Asked line by line, it looks at each match once."""

    def __init__(self, found: Sequence[_Submatch]) -> None:
        self._found = found
        self._at = 0

    def within(self, start: int, end: int) -> int:
        """0 if the match begins above the line, or there is none."""
        while self._at < len(self._found):
            one = self._found[self._at]
            if max(one.start, one.end - 1) >= start:
                return max(0, one.start - start) if one.start <= end else 0
            self._at += 1
        return 0
