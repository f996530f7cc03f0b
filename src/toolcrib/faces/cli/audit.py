"""`toolcrib audit`: the record of every call, refused ones too."""

import click

from toolcrib.app import Crib
from toolcrib.core.call import Status
from toolcrib.faces.cli.faults import FAILED
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import agents, tools, with_crib
from toolcrib.faces.cli.output import count, one_line, plain, write_json, write_line, write_table
from toolcrib.faces.cli.person import Moment, at
from toolcrib.services.record.audit import Entry, Head, Page, Query, Verdict

MOST = 100_000


@click.group(
    "audit",
    cls=Group,
    default="list",
    examples=(
        "toolcrib audit",
        "toolcrib audit --agent helper --status refused --since 7d",
        "toolcrib audit verify",
        "toolcrib audit export --since 2026-11-01 > record.jsonl",
    ),
)
def command() -> None:
    """Read, check and export the record of every call."""


_SINCE = click.option("--since", type=Moment(), metavar="WHEN", help="At or after: 2h, 7d, 2026-11-18, ...T09:30.")
_AGENT = click.option("--agent", metavar="NAME", shell_complete=agents, help="Only calls of this agent.")
_TOOL = click.option("--tool", metavar="NAME", shell_complete=tools, help="Only calls of this tool.")


@command.command(
    "list",
    cls=Command,
    examples=("toolcrib audit list --tool read_file --limit 5", "toolcrib audit list --status failed --json"),
)
@_AGENT
@_TOOL
@click.option("--status", type=click.Choice([status.value for status in Status]), help="Only calls that ended so.")
@_SINCE
@click.option(
    "--limit", type=click.IntRange(1, MOST), metavar="N", default=50, show_default=True, help="How many at most."
)
@pass_asked
def list_entries(
    asked: Asked, agent: str | None, *, tool: str | None, status: str | None, since: float | None, limit: int
) -> None:
    """Show the latest entries, the newest first."""

    async def work(crib: Crib) -> Page:
        query = Query(agent=agent, tool=_canonical(crib, tool), status=status, since=since, limit=limit)
        return await crib.store.audit.entries(query)

    page = with_crib(asked, work)
    if asked.json:
        write_json([entry.as_json() for entry in page.entries])
        return
    write_table(("when", "id", "agent", "tool", "ended", "ms", "arguments"), map(_row, page.entries))
    more = ". There are more: raise --limit, or narrow it" if page.cursor is not None else ""
    click.echo(count(len(page.entries), "entry", "entries") + more)


def _row(entry: Entry) -> tuple[object, ...]:
    ended = entry.status if entry.code in {"", entry.status} else f"{entry.status} ({entry.code})"
    spent = f"{entry.seconds * 1000:.1f}"
    return at(entry.at), entry.id, entry.agent, entry.tool, ended, spent, one_line(entry.arguments, 60)


@command.command("show", cls=Command, examples=("toolcrib audit show CALL", "toolcrib audit show CALL --json"))
@click.argument("call")
@pass_asked
def show(asked: Asked, call: str) -> int:
    """Show everything that is known of one call."""

    async def work(crib: Crib) -> tuple[Page, str]:
        return await crib.store.audit.entries(Query(id=call)), await crib.undoable(call)

    page, undo = with_crib(asked, work)
    found = page.entries
    if not found:
        raise click.ClickException(f"There is no call {call!r} in the record. `toolcrib audit` lists the latest.")
    told = {**found[0].as_json(), "undo": undo}
    if asked.json:
        write_json(told)
        return 0
    click.echo(click.style(plain(call), bold=True))
    told["at"] = at(found[0].at)
    told["verdicts"] = "; ".join(found[0].verdicts)
    rows = list(told.items())
    write_table(("", ""), [row for row in rows if row[1] not in {"", None}], indent="  ")
    return 0


@command.command("verify", cls=Command, examples=("toolcrib audit verify", "toolcrib audit verify --json"))
@pass_asked
def verify(asked: Asked) -> int:
    """Check the record, and name the first entry that was changed.

    The head that is printed proves, when you have noted it elsewhere, that nothing was cut off since.
    """

    async def work(crib: Crib) -> tuple[Verdict, Head | None]:
        verdict = await crib.store.audit.verify()
        return verdict, await crib.store.audit.head() if verdict.ok else None

    verdict, head = with_crib(asked, work)
    if asked.json:
        told = {"ok": verdict.ok, "checked": verdict.checked, "broken_seq": verdict.broken_seq, "why": verdict.why}
        write_json(told | {"head": {"seq": head.seq, "hash": head.hash} if head else None})
    elif head:
        click.echo(f"The record is whole: {count(verdict.checked, 'entry', 'entries')}, head {head.seq} {head.hash}")
    else:
        click.echo(f"The record is broken: {plain(verdict.why)}. {verdict.checked:,} before it are whole.")
    return 0 if verdict.ok else FAILED


@command.command(
    "export",
    cls=Command,
    json=False,
    examples=("toolcrib audit export > record.jsonl", "toolcrib audit export --since 24h --agent helper"),
)
@_SINCE
@_AGENT
@_TOOL
@pass_asked
def export(asked: Asked, since: float | None, agent: str | None, tool: str | None) -> None:
    """Print every entry as a JSON line, the oldest first."""

    async def work(crib: Crib) -> None:
        query = Query(agent=agent, tool=_canonical(crib, tool), since=since)
        async for entry in crib.store.audit.export(query):
            write_line(entry)

    with_crib(asked, work)


def _canonical(crib: Crib, name: str | None) -> str | None:
    """The record has canonical names; what is no tool here may still have been called once."""
    found = crib.resolver.registry.get(name) if name else None
    return found.name if found else name
