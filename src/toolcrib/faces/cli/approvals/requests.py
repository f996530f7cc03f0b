"""`toolcrib approvals`: calls that wait for a person's word."""

import time
from typing import Any, cast

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.approvals.rules import patterns, rules
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, one_line, plain, write_json, write_table
from toolcrib.faces.cli.person import Span, at, me
from toolcrib.services.approvals.requests import ApprovalRequest, Choice, Lifetime, Reason, State


@click.group(
    "approvals",
    cls=Group,
    default="list",
    examples=(
        "toolcrib approvals",
        "toolcrib approvals show APPROVAL",
        "toolcrib approvals answer APPROVAL accept",
        "toolcrib approvals answer APPROVAL accept --always --where 'path=notes/*'",
        "toolcrib approvals answer APPROVAL deny --text 'not on a Friday'",
        "toolcrib approvals rules",
    ),
)
def command() -> None:
    """Answer calls that a guard wants a person's word on."""


@command.command(
    "list", cls=Command, examples=("toolcrib approvals list", "toolcrib approvals list --state all --json")
)
@click.option("--agent", metavar="NAME", shell_complete=agents, help="Only calls of this agent.")
@click.option(
    "--state",
    type=click.Choice([*(state.value for state in State), "all"]),
    default=State.PENDING.value,
    show_default=True,
    help="Only requests in this state.",
)
@pass_asked
def list_requests(asked: Asked, agent: str | None, state: str) -> None:
    """List requests, the newest first."""

    async def work(crib: Crib) -> tuple[ApprovalRequest, ...]:
        return await crib.approvals.list(agent=agent, state=None if state == "all" else State(state))

    found = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(found))
        return
    rows = [
        (one.id, at(one.asked), one.agent, one.tool, one.state.value, at(one.expires), one_line(one.arguments, 60))
        for one in found
    ]
    write_table(("id", "asked", "agent", "tool", "state", "until", "arguments"), rows)
    click.echo(count(len(found), "request"))


@command.command(
    "show", cls=Command, examples=("toolcrib approvals show APPROVAL", "toolcrib approvals show APPROVAL --json")
)
@click.argument("approval")
@pass_asked
def show(asked: Asked, approval: str) -> None:
    """Show what would be run, why a person is asked, and what was answered."""

    async def work(crib: Crib) -> ApprovalRequest:
        return await crib.approvals.get(approval)

    _say(asked, with_crib(asked, work))


@command.command(
    "answer",
    cls=Command,
    examples=(
        "toolcrib approvals answer APPROVAL accept",
        "toolcrib approvals answer APPROVAL accept --for 30m",
        "toolcrib approvals answer APPROVAL accept --always --where 'path=notes/*'",
        'toolcrib approvals answer APPROVAL edit --arguments \'{"path": "b.md", "content": "x"}\'',
        "toolcrib approvals answer APPROVAL respond --text 'it is in old/ already'",
        "toolcrib approvals answer APPROVAL deny",
    ),
)
@click.argument("approval")
@click.argument("choice", type=click.Choice([choice.value for choice in Choice]))
@click.option("--arguments", metavar="JSON", help="With edit: the arguments to run it with.")
@click.option("--text", metavar="TEXT", default="", help="With respond: what the agent is told. With deny: why.")
@click.option("--session", "lifetime", flag_value=Lifetime.SESSION.value, help="Hold for the session that asked.")
@click.option("--always", "lifetime", flag_value=Lifetime.ALWAYS.value, help="Hold for good, as a rule.")
@click.option("--for", "span", type=Span(), metavar="TIME", help="Hold for a time, such as 30m, 2h or 7d.")
@click.option("--where", metavar="ARGUMENT=PATTERN", multiple=True, help="What lasts: only these patterns count.")
@pass_asked
def answer(asked: Asked, approval: str, choice: str, **said: Any) -> None:
    """Say what happens to a call: accept, edit, respond, ignore or deny.

    A yes holds once, for this exact call, unless you say otherwise. What lasts becomes a rule that `toolcrib approvals
    rules` shows: without --where it fits these arguments only.
    """
    span, lifetime = said["span"], said["lifetime"]
    if span is not None and lifetime is not None:
        raise click.UsageError("A yes has one lifetime: --session, --for TIME or --always.")
    answered: dict[str, Any] = {
        "lifetime": Lifetime.UNTIL if span is not None else Lifetime(lifetime or Lifetime.ONCE),
        "until": None if span is None else time.time() + span,
        "arguments": None if said["arguments"] is None else _object(said["arguments"]),
        "text": said["text"],
        "where": patterns(said["where"]) if said["where"] else None,
    }

    async def work(crib: Crib) -> ApprovalRequest:
        return await crib.approvals.answer(approval, choice, by=me(), **answered)

    _say(asked, with_crib(asked, work))


def _object(text: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise click.UsageError(f"--arguments is no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise click.UsageError("--arguments takes a JSON object.")
    return cast("dict[str, Any]", found)


def _say(asked: Asked, request: ApprovalRequest) -> None:
    if asked.json:
        write_json(msgspec.to_builtins(request))
        return
    click.echo(click.style(f"{plain(request.agent)} wants to call {plain(request.tool)}", bold=True))
    click.echo(plain(msgspec.json.format(request.arguments, indent=2)))
    answered = f"{request.choice} by {request.by}" if request.choice else ""
    rows = [
        *(("because", _why(one)) for one in request.reasons),
        *(("would leave", one.leaves) for one in request.reasons if one.leaves),
        ("undo", "can be undone" if request.undoable else "CANNOT BE UNDONE"),
        ("in", request.workspace),
        *(("bound to", f"{name} {value}") for name, value in request.binding.items()),
        ("session", request.session),
        ("user", request.user),
        ("call", request.call),
        ("asked", at(request.asked)),
        ("until", at(request.expires)),
        ("state", f"{request.state.value}, {answered}" if answered else request.state.value),
        ("text", request.text),
        ("edited", request.edited),
        ("rule", f"{request.rule} (`toolcrib approvals rules` shows it)" if request.rule else ""),
    ]
    write_table(("", ""), [row for row in rows if row[1]], indent="  ")


def _why(reason: Reason) -> str:
    span = f" (characters {reason.span[0]} to {reason.span[1]})" if reason.span else ""
    hint = f" {reason.hint}" if reason.hint else ""
    return f"{reason.why} [{reason.rule}]{span}{hint}"


command.add_command(rules)
