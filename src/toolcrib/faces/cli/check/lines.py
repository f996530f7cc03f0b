"""Lines in, verdicts out: what every sub-command of `check` shares.

A line is answered before the next one is read, so that a program can ask and wait. A line that cannot be read gets the
verdict that its sub-command gives to what it does not understand, and makes the exit code 2.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeVar

import click
import msgspec

from toolcrib.faces.cli.faults import FAILED, WRONG_USE
from toolcrib.faces.cli.output import plain, write_line

T = TypeVar("T")
Row = dict[str, object]
LONGEST = 8 * 1024 * 1024
DENY = "deny"


def lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines that are not blank, without their ends; None for one that is too long to hold."""
    while line := source.readline(LONGEST + 1):
        if len(line) > LONGEST:
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST)
            yield None
        elif line.strip():
            yield line.rstrip(b"\r\n")


def answer(rows: Iterator[Row], *, as_json: bool) -> int:
    """Print each verdict as it comes; the exit code."""
    code = 0
    for row in rows:
        if row.get("rule") == "input" or row.get("code") == "input":
            code = WRONG_USE
        elif row["verdict"] == DENY:
            code = code or FAILED
        if as_json:
            write_line(row)
        else:
            click.echo(_told(row))
    return code


def asked_rows(form: type[T], judge: Callable[[T], Row], unread: Callable[[str], Row]) -> Iterator[Row]:
    """A verdict for each JSON line of standard input."""
    decode = msgspec.json.Decoder(form).decode
    for line in lines(sys.stdin.buffer):
        if line is None:
            yield unread(f"the line is longer than {LONGEST:,} bytes")
            continue
        try:
            asked = decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            yield unread(f"the line is no JSON of the form that is read here: {error}")
            continue
        yield judge(asked)


def plain_rows(words: Sequence[str], judge: Callable[[str], Row], unread: Callable[[str], Row]) -> Iterator[Row]:
    """A verdict for each argument; without arguments, for each line of standard input."""
    yield from map(judge, words)
    for line in () if words else lines(sys.stdin.buffer):
        if line is None:
            yield unread(f"the line is longer than {LONGEST:,} bytes")
        else:
            yield judge(line.decode("utf-8", "surrogateescape"))


def _told(row: Row) -> str:
    name = row.get("rule") or row.get("code") or row.get("url") or ""
    at = f" ({row['connected']})" if row.get("connected") else ""
    told = f"{row['verdict']:<6}{name}{at}{': ' if name else ''}{row['why']}"
    instead = row.get("instead")
    return plain(f"{told}. Instead: {instead}" if instead else told)
