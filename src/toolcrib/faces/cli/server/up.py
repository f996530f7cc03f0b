"""`toolcrib up`: the server."""

import asyncio
import os
from collections.abc import Callable

import click

from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import find
from toolcrib.faces.cli.output import plain, write_line


@declare("up", "toolcrib up", "toolcrib up --port 9000", "toolcrib up --host 0.0.0.0 --json")
@click.option("--host", metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", metavar="N", help="The port; 0 takes a free one.")
@click.option("--workspace", metavar="DIR", help="The folder that file tools work in.")
@pass_asked
def command(asked: Asked, host: str | None, port: str | None, workspace: str | None) -> None:
    """Start the server, and print the one link to open.

    On the first start the link makes the admin. It ends with Ctrl-C, or when it is told to stop.
    """
    settings, _ = find(asked)
    logs = heavy("logging")
    logs.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    logs.getLogger("toolcrib").setLevel(settings.log.upper())
    logs.getLogger("uvicorn").setLevel("WARNING")
    for note in settings.notes:
        click.echo(f"toolcrib: note: {plain(str(note))}", err=True)
    with asyncio.Runner(loop_factory=_loops()) as runner:
        runner.run(_run(asked, {"host": host, "port": port, "workspace": workspace}))


async def _run(asked: Asked, said: dict[str, str | None]) -> None:
    running, places = heavy("toolcrib.faces.serving.running"), heavy("toolcrib.app.house")
    overrides = {"home": asked.home, "config": asked.config, **said}
    settings, _ = heavy("toolcrib.machine.home").find(os.environ, overrides)
    host, port = running.checked_address(settings.host, settings.port, auth=settings.auth != "off")
    house = await places.open_house(**overrides)
    async with house:
        taken = running.listening(host, port)
        address = running.address_of(house, taken)
        house.reached(address)
        where, first = await running.link(house, address)
        house.occupation.says(f"process {os.getpid()}, {address}")

        def ready(_: str) -> None:
            _tell(where, first=first, as_json=asked.json)

        await running.serve(house, taken, ready=ready)


def _tell(link: str, *, first: bool, as_json: bool) -> None:
    if as_json:
        write_line({"link": link, "first_run": first, "pid": os.getpid()})
    else:
        does = "Open this to make the admin (it works once)" if first else "Toolcrib is up"
        click.echo(f"{does}: {link}")


def _loops() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Uvloop where it is there."""
    try:
        return heavy("uvloop").new_event_loop
    except ModuleNotFoundError:
        return None
