"""Opens the crib that a command works on, and closes it whatever happens."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from toolcrib.app import Crib, open_crib
from toolcrib.core.errors import CribError
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.frame import Asked
from toolcrib.faces.cli.output import plain
from toolcrib.services.config.values import Config
from toolcrib.services.settings import Settings

T = TypeVar("T")
SQLITE = "sqlite:///"


def find(asked: Asked) -> tuple[Settings, Config]:
    """The settings in force, and the configuration as it is written. Nothing is made."""
    return heavy("toolcrib.machine.home").find(os.environ, {"home": asked.home, "config": asked.config})


def served_at(asked: Asked) -> str:
    """The address of the server that works in this home; "" while there is none."""
    address: str = heavy("toolcrib.machine.home").served_at(find(asked)[0].home)
    return address


def has_store(settings: Settings) -> bool:
    """Whether there is a store already. A database server is asked when it is opened."""
    return not settings.store.startswith(SQLITE) or Path(settings.store.removeprefix(SQLITE)).exists()


def with_crib(
    asked: Asked,
    work: Callable[[Crib], Awaitable[T]],
    *,
    makes_store: bool = False,
    **more: Any,
) -> T:
    """Do some work with the crib. Only `makes_store` writes anything where nothing was: a look leaves no trace."""
    settings, _ = find(asked)
    for note in settings.notes:
        click.echo(f"toolcrib: note: {plain(str(note))}", err=True)

    heavy("logging").getLogger("toolcrib").setLevel(settings.log.upper())

    async def opened() -> T:
        async with await open_crib(
            home=asked.home, config=asked.config, needs_store=makes_store or has_store(settings), **more
        ) as crib:
            return await work(crib)

    return asyncio.run(opened())


def agents(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Completion of an agent's name."""
    config = _config(ctx)
    return [name for name in sorted(config.agents) if name.startswith(incomplete)] if config else []


def tools(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Completion of a tool's name."""
    source = heavy("toolcrib.sources.native")
    return sorted(tool.name for tool in source.native_tools() if tool.name.startswith(incomplete))


def toolboxes(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Completion of a toolbox's name."""
    config = _config(ctx)
    named = {*heavy("toolcrib.sources.native").base_grants().toolboxes, *(config.toolboxes if config else ())}
    return sorted(name for name in named if name.startswith(incomplete))


def _config(ctx: click.Context | None) -> Config | None:
    said: dict[str, str | None] = {}
    while ctx is not None:
        said = {key: said.get(key) or ctx.params.get(key) for key in ("home", "config")}
        ctx = ctx.parent
    try:
        return find(Asked(home=said.get("home"), config=said.get("config")))[1]
    except (CribError, OSError):
        return None  # completion has no place to say what is wrong
