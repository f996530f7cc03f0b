"""What servers offer: their tools and pins; signing in; and what a client of ours has to be told."""

import os
import shutil
import sys
from pathlib import Path

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.app.mcp import Mcp
from toolcrib.core.errors import ToolError
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked, Command, pass_asked
from toolcrib.faces.cli.mcp.group import command, with_mcp
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, one_line, plain, write_json, write_table
from toolcrib.faces.cli.person import me
from toolcrib.services.mcp.desk import PinShown


@command.command("tools", cls=Command, examples=("toolcrib mcp tools files", "toolcrib mcp tools files --json"))
@click.argument("name")
@pass_asked
def tools(asked: Asked, name: str) -> None:
    """List the tools of a server, asking it now; the last known ones if it is not there."""

    async def work(mcp: Mcp) -> tuple[list[PinShown], str]:
        entry = await mcp.servers.entry(name)
        try:
            await mcp.listed(entry.name)
        except ToolError as error:
            return await mcp.servers.pins(entry.name), f"{error.message} {error.hint}".strip()
        return await mcp.servers.pins(entry.name), ""

    found, trouble = with_mcp(asked, work, makes_store=True)
    if asked.json:
        write_json([msgspec.to_builtins(one) for one in found])
    else:
        rows = [(one.name, one.state.value, one_line(one.description)) for one in found]
        write_table(("name", "state", "description"), rows)
        click.echo(count(len(found), "tool"))
    if trouble:
        known = "these are the last known ones" if found else "none is known yet"
        click.echo(f"note: {known}. {plain(trouble)}", err=True)


@command.command(
    "pins",
    cls=Command,
    examples=(
        "toolcrib mcp pins files",
        "toolcrib mcp pins files --approve",
        "toolcrib mcp pins files read_file --approve",
    ),
)
@click.argument("name")
@click.argument("tools", nargs=-1)
@click.option("--approve", is_flag=True, help="Agree to these as they are now; none named is all that wait or changed.")
@pass_asked
def pins(asked: Asked, name: str, tools: tuple[str, ...], *, approve: bool) -> None:
    """Show what was approved of a server's tools, what waits, and what changed since; or agree to it."""

    async def work(mcp: Mcp) -> list[PinShown]:
        if approve:
            return await mcp.servers.approve_tools(name, tools, by=me())
        return await mcp.servers.pins(name)

    found = [one for one in with_mcp(asked, work) if not tools or one.tool in tools]
    if asked.json:
        write_json([msgspec.to_builtins(one) for one in found])
        return
    write_table(("tool", "state", "why"), [(one.tool, one.state.value, one.why) for one in found])
    for one in found:
        if one.difference:
            click.echo(f"\n{plain(one.tool)}")
            for line in one.difference:
                click.echo(click.style(f"  {plain(line)}", fg={"+": "green", "-": "red"}.get(line[:1])))


@command.command("login", cls=Command, examples=("toolcrib mcp login github", "toolcrib mcp login github --port 8731"))
@click.argument("name")
@click.option("--port", type=click.IntRange(1024, 65535), default=8731, help="Where the browser comes back to.")
@pass_asked
def login(asked: Asked, name: str, port: int) -> None:
    """Sign in at a server with OAuth, in a browser. Its tokens go into the vault."""

    def say(url: str) -> None:
        click.echo(f"Open this page to sign in:\n  {plain(url)}", err=True)

    async def work(mcp: Mcp) -> int:
        entry = await mcp.servers.entry(name)
        async with heavy("toolcrib.app.signing").Browser(say, port) as person:
            mcp.sign_in_with(person)
            await mcp.listed(entry.name)
        return (await mcp.servers.get(entry.name)).tools

    found = with_mcp(asked, work, makes_store=True)
    if asked.json:
        write_json({"signed_in": name, "tools": found})
    else:
        click.echo(f"Signed in at {plain(name)}: {count(found, 'tool')}.")


@command.command(
    "config",
    cls=Command,
    examples=(
        "toolcrib mcp config --client claude --agent helper",
        "toolcrib mcp config --client cursor --agent helper --url http://127.0.0.1:8765",
    ),
)
@click.option(
    "--client", type=click.Choice(["claude", "cursor", "vscode", "codex"]), required=True, help="Which client."
)
@click.option("--agent", metavar="AGENT", required=True, shell_complete=agents, help="Whose tools it is to have.")
@click.option("--url", metavar="URL", help="Reach a running `toolcrib up` there, instead of starting Toolcrib.")
@pass_asked
def config(asked: Asked, client: str, agent: str, url: str | None) -> None:
    """Print what to paste into a client, so that it has the tools of one agent."""
    if url is not None and not url.startswith(("http://", "https://")):
        raise click.UsageError(f"{url[:80]!r} is no address: it begins with http:// or https://.")
    if url is None:  # a server elsewhere has agents of its own
        with_crib(asked, lambda crib: _known(crib, agent))
    made = heavy("toolcrib.services.mcp.clients").config_for(
        client, agent, url or "", program=_program(), options=_same_home(asked)
    )
    if asked.json:
        write_json({"client": client, "file": made.file, "text": made.text, "command": made.command})
        return
    if made.command:
        click.echo(f"Run this:\n\n{made.command}\n\nor put this into {made.file}:\n")
    else:
        click.echo(f"Put this into {made.file}:\n")
    click.echo(made.text)
    if url is not None:
        asks = "VS Code asks for a key" if client == "vscode" else "TOOLCRIB_KEY is a key"
        page = plain(f"{url.rstrip('/')}/people/keys")
        click.echo(f"\n{asks} with the scope mcp and the role operator. Make one: {page}", err=True)


async def _known(crib: Crib, agent: str) -> None:
    """Refuse a name that no agent has: the client would only find out later, where nobody looks."""
    await crib.turn(agent)


def _program() -> list[str]:
    """How another program starts this one: it may run in any folder, and knows nothing of a checkout."""
    script = os.environ.get("TOOLCRIB_SCRIPT")
    if script:
        return [script]
    return ["toolcrib"] if shutil.which("toolcrib") else [sys.executable, "-m", "toolcrib"]


def _same_home(asked: Asked) -> list[str]:
    """What leads to the home and the configuration that are meant here, where they are not the usual ones."""
    said = {"home": asked.home or os.environ.get("TOOLCRIB_HOME"), "config": asked.config}
    said["config"] = said["config"] or os.environ.get("TOOLCRIB_CONFIG")
    return [word for name, path in said.items() if path for word in (f"--{name}", str(Path(path).resolve()))]
