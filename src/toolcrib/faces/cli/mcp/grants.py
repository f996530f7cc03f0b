"""Who may use which tools of a server: grants, and requests for them."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.frame import Asked, Command, pass_asked
from toolcrib.faces.cli.mcp.group import command, servers_of, with_mcp
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.faces.cli.person import me
from toolcrib.services.mcp.servers import McpGrant, McpRequest, Reviewed, Scope

_AGENT = click.option("--agent", metavar="AGENT", shell_complete=agents, help="For this agent.")
_USER = click.option("--user", metavar="USER", help="For this user: it only narrows.")


@command.command("grants", cls=Command, examples=("toolcrib mcp grants", "toolcrib mcp grants --json"))
@pass_asked
def grants(asked: Asked) -> None:
    """List the grants of servers to agents and users."""
    found = with_mcp(asked, lambda mcp: mcp.servers.grants())
    if asked.json:
        write_json([msgspec.to_builtins(one) for one in found])
        return
    rows = [(one.server, one.scope.value, one.holder, _lists(one)) for one in found]
    write_table(("server", "for", "who", "tools"), rows)
    click.echo(count(len(found), "grant"))


@command.command(
    "grant",
    cls=Command,
    examples=(
        "toolcrib mcp grant github --agent helper --allow search --allow read_issue",
        "toolcrib mcp grant github --user ann --deny delete_repo",
    ),
)
@click.argument("name")
@_AGENT
@_USER
@click.option("--allow", multiple=True, metavar="TOOL", help="Only these, by the names that the server gives.")
@click.option("--deny", multiple=True, metavar="TOOL", help="Not these; it goes before --allow.")
@click.option("--off", is_flag=True, help="Nothing of the server, whatever a toolbox says.")
@pass_asked
def grant(
    asked: Asked,
    name: str,
    agent: str | None,
    user: str | None,
    *,
    allow: tuple[str, ...],
    deny: tuple[str, ...],
    off: bool,
) -> None:
    """Give an agent the tools of a server, or narrow what is used for a user."""
    scope, holder = _holder(agent, user)
    made = McpGrant(
        server=name,
        scope=scope,
        holder=holder,
        tool_allow=allow or None,
        tool_deny=deny,
        enabled=not off,
        granted_by=me(),
    )

    async def work(crib: Crib) -> list[str]:
        mcp = await servers_of(crib)
        await _known(crib, scope, holder)
        await mcp.servers.grant(made)
        known = {pin.tool for pin in await mcp.servers.pins(name)}
        return [one for one in (*allow, *deny) if known and one not in known]

    strange = with_crib(asked, work, makes_store=True)
    _print_grant(asked, made)
    if strange:
        told = plain(f"{name} has no tool {strange[0]!r}. `toolcrib mcp pins {name}` lists what it calls them.")
        click.echo(f"note: {told}", err=True)


@command.command(
    "revoke",
    cls=Command,
    examples=("toolcrib mcp revoke github --agent helper", "toolcrib mcp revoke github --user ann"),
)
@click.argument("name")
@_AGENT
@_USER
@pass_asked
def revoke(asked: Asked, name: str, agent: str | None, user: str | None) -> None:
    """Take a grant back."""
    scope, holder = _holder(agent, user)
    _print_grant(asked, with_mcp(asked, lambda mcp: mcp.servers.revoke(name, scope, holder)), gone=True)


@command.command("requests", cls=Command, examples=("toolcrib mcp requests", "toolcrib mcp requests --all --json"))
@click.option("--all", "every", is_flag=True, help="Answered ones too.")
@pass_asked
def requests(asked: Asked, *, every: bool) -> None:
    """List who asks for servers."""
    state = None if every else Reviewed.PENDING
    found = with_mcp(asked, lambda mcp: mcp.servers.requests(state))
    if asked.json:
        write_json([msgspec.to_builtins(one) for one in found])
        return
    rows = [
        (one.id, one.state.value, one.server, f"{one.scope.value} {one.holder}", _names(one.tool_allow), one.reason)
        for one in found
    ]
    write_table(("id", "state", "server", "for", "tools", "reason"), rows)
    click.echo(count(len(found), "request"))


@command.command(
    "request",
    cls=Command,
    examples=(
        "toolcrib mcp request github --agent helper --tool search --reason 'to look at issues'",
        "toolcrib mcp request github --user ann",
    ),
)
@click.argument("name")
@_AGENT
@_USER
@click.option("--tool", "tools", multiple=True, metavar="TOOL", help="Only this tool, by the server's name of it.")
@click.option("--reason", default="", metavar="TEXT", help="What for.")
@pass_asked
def request(
    asked: Asked, name: str, agent: str | None, user: str | None, *, tools: tuple[str, ...], reason: str
) -> None:
    """Ask for a server, for an agent or a user. A person answers with `review`."""
    scope, holder = _holder(agent, user)

    async def work(crib: Crib) -> McpRequest:
        mcp = await servers_of(crib)
        await _known(crib, scope, holder)
        return await mcp.servers.request(name, scope, holder, tools=tools or None, reason=reason, by=me())

    _print_request(asked, with_crib(asked, work, makes_store=True))


@command.command(
    "review", cls=Command, examples=("toolcrib mcp review WISH --approve", "toolcrib mcp review WISH --reject")
)
@click.argument("id")
@click.option("--approve/--reject", default=None, help="The answer.")
@pass_asked
def review(asked: Asked, id: str, *, approve: bool | None) -> None:  # noqa: A002 - what people call it
    """Answer a request. A yes makes the grant that was asked for, once."""
    if approve is None:
        raise click.UsageError("Say --approve or --reject.")
    answer = approve
    _print_request(asked, with_mcp(asked, lambda mcp: mcp.servers.decide(id, approve=answer, by=me())))


def _holder(agent: str | None, user: str | None) -> tuple[Scope, str]:
    if bool(agent) == bool(user):
        raise click.UsageError("Say --agent or --user, one of them.")
    return (Scope.AGENT, agent) if agent else (Scope.USER, user or "")


async def _known(crib: Crib, scope: Scope, holder: str) -> None:
    """Refuse an agent that is not there. Users are not all known here."""
    if scope is Scope.AGENT:
        crib.resolver.rules_of(holder)


def _names(names: tuple[str, ...] | None) -> str:
    return "all" if names is None else ", ".join(names) or "none"


def _lists(one: McpGrant) -> str:
    if not one.enabled:
        return "switched off"
    return _names(one.tool_allow) + (f", not {', '.join(one.tool_deny)}" if one.tool_deny else "")


def _print_grant(asked: Asked, one: McpGrant, *, gone: bool = False) -> None:
    if asked.json:
        write_json(msgspec.to_builtins(one))
    else:
        done = "no longer holds" if gone else "holds"
        click.echo(plain(f"The {one.scope.value} {one.holder} {done} of {one.server}: {_lists(one)}."))


def _print_request(asked: Asked, one: McpRequest) -> None:
    if asked.json:
        write_json(msgspec.to_builtins(one))
    else:
        what = f"{one.server} for the {one.scope.value} {one.holder}: {_names(one.tool_allow)}"
        click.echo(plain(f"{one.id}  {one.state.value}  {what}"))
