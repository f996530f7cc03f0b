"""`toolcrib undo`: put back what a call changed."""

import click
import msgspec

from toolcrib.app import Crib
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import with_crib
from toolcrib.faces.cli.output import plain, write_json
from toolcrib.faces.cli.person import me
from toolcrib.services.undo.notes import Undone


@declare("undo", "toolcrib undo CHANGE", "toolcrib undo CHANGE --force --json")
@click.argument("call")
@click.option("--force", is_flag=True, help="Also put back what was changed since the call.")
@pass_asked
def command(asked: Asked, call: str, *, force: bool) -> None:
    """Put back what CALL changed, all of it, or say exactly why not.

    CALL is the id that `toolcrib audit` shows. What was changed since the call is left alone, unless you force it.
    An undo has an id of its own, and can be undone.
    """

    async def work(crib: Crib) -> Undone:
        return await crib.undo(call, by=me(), force=force)

    done = with_crib(asked, work)
    if asked.json:
        write_json(msgspec.to_builtins(done))
        return
    for did in done.did:
        click.echo(plain(f"{did[:1].upper()}{did[1:]}."))
    click.echo(f"The call {plain(done.call)} of {plain(done.tool)} is undone. To redo it: toolcrib undo {done.id}")
