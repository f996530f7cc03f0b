"""`toolcrib access`: agents ask for tools, and a person answers."""

import time

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.faces.cli.person import Span, at, me
from toolcrib.services.access import AccessRequest, Decision, Grant, Lifetime, no_request


@click.group(
    "access",
    cls=Group,
    default="list",
    examples=(
        "toolcrib access",
        "toolcrib access approve REQUEST --once",
        "toolcrib access approve REQUEST --tools glob --for 2h",
        "toolcrib access deny REQUEST",
    ),
)
def command() -> None:
    """Answer agents that ask for tools with request_tool_access."""


@command.command("list", cls=Command, examples=("toolcrib access list", "toolcrib access list --state approved --json"))
@click.option("--agent", metavar="NAME", shell_complete=agents, help="Only requests of this agent.")
@click.option("--state", type=click.Choice([state.value for state in Decision]), help="Only requests in this state.")
@pass_asked
def list_requests(asked: Asked, agent: str | None, state: str | None) -> None:
    """List requests, the newest first."""

    async def work(crib: Crib) -> tuple[AccessRequest, ...]:
        return await crib.store.access.requests(agent=agent, state=Decision(state) if state else None)

    found = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(found))
        return
    rows = [(one.id, at(one.asked), one.agent, one.state.value, ", ".join(one.tools), one.reason) for one in found]
    write_table(("id", "asked", "agent", "state", "tools", "reason"), rows)
    click.echo(count(len(found), "request"))


@command.command("show", cls=Command, examples=("toolcrib access show REQUEST", "toolcrib access show REQUEST --json"))
@click.argument("request")
@pass_asked
def show(asked: Asked, request: str) -> None:
    """Show one request, and the grants that came of it."""

    async def work(crib: Crib) -> tuple[AccessRequest, list[Grant]]:
        found = await crib.store.access.get(request)
        if found is None:
            raise no_request(request)
        grants = await crib.store.access.grants(agent=found.agent)
        return found, [grant for grant in grants if grant.request == found.id]

    found, grants = with_crib(asked, work)
    if asked.json:
        write_json({**msgspec.to_builtins(found), "grants": msgspec.to_builtins(grants)})
        return
    _print(found)
    write_table(("grant", "tool", "lifetime", "until", "ended"), [_row(grant) for grant in grants], indent="  ")


@command.command(
    "approve",
    cls=Command,
    examples=(
        "toolcrib access approve REQUEST",
        "toolcrib access approve REQUEST --tools glob,explain_tool --session",
        "toolcrib access approve REQUEST --for 2h",
    ),
)
@click.argument("request")
@click.option("--tools", metavar="A,B", help="Only these of those it asks for.")
@click.option("--once", "lifetime", flag_value=Lifetime.ONCE.value, help="For one call. The default.")
@click.option("--session", "lifetime", flag_value=Lifetime.SESSION.value, help="For the session that asked.")
@click.option("--good", "lifetime", flag_value=Lifetime.GOOD.value, help="For good, until it is revoked.")
@click.option("--for", "span", type=Span(), metavar="TIME", help="For a time, such as 30m, 2h or 7d.")
@pass_asked
def approve(asked: Asked, request: str, tools: str | None, lifetime: str | None, span: float | None) -> None:
    """Give the agent what it asks for, or a part of it."""
    if span is not None and lifetime is not None:
        raise click.UsageError("A grant has one lifetime: --once, --session, --for TIME or --good.")
    until = None if span is None else time.time() + span
    kind = Lifetime.UNTIL if span is not None else Lifetime(lifetime or Lifetime.ONCE)

    async def work(crib: Crib) -> AccessRequest:
        found = await crib.store.access.get(request)
        if found is None:
            raise no_request(request)
        named = [one.strip() for one in (tools or "").split(",") if one.strip()]
        known = [tool.name if (tool := crib.resolver.registry.get(one)) else one for one in named]
        wanted = known if tools is not None else found.tools
        return await crib.store.access.decide(request, by=me(), approve=wanted, lifetime=kind, until=until)

    _answered(asked, with_crib(asked, work))


@command.command("deny", cls=Command, examples=("toolcrib access deny REQUEST", "toolcrib access deny REQUEST --json"))
@click.argument("request")
@pass_asked
def deny(asked: Asked, request: str) -> None:
    """Give the agent nothing of what it asks for."""

    async def work(crib: Crib) -> AccessRequest:
        return await crib.store.access.decide(request, by=me(), approve=(), lifetime=Lifetime.ONCE)

    _answered(asked, with_crib(asked, work))


@command.command(
    "revoke", cls=Command, examples=("toolcrib access revoke GRANT", "toolcrib access revoke GRANT --json")
)
@click.argument("grant")
@pass_asked
def revoke(asked: Asked, grant: str) -> None:
    """End a grant. `toolcrib access show REQUEST` names the grants of a request."""

    async def work(crib: Crib) -> Grant:
        return await crib.store.access.revoke(grant, by=me())

    ended = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(ended))
    else:
        click.echo(f"{plain(ended.agent)} no longer holds {plain(ended.tool)} by the grant {ended.id}.")


def _answered(asked: Asked, found: AccessRequest) -> None:
    if asked.json:
        write_json(msgspec.to_builtins(found))
    else:
        _print(found)


def _print(found: AccessRequest) -> None:
    click.echo(click.style(f"{plain(found.agent)} asks for {plain(', '.join(found.tools))}", bold=True))
    decided = f"{found.state.value} by {found.decided_by}" if found.decided_by else found.state.value
    rows = [("reason", found.reason), ("session", found.session), ("asked", at(found.asked)), ("state", decided)]
    rows.append(("granted", ", ".join(found.granted)))
    write_table(("", ""), [row for row in rows if row[1]], indent="  ")


def _row(grant: Grant) -> tuple[str, str, str, str, str]:
    until = at(grant.until) if grant.until is not None else ""
    ended = at(grant.ended) if grant.ended is not None else ""
    return grant.id, grant.tool, grant.lifetime.value, until, ended
