"""`toolcrib lint`: what looks wrong in the grants and is no error."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import with_crib
from toolcrib.faces.cli.output import count, write_json, write_table
from toolcrib.services.advice.lint import TOKENS_MANY, TOOLS_MANY, Finding, lint


@declare("lint", "toolcrib lint", "toolcrib lint --max-tools 30", "toolcrib lint --json")
@click.option("--strict", is_flag=True, help="Exit with 1 when there are findings.")
@click.option(
    "--max-tools", type=int, metavar="N", default=TOOLS_MANY, show_default=True, help="More than these are many."
)
@click.option(
    "--max-tokens", type=int, metavar="N", default=TOKENS_MANY, show_default=True, help="The same for prompt tokens."
)
@pass_asked
def command(asked: Asked, strict: bool, max_tools: int, max_tokens: int) -> int:
    """Find rules that can never matter, toolboxes that nobody uses, and agents that hold too much."""

    async def work(crib: Crib) -> list[Finding]:
        return list(lint(crib.resolver, many=max_tools, heavy=max_tokens))

    found = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(found))
    else:
        write_table(("", "", ""), [(one.id, one.where, f"{one.what} {one.mend}") for one in found])
        click.echo(count(len(found), "finding"))
    return int(strict and bool(found))
