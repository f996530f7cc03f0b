"""What goes into the vault and out of it: a value that nobody sees being typed, and files for their owner only."""

import os
import sys
from pathlib import Path

import click

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy

MOST = 1024 * 1024  # of what is piped in; more is refused as too long


def read_input(question: str, *, twice: bool = False) -> str:
    """A value from standard input, without its last line end; on a terminal it is asked for and not shown."""
    if sys.stdin.isatty():
        return click.prompt(question, prompt_suffix="", hide_input=True, confirmation_prompt=twice, err=True)
    raw = sys.stdin.buffer.read(MOST)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise ToolFailed("What was piped in is not text; nothing was stored.", code="secret_not_text") from None
    return text.removesuffix("\n").removesuffix("\r")


def write_out(file: Path, data: bytes) -> None:
    """A new file, for its owner only."""
    try:
        made = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        raise ToolFailed(f"{file} exists already; it was not changed.", code="file_exists") from None
    with os.fdopen(made, "wb") as out:
        out.write(data)


def read_back(file: Path) -> bytes:
    """What an export holds; if it is sealed, its passphrase is read from standard input, or asked for."""
    data = file.read_bytes()
    if not data.startswith(b"toolcrib-vault-"):
        return data
    return heavy("toolcrib.safety.envelope").opened_with_passphrase(data, read_input("Passphrase: "))
