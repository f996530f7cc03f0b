"""`toolcrib vault`: secrets that agents use without seeing them. Values never stand on a command line."""

import sys
from pathlib import Path

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.core.call import Attachment
from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.faults import FAILED
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.faces.cli.person import at
from toolcrib.faces.cli.vault.files import read_back, read_input, write_out
from toolcrib.services.vault.secrets import Wanted
from toolcrib.services.vault.values import Checked, Report, Secret

_team = click.option("--team", metavar="NAME", default="", help="The vault of a team, instead of everybody's.")


@click.group(
    "vault",
    cls=Group,
    default="list",
    examples=(
        'printf %s "a-long-password" | toolcrib vault set MAIL_PASSWORD --tool http_request --host api.example.org',
        "toolcrib vault",
        "toolcrib vault get DB_PASSWORD",
        "toolcrib vault rotate",
    ),
)
def command() -> None:
    """Keep secrets, and let tools use them as {{secret:NAME}}."""


@command.command("list", cls=Command, examples=("toolcrib vault list", "toolcrib vault list DB --json"))
@click.argument("words", default="")
@_team
@pass_asked
def list_secrets(asked: Asked, words: str, team: str) -> None:
    """List names, without the values of secrets. WORDS narrow it to names and descriptions that have them."""

    async def work(crib: Crib) -> tuple[list[Secret], list[object]]:
        return await crib.vault.secrets.search(words, team=team), list(await crib.vault.entries.all(team=team))

    found, entries = with_crib(asked, work)
    if asked.json:
        write_json({"secrets": msgspec.to_builtins(found), "entries": msgspec.to_builtins(entries)})
        return
    head = ("name", "changed", "version", "only for", "description")
    write_table(
        head,
        [
            (one.key, at(one.changed), one.version, ", ".join(one.allowed_tools + one.allowed_hosts), one.description)
            for one in found
        ],
    )
    click.echo(f"{count(len(found), 'secret')}, {count(len(entries), 'entry', 'entries')}")


@command.command("init", cls=Command, examples=("toolcrib vault init", "toolcrib vault init --json"))
@pass_asked
def init(asked: Asked) -> None:
    """Make the vault and its key. The first `toolcrib vault set` does it too."""

    async def work(crib: Crib) -> tuple[bool, str]:
        return await crib.vault.book.begin(), crib.vault.book.where

    made, where = with_crib(asked, work, makes_store=True)
    if asked.json:
        write_json({"made": made, "key": where})
        return
    click.echo(f"Made a vault; its key is {plain(where)}." if made else f"There is a vault already ({plain(where)}).")
    if made:
        click.echo("Keep a copy of the key somewhere else: without it nobody can read what the vault holds.")


@command.command(
    "set",
    cls=Command,
    examples=(
        'printf %s "a-long-password" | toolcrib vault set MAIL_PASSWORD',
        'printf %s "a-long-token" | toolcrib vault set TOKEN --host "*.example.org" --description "Weather service"',
    ),
)
@click.argument("name")
@click.option("--description", metavar="TEXT", help="What it is for.")
@click.option("--tool", "tools", metavar="NAME", multiple=True, help="Fill it in for this tool only; may be repeated.")
@click.option("--host", "hosts", metavar="NAME", multiple=True, help="Send it to this host only; may be repeated.")
@click.option("--plain", "open_", is_flag=True, help="It is no secret: agents of the team read and change it.")
@_team
@pass_asked
def set_secret(
    asked: Asked,
    name: str,
    *,
    description: str | None,
    tools: tuple[str, ...],
    hosts: tuple[str, ...],
    open_: bool,
    team: str,
) -> None:
    """Store a secret, new or instead of the last one. The value is read from standard input, or asked for."""
    value = read_input(f"Value of {name}: ", twice=True)
    wanted = Wanted(value=value, description=description, tools=tools or None, hosts=hosts or None)

    async def work(crib: Crib) -> Secret:
        if open_:
            return await crib.vault.secrets.put_value(name, value, team=team)
        return await crib.vault.secrets.set(name, wanted, team=team)

    made = with_crib(asked, work, makes_store=True)
    if asked.json:
        write_json(msgspec.to_builtins(made))
    else:
        click.echo(f"Stored {plain(made.key)}, version {made.version}.")


@command.command(
    "get", cls=Command, examples=("toolcrib vault get DB_PASSWORD", "toolcrib vault get DB_PASSWORD --json")
)
@click.argument("name")
@_team
@pass_asked
def get_secret(asked: Asked, name: str, team: str) -> None:
    """Print the value of a secret."""

    async def work(crib: Crib) -> Secret:
        return await crib.vault.secrets.get(name, team=team)

    found = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(found))
    else:
        click.echo(found.value or "", nl=sys.stdout.isatty())


