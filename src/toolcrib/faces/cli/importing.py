"""`toolcrib import`: another system's file as a toolcrib.yaml."""

import sys
from pathlib import Path

import click
import msgspec

from toolcrib.core.errors import Problem
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import Registry
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.output import count, plain, write_json

KINDS = ("mindroom", "goclaw", "hivekeep")
BYTES = 20 * 1024 * 1024


@declare(
    "import",
    "toolcrib import mindroom.yaml",
    "toolcrib import mindroom.yaml --kind mindroom --json",
    "toolcrib import mindroom.yaml --output imported.yaml",
)
@click.argument("file")
@click.option("--kind", "--from", "kind", type=click.Choice(KINDS), help="Whose file it is, when it does not show.")
@click.option("--output", metavar="FILE", help="Write the configuration there instead of printing it.")
@click.option("--force", is_flag=True, help="Write over a file that exists.")
@pass_asked
def command(asked: Asked, file: str, kind: str | None, output: str | None, force: bool) -> None:
    """Turn toolkits and agents of MindRoom, a tool policy of GoClaw or toolboxes of Hivekeep into a toolcrib.yaml.

    FILE may be `-` for standard input. What could not be taken over is said, never dropped in silence.
    """
    target = Path(output).expanduser() if output else None
    if target is not None and target.exists() and not force:
        raise click.UsageError(f"{target} exists already. Name another file, or add --force to write over it.")
    source = heavy("toolcrib.sources.native")
    tools = source.native_tools()
    registry = Registry(tools, source.names(frozenset(tool.name for tool in tools)))
    made = heavy("toolcrib.services.imports.importing").import_config(
        _read(file), registry, source.base_grants(), kind=kind, source=file
    )
    if target is not None:
        _write(target, made.text, force=force)
    if asked.json:
        told = {"kind": made.kind, "output": str(target or ""), "text": made.text}
        write_json({**told, "notes": msgspec.to_builtins(made.notes)})
    else:
        _print(made.text, made.notes, target)


def _read(file: str) -> str:
    raw = sys.stdin.buffer.read(BYTES + 1) if file == "-" else Path(file).expanduser().read_bytes()
    if len(raw) > BYTES:
        raise click.ClickException(f"{file} has more than {BYTES:,} bytes, which is no configuration.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise click.ClickException(f"{file} is not UTF-8 text. Save it as UTF-8.") from None


def _write(target: Path, text: str, *, force: bool) -> None:
    """Write a new file; without `force` one that came to be meanwhile is not written over."""
    with target.open("w" if force else "x", encoding="utf-8") as out:
        out.write(text)


def _print(text: str, notes: tuple[Problem, ...], target: Path | None) -> None:
    if target is None:
        click.echo(text, nl=False)
    else:
        click.echo(f"Wrote {target}. `toolcrib config check {target}` checks it.")
    for note in notes:
        click.echo(f"note: {plain(str(note))}", err=True)
    if notes:
        click.echo(f"{count(len(notes), 'note')} on what was changed or left out.", err=True)
