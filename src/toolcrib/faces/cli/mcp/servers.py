"""Servers: list, show, add, import, approve, disable, remove, retry, log."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from toolcrib.app.mcp import Mcp
from toolcrib.core.errors import ToolError
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked, Command, pass_asked
from toolcrib.faces.cli.mcp.group import command, with_mcp
from toolcrib.faces.cli.opening import served_at
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.faces.cli.person import at, me
from toolcrib.services.mcp.desk import IMPORT, Shown
from toolcrib.services.mcp.servers import State

BYTES = 5 * 1024 * 1024


@command.command("list", cls=Command, examples=("toolcrib mcp list", "toolcrib mcp list --json"))
@pass_asked
def list_servers(asked: Asked) -> None:
    """List the servers, and how it stands with each."""
    found = with_mcp(asked, lambda mcp: mcp.servers.all())
    if asked.json:
        write_json([_told(one) for one in found])
        return
    rows = [(one.name, one.state.value, one.origin, one.tools, one.pending + one.changed, one.target) for one in found]
    write_table(("name", "state", "from", "tools", "to look at", "target"), rows)
    click.echo(count(len(found), "server") + ("" if found else ": `toolcrib mcp add NAME COMMAND` adds one"))
    _where_they_run(asked)


@command.command("show", cls=Command, examples=("toolcrib mcp show files", "toolcrib mcp show files --json"))
@click.argument("name")
@pass_asked
def show(asked: Asked, name: str) -> None:
    """Show one server. Values of its environment and headers are not shown."""
    _print(asked, with_mcp(asked, lambda mcp: mcp.servers.get(name)))
    if not asked.json:
        _where_they_run(asked)


@command.command(
    "add",
    cls=Command,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    examples=(
        "toolcrib mcp add notes npx -y @modelcontextprotocol/server-filesystem .",
        "toolcrib mcp add --env TOKEN={{secret:GITHUB}} --approve gitlab gitlab-mcp stdio",
        "toolcrib mcp add docs https://docs.example/mcp",
    ),
)
@click.option("--env", "env", multiple=True, metavar="NAME=VALUE", help="A variable of its environment.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header of each request.")
@click.option("--cwd", metavar="DIR", help="The folder it is started in.")
@click.option("--type", "kind", type=click.Choice(["stdio", "sse", "http"]), help="How it is spoken to.")
@click.option("--auth", type=click.Choice(["oauth"]), help="Sign in with `toolcrib mcp login`.")
@click.option("--sandbox", is_flag=True, help="Start it inside walls.")
@click.option("--approve", is_flag=True, help="It may be used at once.")
@click.argument("name")
@click.argument("target", nargs=-1, required=True)
@pass_asked
def add(  # noqa: PLR0917 - click hands all of them over
    asked: Asked,
    name: str,
    target: tuple[str, ...],
    env: tuple[str, ...],
    headers: tuple[str, ...],
    cwd: str | None,
    kind: str | None,
    auth: str | None,
    *,
    sandbox: bool,
    approve: bool,
) -> None:
    """Add a server: a program with its arguments, or an address. Options stand before NAME."""
    cwd = str(Path(cwd).resolve()) if cwd else None
    said: dict[str, Any] = {"type": kind, "cwd": cwd, "auth": auth, "sandbox": sandbox}
    if len(target) == 1 and target[0].startswith(("http://", "https://")):
        said |= {"url": target[0], "headers": _pairs(headers)}
    else:
        said |= {"command": target[0], "args": list(target[1:]), "env": _pairs(env)}
    made = with_mcp(asked, lambda mcp: mcp.servers.add(name, said, by=me(), approve=approve), makes_store=True)
    _print(asked, made)
    if near := [] if cwd or "url" in said else _here(target):
        what = f"{near[0]!r} is looked for in the folder that Toolcrib is started in, which a client may choose."
        click.echo(f"note: {plain(what)} Fix it with --cwd, or name the whole path.", err=True)


@command.command(
    "import", cls=Command, examples=("toolcrib mcp import mcp.json", "toolcrib mcp import mcp.json --approve")
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--approve", is_flag=True, help="They may be used at once.")
@pass_asked
def import_file(asked: Asked, file: Path, *, approve: bool) -> None:
    """Add the servers of another program's mcp.json: `mcpServers`, or VS Code's `servers`. They wait for approval."""
    foreign = heavy("toolcrib.services.imports.foreign").read_foreign(_text_of(file), str(file))
    found = heavy("toolcrib.services.mcp.importing").read_mcp(foreign, str(file))
    notes = [str(note) for note in found.notes]

    async def work(mcp: Mcp) -> list[Shown]:
        made: list[Shown] = []
        for server in found.servers:
            try:
                yes = approve and server.name not in found.off
                made.append(await mcp.servers.add_server(server, by=me(), origin=IMPORT, approve=yes))
            except ToolError as error:
                notes.append(f"{server.name}: {error.message}")
        return made

    made = with_mcp(asked, work, makes_store=True)
    if asked.json:
        write_json({"servers": [_told(one) for one in made], "notes": notes})
        return
    for one in made:
        _print(asked, one)
    for note in notes:
        click.echo(f"note: {plain(note)}", err=True)


@command.command("approve", cls=Command, examples=("toolcrib mcp approve files", "toolcrib mcp approve github --json"))
@click.argument("name")
@pass_asked
def approve(asked: Asked, name: str) -> None:
    """Agree to a server as it is now. A later change of what runs, or where it is reached, makes that void."""
    _print(asked, with_mcp(asked, lambda mcp: mcp.servers.approve(name, by=me())))


@command.command("disable", cls=Command, examples=("toolcrib mcp disable files", "toolcrib mcp disable github --json"))
@click.argument("name")
@pass_asked
def disable(asked: Asked, name: str) -> None:
    """Take a server out of use. `enable` takes it back."""
    _print(asked, with_mcp(asked, lambda mcp: mcp.servers.disable(name)))


@command.command("enable", cls=Command, examples=("toolcrib mcp enable files", "toolcrib mcp enable github --json"))
@click.argument("name")
@pass_asked
def enable(asked: Asked, name: str) -> None:
    """Take a server back into use, if it is approved."""
    _print(asked, with_mcp(asked, lambda mcp: mcp.servers.disable(name, disabled=False)))


@command.command("remove", cls=Command, examples=("toolcrib mcp remove files", "toolcrib mcp remove github --json"))
@click.argument("name")
@pass_asked
def remove(asked: Asked, name: str) -> None:
    """Forget a server, its pins and its grants."""
    gone = with_mcp(asked, lambda mcp: mcp.servers.remove(name))
    if asked.json:
        write_json(_told(gone))
    else:
        click.echo(f"{plain(gone.name)} is removed, and {count(gone.tools, 'tool')} of it.")


@command.command("retry", cls=Command, examples=("toolcrib mcp retry files", "toolcrib mcp retry github --json"))
@click.argument("name")
@pass_asked
def retry(asked: Asked, name: str) -> None:
    """Connect to a server now, list its tools, and say how it went."""

    async def work(mcp: Mcp) -> tuple[Shown, str]:
        try:
            await mcp.listed((await mcp.servers.entry(name)).name)
        except ToolError as error:
            return await mcp.servers.get(name), error.message
        return await mcp.servers.get(name), ""

    shown, trouble = with_mcp(asked, work, makes_store=True)
    if asked.json:
        write_json({**_told(shown), "trouble": trouble})
    elif not trouble or shown.state in {State.PENDING, State.DISABLED}:
        _print(asked, shown)
    if trouble:
        raise click.ClickException(plain(trouble))


@command.command("log", cls=Command, examples=("toolcrib mcp log files", "toolcrib mcp log github --json"))
@click.argument("name")
@pass_asked
def log(asked: Asked, name: str) -> None:
    """Start a server, and print what it writes to its standard error and what is noted about it."""

    async def work(mcp: Mcp) -> Sequence[tuple[float, str]]:
        entry = await mcp.servers.entry(name)
        try:
            await mcp.listed(entry.name)
            await asyncio.sleep(0.3)  # what it writes just after it was asked
        except ToolError as error:
            said = mcp.said(entry.name)
            told = said[-1][1].partition("not connected: ")[2] if said else ""
            return said if told and error.message.endswith(told) else [*said, (0.0, error.message)]
        return mcp.said(entry.name)

    lines = with_mcp(asked, work, makes_store=True)
    if asked.json:
        write_json([{"at": moment, "line": line} for moment, line in lines])
        return
    for moment, line in lines:
        click.echo(f"{at(moment) if moment else '':19}  {plain(line)}")


def _where_they_run(asked: Asked) -> None:
    """A state is that of a process, and this one has just begun."""
    if address := served_at(asked):
        click.echo(f"The server that is up has its own connections; how it stands with them: {address}/mcp-servers")


def _text_of(file: Path) -> str:
    if file.stat().st_size > BYTES:
        raise click.ClickException(f"{file} has more than {BYTES:,} bytes, which is no mcp.json.")
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise click.ClickException(f"{file} is no text in UTF-8, so it is no mcp.json.") from None


def _here(target: Sequence[str]) -> list[str]:
    """The words of a command that mean something else in another folder."""
    return [one for one in target if (one in {".", ".."} or "/" in one) and Path(one).exists() and one[:1] != "/"]


def _pairs(given: Sequence[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not sign or not name:
            raise click.UsageError(f"{one[:40]!r} is no NAME=VALUE.")
        made[name.strip()] = value
    return made


def _told(one: Shown) -> dict[str, Any]:
    return msgspec.to_builtins(one)


def _print(asked: Asked, one: Shown) -> None:
    if asked.json:
        write_json(_told(one))
        return
    why = f", {one.why}" if one.why else ""
    click.echo(click.style(plain(one.name), bold=True) + f"  {one.state.value}{plain(why)}")
    click.echo(f"  {one.transport.value}  {plain(one.target)}")
    if one.cwd:
        click.echo(f"  in  {plain(one.cwd)}")
    for word, names in (("environment", one.env), ("headers", one.headers)):
        if names:
            click.echo(f"  {word}  {plain(', '.join(names))}")
    waiting = f", {one.pending} waiting, {one.changed} quarantined" if one.pending or one.changed else ""
    click.echo(f"  {count(one.tools, 'tool')}{waiting}")
    if word := {State.PENDING: "approve", State.DISABLED: "enable"}.get(one.state):
        click.echo(f"  To use it: toolcrib mcp {word} {plain(one.name)}")