@command.command(
    "delete", cls=Command, examples=("toolcrib vault delete DB_PASSWORD", "toolcrib vault delete DB_PASSWORD --json")
)
@click.argument("name")
@click.option("--entry", is_flag=True, help="It is an entry; its attachments go along.")
@_team
@pass_asked
def delete(asked: Asked, name: str, *, entry: bool, team: str) -> None:
    """Delete a secret, for good."""

    async def work(crib: Crib) -> bool:
        kept = crib.vault.entries if entry else crib.vault.secrets
        return await kept.delete(name, team=team)

    deleted = with_crib(asked, work)
    if asked.json:
        write_json({"deleted": deleted})
    else:
        click.echo(f"Deleted {plain(name)}." if deleted else f"The vault holds nothing named {plain(name)}.")


@command.command("rotate", cls=Command, examples=("toolcrib vault rotate", "toolcrib vault rotate --json"))
@pass_asked
def rotate(asked: Asked) -> None:
    """Wrap the key of every secret under a new one. Stopped midway, the next run goes on; nothing is lost."""

    async def work(crib: Crib) -> Report:
        return await crib.vault.book.rotate()

    done = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(done))
    else:
        click.echo(f"Term {done.term}: {count(done.rewrapped, 'secret')} under a new key.")


@command.command("verify", cls=Command, examples=("toolcrib vault verify", "toolcrib vault verify --json"))
@click.option(
    "--accept", is_flag=True, help="Go on with the rows that are there, though some were changed behind its back."
)
@pass_asked
def verify(asked: Asked, *, accept: bool) -> int:
    """Open every row, and see that none was changed, taken away or put back. Exit code 1 if one was."""

    async def work(crib: Crib) -> Checked:
        return await crib.vault.book.verify(accept=accept)

    found = with_crib(asked, work)
    if asked.json:
        write_json({"ok": found.ok, **msgspec.to_builtins(found)})
        return 0 if found.ok else FAILED
    click.echo(f"{count(found.rows, 'row')} looked at.")
    for name in found.broken:
        click.echo(f"  {plain(name)} does not open. Set it again, or delete it.")
    if not found.whole:
        click.echo("  Rows were changed, taken away or put back. Put back a copy of the store, or say --accept.")
    return 0 if found.ok else FAILED


@command.command(
    "export",
    cls=Command,
    examples=(
        'printf %s "a-long-passphrase" | toolcrib vault export backup.vault',
        "toolcrib vault export backup.json --plain",
    ),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--plain", "open_", is_flag=True, help="Not sealed: whoever has the file reads every value.")
@pass_asked
def export(asked: Asked, file: Path, *, open_: bool) -> None:
    """Write the whole vault to a new FILE, sealed to a passphrase from standard input or a prompt."""
    passphrase = "" if open_ else read_input("Passphrase: ", twice=True)
    if not open_ and len(passphrase) < 12:
        raise ToolFailed("The passphrase is shorter than 12 characters; nothing was written.", code="weak_passphrase")

    async def work(crib: Crib) -> tuple[bytes, int]:
        return await heavy("toolcrib.services.vault.export").exported(crib.vault.book)

    data, rows = with_crib(asked, work)
    write_out(file, data if open_ else heavy("toolcrib.safety.envelope").sealed_to_passphrase(data, passphrase))
    if asked.json:
        write_json({"rows": rows, "file": str(file), "sealed": not open_})
    else:
        click.echo(
            f"Wrote {count(rows, 'row')} to {plain(str(file))}" + (", open to all who read it." if open_ else ".")
        )


@command.command(
    "import",
    cls=Command,
    examples=(
        "toolcrib vault import vault.json",
        "toolcrib vault import vault.json --json",
    ),
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@pass_asked
def import_(asked: Asked, file: Path) -> None:
    """Put what an export holds into the vault. What is there already stays as it is."""
    data = read_back(file)

    async def work(crib: Crib) -> tuple[int, int]:
        return await heavy("toolcrib.services.vault.export").imported(crib.vault.book, data)

    put, kept = with_crib(asked, work, makes_store=True)
    if asked.json:
        write_json({"imported": put, "kept": kept})
    else:
        click.echo(f"Put in {count(put, 'row')}; {kept} were there already and stay.")


@command.command(
    "attach",
    cls=Command,
    examples=("toolcrib vault attach bank README.md", "toolcrib vault attach bank README.md --name contract.md --json"),
)
@click.argument("entry")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--name", metavar="NAME", help="What it is called there, instead of its own name.")
@_team
@pass_asked
def attach(asked: Asked, entry: str, file: Path, *, name: str | None, team: str) -> None:
    """Attach a file to an entry that an agent made with create_vault_entry."""
    kind = heavy("mimetypes").guess_type(file.name)[0] or "application/octet-stream"
    attachment = Attachment(name or file.name, kind, file.read_bytes())

    async def work(crib: Crib) -> None:
        await crib.vault.entries.attach(entry, attachment, team=team)

    with_crib(asked, work)
    if asked.json:
        write_json({"entry": entry, "name": attachment.name, "size": len(attachment.data)})
    else:
        click.echo(f"Attached {plain(attachment.name)} to {plain(entry)}.")
