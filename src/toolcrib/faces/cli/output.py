"""What is printed: JSON for programs; columns for people, in colour on a terminal only."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
import msgspec

NARROW = 24  # columns left for the last column, below which it stands on lines of its own
STEP = 4  # columns that those lines are set in


def write_json(value: object) -> None:
    """One JSON document."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def write_line(value: object) -> None:
    """One JSON line."""
    click.echo(msgspec.json.encode(value))


def plain(text: str) -> str:
    """A text with what could steer a terminal, or hide in it, written out. Line feeds and tabs stay."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in "\n\t" else _named(sign) for sign in text)


def _named(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def one_line(text: str, most: int = 100) -> str:
    """The beginning of a text, on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


def write_table(head: Sequence[str], rows: Iterable[Sequence[object]], *, indent: str = "") -> None:
    """Columns. On a terminal the last one wraps; elsewhere each row is one line, which programs like better."""
    cells = [[one_line(plain(str(cell)), 1000) for cell in row] for row in rows]
    if not cells:
        return
    every = [list(head), *cells] if any(head) else cells
    widths = [max(len(row[i]) for row in every) for i in range(len(head) - 1)]
    width = shutil.get_terminal_size().columns - len(indent) if sys.stdout.isatty() else 0
    if any(head):
        click.echo(indent + click.style(_row(head, widths), bold=True))
    for row in cells:
        for line in _lines(row, widths, width):
            click.echo(indent + line)


def hanging(text: str, indent: int) -> str:
    """A text that begins in a column. On a terminal it stays in it."""
    room = shutil.get_terminal_size().columns - indent if sys.stdout.isatty() else 0
    return text if room < NARROW else ("\n" + " " * indent).join(_wrapped(text, room))


def colour(env: Mapping[str, str] = os.environ) -> bool | None:
    """Whether colours are wanted; None leaves it to whether this is a terminal. NO_COLOR is everybody's convention."""
    said = {"always": True, "never": False}.get(env.get("TOOLCRIB_COLOR", ""))
    return False if said is None and env.get("NO_COLOR") else said


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: 1 tool, 2 tools."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join([*padded, cells[-1]]).rstrip()


def _lines(row: Sequence[str], widths: Sequence[int], width: int) -> Iterator[str]:
    """A row as lines that fit so many columns; 0 is no bound."""
    room = width - sum(widths) - 2 * len(widths)
    whole = _row(row, widths)
    if not width or len(whole) <= width:
        yield whole
    elif room < NARROW:
        yield _row([*row[:-1], ""], widths)
        yield from (" " * STEP + part for part in _wrapped(row[-1], max(width - STEP, NARROW)))
    else:
        for i, part in enumerate(_wrapped(row[-1], room)):
            yield _row([*(row[:-1] if i == 0 else [""] * len(widths)), part], widths)


def _wrapped(text: str, room: int) -> list[str]:
    return textwrap.wrap(text, room, break_on_hyphens=False)
