"""`toolcrib explain`: why an agent holds a tool, or does not."""

from collections.abc import Sequence

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.core.explain import Explained, explain, explain_all
from toolcrib.core.tool import Effect, Flow, Tool
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import agents, tools, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table

LISTED = ("tool", "issued", "shown", "step", "reason")  # of every tool; the answer for one tool says more


@declare(
    "explain",
    "toolcrib explain scout",
    "toolcrib explain scout write_file",
    "toolcrib explain helper --sub-agent",
    "toolcrib explain helper --provider openai --json",
)
@click.argument("agent", shell_complete=agents)
@click.argument("tool", required=False, shell_complete=tools)
@click.option("--sub-agent", is_flag=True, help="As a sub-agent of it, one level down.")
@click.option(
    "--depth", type=click.IntRange(0, 10), metavar="N", default=0, help="As a sub-agent, so many levels down."
)
@click.option("--provider", metavar="NAME", default="", help="With this model provider.")
@click.option("--group", metavar="NAME", default="", help="In this channel group.")
@click.option("--session", metavar="NAME", default="", help="In this session, with what it has loaded.")
@pass_asked
def command(
    asked: Asked,
    agent: str,
    *,
    tool: str | None,
    sub_agent: bool,
    depth: int,
    provider: str,
    group: str,
    session: str,
) -> int:
    """Say for every tool, or for TOOL, whether AGENT holds it, which step decided, and what would change that."""

    async def work(crib: Crib) -> tuple[list[Explained], Tool | None]:
        depths = depth or int(sub_agent)
        turn = await crib.turn(agent, depth=depths, provider=provider, group=group, session=session)
        if tool is not None:
            return [explain(turn.resolver, turn.view.seat, tool)], turn.resolver.registry.get(tool)
        return list(explain_all(turn.resolver, turn.view.seat)), None

    told, one = with_crib(asked, work)
    if asked.json and tool is None:
        write_json([{fact: getattr(each, fact) for fact in LISTED} for each in told])
    elif asked.json:
        write_json({**msgspec.to_builtins(told[0]), "undo": _undo(one)})
    elif tool is None:
        _print_all(agent, told)
    else:
        _print_one(agent, told[0], _undo(one))
    return 1 if told and told[0].step == "unknown" else 0


def _undo(tool: Tool | None) -> str:
    """Whether its calls can be undone: said before they run."""
    if tool is None:
        return ""
    if tool.traits.effect is Effect.READ and Flow.SENDS not in tool.traits.flow:
        return "nothing to undo: it only reads"
    return "its calls can be undone" if tool.traits.undoable else "its calls cannot be undone"


def _print_one(agent: str, one: Explained, undo: str) -> None:
    held = "holds" if one.issued else "does not hold"
    more = " It is not in the prompt." if one.issued and not one.shown else ""
    click.echo(click.style(f"{plain(agent)} {held} {plain(one.tool)}.{more}", bold=True))
    rows = [
        ("step", one.step),
        ("reason", one.reason),
        ("let in by", one.let_in),
        ("to change it", one.change),
        ("undo", undo if one.issued else ""),
    ]
    write_table(("", ""), [row for row in rows if row[1]], indent="  ")


def _print_all(agent: str, told: Sequence[Explained]) -> None:
    shown = [one for one in told if one.shown]
    deferred = [one for one in told if one.issued and not one.shown]
    missing = [one for one in told if not one.issued]
    _section(f"{agent} holds {count(len(shown), 'tool')}", [(one.tool, one.reason) for one in shown])
    _section("held, and not in the prompt", [(one.tool, one.reason) for one in deferred])
    for step in dict.fromkeys(one.step for one in missing):
        rows = [(one.tool, f"{one.reason}. {one.change}".rstrip(". ")) for one in missing if one.step == step]
        _section(f"not held, decided by the step {step}", rows)


def _section(title: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        click.echo(click.style(plain(title), bold=True))
        write_table(("", ""), rows, indent="  ")
