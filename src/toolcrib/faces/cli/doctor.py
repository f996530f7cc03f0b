"""`toolcrib doctor`: whether everything is in place, and what to do where it is not."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from toolcrib import __version__
from toolcrib.app import Crib
from toolcrib.core.errors import CribError, ToolError
from toolcrib.core.heavy import heavy
from toolcrib.faces.cli.faults import FAILED
from toolcrib.faces.cli.frame import Asked, pass_asked
from toolcrib.faces.cli.frame import command as declare
from toolcrib.faces.cli.opening import find, has_store, with_crib
from toolcrib.faces.cli.output import count, hanging, plain, write_json
from toolcrib.services.settings import Settings

OK, WARN, FAIL = "ok", "warn", "fail"
COLOURS = {OK: "green", WARN: "yellow", FAIL: "red"}
COLUMN = 21  # where what was found begins
PACKAGES = (
    "msgspec",
    "pydantic",
    "click",
    "pyyaml",
    "sqlalchemy",
    "alembic",
    "pypdf",
    "platformdirs",
    "httpcore2",
    "anyio",
    "idna",
    "cryptography",
    "fastapi",
    "uvicorn",
    "argon2-cffi",
    "prometheus-client",
)
ROOM_WANTED = 200 * 1024 * 1024


class Check(Struct, frozen=True):
    """One thing that was looked at."""

    name: str
    state: str
    what: str
    mend: str = ""


class Program(Struct, frozen=True):
    """A program beside ours that is used when it is there."""

    names: tuple[str, ...]
    without: str
    get: str


PROGRAMS = (
    Program(
        ("rg",),
        "grep searches with its own reader: the same answers, more slowly in large folders.",
        "Put the ripgrep binary in ~/.local/bin, or run: cargo install ripgrep. Neither needs root.",
    ),
    Program(
        ("chromium", "chromium-browser", "google-chrome", "chrome"),
        "There is no browser to steer. No tool of this version needs one.",
        "Without root: pip install playwright, then: playwright install chromium",
    ),
)


@declare("doctor", "toolcrib doctor", "toolcrib doctor --json")
@pass_asked
def command(asked: Asked) -> int:
    """Look at Python, the home folder, the configuration, the store and the programs beside it.

    Exit code 1 when something does not work. Nothing is made or changed.
    """
    checks = list(_checks(asked))
    failed = sum(check.state == FAIL for check in checks)
    if asked.json:
        write_json({"ok": not failed, "checks": msgspec.to_builtins(checks)})
        return FAILED if failed else 0
    for check in checks:
        state = click.style(f"{check.state:<4}", fg=COLOURS[check.state])
        click.echo(f"{state}  {check.name:<13}  {hanging(plain(check.what), COLUMN)}")
        if check.mend:
            click.echo(" " * COLUMN + hanging(plain(check.mend), COLUMN))
    warned = sum(check.state == WARN for check in checks)
    click.echo(f"{count(failed, 'failure')}, {count(warned, 'warning')}")
    return FAILED if failed else 0


def _checks(asked: Asked) -> Iterator[Check]:
    yield _python()
    yield _packages()
    try:
        settings, config = find(asked)
    except CribError as error:
        yield Check("configuration", FAIL, str(error), "Mend what is named, then: toolcrib config check")
        return
    yield _home(Path(settings.home))
    yield from _crib(asked, settings, [*settings.notes, *config.notes])
    yield _workspace(Path(settings.workspace).expanduser())
    yield from map(_program, PROGRAMS)
    yield heavy("asyncio").run(_sandbox())
    yield _patterns()
    yield _paths()


def _python() -> Check:
    what = f"{platform.python_version()} on {platform.system()} {platform.machine()}, toolcrib {__version__}"
    if sys.version_info < (3, 11):  # noqa: UP036 - a checkout may be started with any Python
        return Check("python", FAIL, what, "Toolcrib needs 3.11 or newer.")
    return Check("python", OK, what)


def _packages() -> Check:
    there: list[str] = []
    missing: list[str] = []
    for name in PACKAGES:
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check("packages", FAIL, f"Missing: {', '.join(missing)}.", "Install toolcrib again with what it needs.")
    return Check("packages", OK, ", ".join(there))


def _home(home: Path) -> Check:
    if not home.exists():
        above = next(folder for folder in home.absolute().parents if folder.exists())
        if os.access(above, os.W_OK | os.X_OK):
            return Check("home", OK, f"{home} does not exist yet; the first call makes it")
        return Check("home", FAIL, f"{home} cannot be made: {above} is not writable.", "Name another with --home.")
    if not home.is_dir() or not os.access(home, os.W_OK | os.X_OK):
        return Check("home", FAIL, f"{home} is not a folder that you can write to.", "Name another with --home.")
    room = shutil.disk_usage(home).free
    if room < ROOM_WANTED:
        return Check("home", WARN, f"{home}: {room // 1_000_000} MB are left on its disk.", "Make room on it.")
    if os.name == "posix" and home.stat().st_mode & 0o077:
        return Check("home", WARN, f"{home} can be read by other users.", f"Close it: chmod 700 '{home}'")
    return Check("home", OK, str(home))


def _crib(asked: Asked, settings: Settings, notes: list[object]) -> Iterator[Check]:
    """The configuration and the store: both show when a crib is opened."""

    async def work(crib: Crib) -> list[Check]:
        return [_configured(crib, settings, notes), await _stored(crib, settings), await _vault(crib, settings)]

    try:
        yield from with_crib(asked, work)
    except CribError as error:
        name = "store" if getattr(error, "code", "").startswith("store") else "configuration"
        yield Check(name, FAIL, str(error), getattr(error, "hint", "") or "Then look again: toolcrib doctor")


def _configured(crib: Crib, settings: Settings, notes: list[object]) -> Check:
    agents = count(len(crib.resolver.grants.agents), "agent")
    if notes:
        first = f"{settings.config}: {count(len(notes), 'note')}, the first: {notes[0]}"
        return Check("configuration", WARN, first, "All of them: toolcrib config check")
    if not Path(settings.config).exists():
        if crib.resolver.grants.agents:  # they were made on the page, or by `toolcrib agents`
            return Check("configuration", OK, f"{agents} in the store; there is no {settings.config}, and need not be")
        mend = (
            "Make one (toolcrib agents create NAME --toolbox scout), write the file, or take one over: toolcrib import"
        )
        return Check("configuration", WARN, f"There is no {settings.config}, and no agent in the store.", mend)
    return Check("configuration", OK, f"{settings.config}, {agents}")


async def _stored(crib: Crib, settings: Settings) -> Check:
    if not has_store(settings):
        return Check("store", OK, "None yet; the first call makes it")
    version_now = heavy("toolcrib.stores.sql.schema").VERSIONS[-1]  # an older one was just brought there
    if crib.store.audit.trouble:
        return Check("store", FAIL, f"The record cannot be written: {crib.store.audit.trouble}", "Make room or access.")
    verdict = await crib.store.audit.verify()
    if not verdict.ok:
        mend = "Somebody changed the store. Keep a copy of it, and look: toolcrib audit verify"
        return Check("store", FAIL, f"The record is broken: {verdict.why}.", mend)
    return Check("store", OK, f"schema {version_now}, record whole: {count(verdict.checked, 'entry', 'entries')}")


async def _vault(crib: Crib, settings: Settings) -> Check:
    if not has_store(settings) or not await crib.vault.book.exists():
        return Check("vault", OK, "None yet; the first secret makes it")
    try:
        found = await crib.vault.book.verify()
    except ToolError as error:
        return Check("vault", FAIL, error.message, error.hint)
    if not found.ok:
        return Check("vault", FAIL, "Rows were changed behind its back, or do not open.", "Look: toolcrib vault verify")
    return Check("vault", OK, f"{count(found.rows, 'row')}, opened with {crib.vault.book.where}")


def _workspace(folder: Path) -> Check:
    if not folder.is_dir():
        return Check("workspace", FAIL, f"{folder} is not a folder.", "Set `workspace` to one that exists.")
    if not os.access(folder, os.R_OK | os.X_OK):
        return Check("workspace", FAIL, f"{folder} cannot be read.", "Set `workspace` to one that you may read.")
    if not os.access(folder, os.W_OK):
        return Check("workspace", WARN, f"{folder.absolute()} cannot be written: tools only read there.")
    return Check("workspace", OK, str(folder.absolute()))


def _program(program: Program) -> Check:
    found = next((path for name in program.names if (path := shutil.which(name))), None)
    if found:
        return Check(program.names[0], OK, found)
    return Check(program.names[0], WARN, f"Not found. {program.without}", program.get)


async def _sandbox() -> Check:
    """What holds programs: found out by running one that does nothing."""
    commands = heavy("toolcrib.machine.sandbox.commands").LocalCommands()
    walls = await commands.walls()
    await commands.close()
    if not walls.name:
        return Check("sandbox", WARN, walls.about, walls.fix)
    if walls.lacks:
        return Check("sandbox", WARN, f"{walls.about}, without a limit on: {', '.join(walls.lacks)}", walls.fix)
    return Check("sandbox", OK, walls.about)


def _patterns() -> Check:
    try:
        heavy("re2")
    except ImportError:
        return Check("re2", FAIL, "Patterns cannot be searched without it.", "Run: pip install google-re2")
    return Check("re2", OK, "patterns are searched in linear time")


def _paths() -> Check:
    if heavy("toolcrib.machine.files.openat").available():
        return Check("openat2", OK, "the kernel keeps paths inside the workspace")
    return Check("openat2", OK, "not on this system; each folder of a path is opened and checked instead")
