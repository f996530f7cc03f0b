"""`toolcrib check secrets`: whether a text holds a credential."""

import codecs
import os
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import click
from msgspec import Struct

from toolcrib.faces.cli.check.lines import Row, answer, asked_rows
from toolcrib.faces.cli.frame import Asked, Command, pass_asked
from toolcrib.faces.cli.opening import find
from toolcrib.safety.scrub import Found, Scrubber

CHUNK = 1 << 16


class Line(Struct):
    """What a program asks about on one line."""

    text: str


def unread(why: str) -> Row:
    """What is not understood is refused."""
    return {"verdict": "deny", "rule": "input", "why": why}


def verdict(found: Sequence[Found], start: int = 0) -> Row:
    """The verdict about a text, given where its secrets stand. `start`: where the text begins in what was searched."""
    if not found:
        return {"verdict": "allow", "why": "no secret was found in it", "found": []}
    kinds = sorted({find.kind for find in found})
    places = [{"kind": find.kind, "start": find.start - start, "end": find.end - start} for find in found]
    return {"verdict": "deny", "rule": kinds[0], "why": f"it holds a secret ({', '.join(kinds)})", "found": places}


@click.command(
    "secrets",
    cls=Command,
    examples=(
        "toolcrib check secrets 'the deploy took 12 seconds'",
        'echo \'{"text": "nothing to hide"}\' | toolcrib check secrets --jsonl',
    ),
)
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--jsonl", is_flag=True, help='Read {"text"} lines; write {"verdict", "rule", "why", "found"} lines.')
@pass_asked
def command(asked: Asked, texts: tuple[str, ...], jsonl: bool) -> int:
    """Say allow or deny about each TEXT, or about each line of standard input. A secret is never printed.

    Lines of standard input are looked at together, so a key that fills many lines makes each of them denied. Values of
    the environment variables under `scrub.env` count too. Exit code 1 if a text is denied, 2 if a line could not be read.
    """
    _, config = find(asked)
    scrubber = Scrubber([(name, os.environ[name]) for name in config.scrub_env if name in os.environ])
    if jsonl:
        rows = asked_rows(Line, lambda line: verdict(scrubber.scan(line.text)[1]), unread)
    elif texts:
        rows = iter([verdict(scrubber.scan(text)[1]) for text in texts])
    else:
        rows = _lines(scrubber)
    return answer(rows, as_json=jsonl or asked.json)


def _lines(scrubber: Scrubber) -> Iterator[Row]:
    """A verdict for each line of standard input. Only where lines begin and where secrets stand is kept of it."""
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    stream = scrubber.stream(keep=True)
    starts, size = [0], 0
    ended = False
    while not ended:
        chunk = sys.stdin.buffer.read(CHUNK)
        ended = not chunk
        text = decode(chunk, final=ended)
        stream.feed(text)
        at = text.find("\n")
        while at >= 0:
            starts.append(size + at + 1)
            at = text.find("\n", at + 1)
        size += len(text)
    stream.end()
    if starts[-1] == size:
        starts.pop()  # no line begins behind the last line end, and none at all in nothing
    held: dict[int, list[Found]] = {}
    for one in stream.found:
        for number in range(bisect_right(starts, one.start) - 1, bisect_right(starts, one.end - 1)):
            held.setdefault(number, []).append(one)
    ends = [*starts[1:], size][: len(starts)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        yield verdict([_within(find, start, end) for find in held.get(number, ())], start)


def _within(find: Found, start: int, end: int) -> Found:
    return Found(max(find.start, start), min(find.end, end), find.rank, find.kind)
