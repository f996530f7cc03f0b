"""`toolcrib scrub`: a filter that takes secrets out of what is piped through."""

import codecs
import os
import sys

import click
import msgspec

from toolcrib.faces.cli.faults import FAILED
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import find
from toolcrib.faces.cli.output import write_line
from toolcrib.safety.scrub import Scrubber

CHUNK = 1 << 16


class Line(msgspec.Struct):
    """What a program asks about on one line."""

    text: str


@declare(
    "scrub",
    "cat server.log | toolcrib scrub",
    'echo \'{"text": "password=hunter2-and-more"}\' | toolcrib scrub --jsonl',
    json=False,
)
@click.option("--jsonl", is_flag=True, help='Read {"text"} lines, write {"text", "found"} lines.')
@pass_asked
def command(asked: Asked, jsonl: bool) -> int:
    """Copy standard input to standard output with every secret replaced by a mark.

    Values of the environment variables under `scrub.env` in the configuration are taken out too.
    """
    _, config = find(asked)
    secrets = [(name, os.environ[name]) for name in config.scrub_env if name in os.environ]
    scrubber = Scrubber(secrets)
    if jsonl:
        return _lines(scrubber)
    # What is no UTF-8 passes through byte by byte, as it came.
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    stream = scrubber.stream()
    out = sys.stdout.buffer
    while chunk := os.read(sys.stdin.fileno(), CHUNK):
        out.write(stream.feed(decode(chunk)).encode(errors="surrogateescape"))
        out.flush()
    rest: str = stream.feed(decode(b"", final=True)) + stream.end()
    out.write(rest.encode(errors="surrogateescape"))
    out.flush()
    return 0


def _lines(scrubber: Scrubber) -> int:
    code = 0
    for raw in sys.stdin.buffer:
        try:
            asked = msgspec.json.decode(raw, type=Line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            write_line({"error": {"code": "invalid_line", "message": f'This is not {{"text": "..."}}: {error}'}})
            code = FAILED
            continue
        text, found = scrubber.scan(asked.text)
        write_line({"text": text, "found": [{"kind": f.kind, "start": f.start, "end": f.end} for f in found]})
    return code
