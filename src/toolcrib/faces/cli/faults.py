"""What went wrong, as a sentence on standard error, as JSON for programs, and as an exit code."""

import os
import sys
from collections.abc import Sequence
from types import TracebackType

import click

from toolcrib.core.errors import BadConfig, CribError, ToolError
from toolcrib.core.resolver import UnknownAgent
from toolcrib.faces.cli.output import plain, write_json

FAILED, WRONG_USE, REFUSED = 1, 2, 3
EXPECTED = (click.ClickException, CribError, OSError, ModuleNotFoundError)
Told = dict[str, object]


def tell(error: Exception, given: Sequence[str]) -> int:
    """Say what happened, why, and what to do; the exit code."""
    told, code = _told(error)
    if "--debug" in given:
        sys.excepthook(type(error), error, error.__traceback__)
    show(told, as_json="--json" in given)
    return code


def show(told: Told, *, as_json: bool) -> None:
    """Print an error. Programs get it where they read, people where it does not mix with what they asked for."""
    if as_json:
        write_json({"error": told})
    else:
        click.echo(f"toolcrib: {plain(str(told['message']))} {plain(str(told.get('hint', '')))}".rstrip(), err=True)


def broke(given: Sequence[str], kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A bug of ours: where it is, and how to see more. What the error says may hold a secret, so it is not shown."""
    del error
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename.rpartition("/")[2] if trace else "?"
    at = f" in {file}, line {trace.tb_lineno}" if trace else ""
    told: Told = {
        "code": "internal",
        "message": f"This is a bug in Toolcrib, not your mistake: {kind.__name__}{at}.",
        "hint": "The same command with --debug shows the whole trace.",
        "retryable": False,
    }
    show(told, as_json="--json" in given)


def hush() -> None:
    """Nobody reads any more: let Python's last flush go nowhere instead of complaining."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: Exception) -> tuple[Told, int]:
    if isinstance(error, click.UsageError):
        hint = f"See `{error.ctx.command_path} --help`." if error.ctx else ""
        return _error("usage", error.format_message(), hint), WRONG_USE
    if isinstance(error, click.ClickException):
        return _error("failed", error.format_message()), FAILED
    if isinstance(error, BadConfig):
        problems = [{"where": p.where, "what": p.what, "mend": p.mend, "line": p.line} for p in error.problems]
        return {**_error("bad_config", str(error)), "problems": problems}, FAILED
    if isinstance(error, ToolError):
        return error.as_fault().as_json(), WRONG_USE if isinstance(error, UnknownAgent) else FAILED
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return _error("io_error", f"{named}{error.strerror or error}."), FAILED
    return _error("failed", str(error)), FAILED


def _error(code: str, message: str, hint: str = "") -> Told:
    return {"code": code, "message": message, "hint": hint, "retryable": False}
