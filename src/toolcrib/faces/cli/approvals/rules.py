"""`toolcrib approvals rules`: what people agreed to beforehand."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import agents, with_crib
from toolcrib.faces.cli.output import count, write_json, write_table
from toolcrib.faces.cli.person import at, me
from toolcrib.services.approvals.requests import StandingRule


@click.group(
    "rules",
    cls=Group,
    default="list",
    examples=(
        "toolcrib approvals rules",
        "toolcrib approvals rules edit RULE --where 'path=notes/*'",
        "toolcrib approvals rules delete RULE",
    ),
)
def rules() -> None:
    """See, change and take away what people agreed to beforehand."""


@rules.command(
    "list",
    cls=Command,
    examples=("toolcrib approvals rules list", "toolcrib approvals rules list --agent helper --json"),
)
@click.option("--agent", metavar="NAME", shell_complete=agents, help="Only rules for this agent.")
@pass_asked
def list_rules(asked: Asked, agent: str | None) -> None:
    """List the rules, the newest first."""

    async def work(crib: Crib) -> tuple[StandingRule, ...]:
        return await crib.approvals.rules(agent=agent)

    found = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(found))
        return
    write_table(("rule", "agent", "tool", "holds", "by", "fits"), [_rule_row(one) for one in found])
    click.echo(count(len(found), "rule"))


@rules.command(
    "edit",
    cls=Command,
    examples=(
        "toolcrib approvals rules edit RULE --where 'path=notes/*'",
        "toolcrib approvals rules edit RULE --where 'path=*.md' --where content=x --json",
    ),
)
@click.argument("rule")
@click.option(
    "--where", metavar="ARGUMENT=PATTERN", multiple=True, required=True, help="Its new patterns, all of them."
)
@pass_asked
def edit_rule(asked: Asked, rule: str, where: tuple[str, ...]) -> None:
    """Give a rule other patterns. Arguments that are not named may be anything."""

    async def work(crib: Crib) -> StandingRule:
        return await crib.approvals.change_rule(rule, patterns(where), by=me())

    _say_rule(asked, with_crib(asked, work), "Changed")


@rules.command(
    "delete",
    cls=Command,
    examples=("toolcrib approvals rules delete RULE", "toolcrib approvals rules delete RULE --json"),
)
@click.argument("rule")
@pass_asked
def delete_rule(asked: Asked, rule: str) -> None:
    """Take a rule away: its calls ask again."""

    async def work(crib: Crib) -> StandingRule:
        return await crib.approvals.delete_rule(rule)

    _say_rule(asked, with_crib(asked, work), "Deleted")


def patterns(said: tuple[str, ...]) -> dict[str, str]:
    """What stands behind --where."""
    if bare := [one for one in said if not one.partition("=")[1] or not one.partition("=")[0]]:
        raise click.UsageError(f"{bare[0]!r} is not ARGUMENT=PATTERN, such as 'path=notes/*'.")
    return {name: pattern for name, _, pattern in (one.partition("=") for one in said)}


def _rule_row(rule: StandingRule) -> tuple[str, ...]:
    holds = "always" if rule.until is None else f"until {at(rule.until)}"
    fits = ", ".join(f"{name}={pattern}" for name, pattern in rule.where.items()) or "any arguments"
    scope = f"in session {rule.session}" if rule.session else holds
    return rule.id, rule.agent, rule.tool, scope, rule.by, "one exact call" if rule.exact else fits


def _say_rule(asked: Asked, rule: StandingRule, did: str) -> None:
    if asked.json:
        write_json(msgspec.to_builtins(rule))
        return
    rows = list(zip(("rule", "agent", "tool", "holds", "by", "fits"), _rule_row(rule), strict=True))
    click.echo(f"{did} the rule {rule.id}.")
    write_table(("", ""), rows, indent="  ")
