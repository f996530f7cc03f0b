"""A PDF's text, read by a process that can be killed: the parser is large, and the file may be hostile."""

import subprocess
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.safety.paths import shown

SECONDS = 25.0
_WORKER = str(Path(__file__).with_name("pdf_worker.py"))


class _Answer(Struct):
    pages: tuple[str, ...] = ()
    error: str = ""


def pages(path: str, data: bytes, *, seconds: float = SECONDS) -> tuple[str, ...]:
    """The text of each page."""
    try:
        done = subprocess.run(  # noqa: S603 - our own worker, with nothing of the caller's in the command
            [sys.executable, "-I", _WORKER], input=data, capture_output=True, timeout=seconds, env={}, check=False
        )
    except subprocess.TimeoutExpired:
        raise _unreadable(path, f"reading it took more than {seconds:g} s") from None
    if done.returncode:
        raise _unreadable(path, "reading it took too much time or memory")
    try:
        answer = msgspec.json.decode(done.stdout, type=_Answer)
    except msgspec.DecodeError:
        raise _unreadable(path, "it is damaged") from None
    if answer.error:
        raise _unreadable(path, answer.error)
    return answer.pages


def _unreadable(path: str, why: str) -> ToolFailed:
    return ToolFailed(
        f"{shown(path)}: no text could be taken from this PDF: {why}.",
        code="unreadable_pdf",
        hint="Ask a person for the text, or for the file in another form.",
    )
