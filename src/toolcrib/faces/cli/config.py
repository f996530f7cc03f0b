"""`toolcrib config`: the configuration and the settings, checked and shown."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import click
import msgspec
from msgspec.structs import replace

from toolcrib.app import Crib
from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import AgentRules, Toolbox, Toolkit
from toolcrib.core.tool import Effect
from toolcrib.faces.cli.faults import FAILED
from toolcrib.faces.cli.frame import Asked, Command, Group, pass_asked
from toolcrib.faces.cli.opening import find, with_crib
from toolcrib.faces.cli.output import count, plain, write_json, write_table
from toolcrib.safety.scrub import Scrubber
from toolcrib.services.config.values import Config


@click.group(
    "config",
    cls=Group,
    examples=("toolcrib config check", "toolcrib config check other.yaml --json", "toolcrib config env"),
)
def command() -> None:
    """Check and show the configuration and the settings."""


@command.command(
    "check",
    cls=Command,
    examples=("toolcrib config check", "toolcrib config check other.yaml", "toolcrib config check --json"),
)
@click.argument("file", required=False)
@pass_asked
def check(asked: Asked, file: str | None) -> int:
    """Report every problem of the configuration, or of FILE, with its line. Nothing is changed."""
    asked = replace(asked, config=file or asked.config)
    problems: Sequence[Problem] = ()
    notes: Sequence[Problem] = ()
    source, there = file or asked.config or "", True

    async def work(crib: Crib) -> Config:
        return crib.config

    try:
        settings, _ = find(asked)
        source, there = settings.config, Path(settings.config).exists()
        notes = with_crib(asked, work).notes
    except BadConfig as error:
        problems, source = error.problems, error.source
    if asked.json:
        told = {"ok": not problems, "file": source, "problems": problems, "notes": notes}
        write_json(msgspec.to_builtins(told))
    else:
        _print(source, problems, notes, there=there)
    return FAILED if problems else 0


def _print(source: str, problems: Sequence[Problem], notes: Sequence[Problem], *, there: bool) -> None:
    for kind, found in (("", problems), ("note: ", notes)):
        for one in found:
            place = f"{source}:{one.line}" if one.line else source
            at = one.where and f"{one.where}: "
            click.echo(plain(f"{place}: {kind}{at}{one.what} {one.mend}".rstrip()))
    if problems:
        click.echo(count(len(problems), "problem"))
    else:
        click.echo(f"{plain(source)}: {'no problems' if there else 'there is no such file, so the defaults hold'}")


@command.command("env", cls=Command, examples=("toolcrib config env", "toolcrib config env --json"))
@pass_asked
def env(asked: Asked) -> None:
    """List every setting with its TOOLCRIB_ variable, its value, and where that comes from."""
    settings, _ = find(asked)
    rows = settings.rows()
    if asked.json:
        write_json(msgspec.to_builtins(rows))
        return
    write_table(("variable", "value", "from", "meaning"), [(r.name, r.value, r.source, r.words) for r in rows])
    for note in settings.notes:
        click.echo(f"note: {plain(str(note))}")


@command.command("show", cls=Command, examples=("toolcrib config show", "toolcrib config show --json"))
@pass_asked
def show(asked: Asked) -> None:
    """Print the configuration as it was understood: names, lists and values, without defaults."""
    settings, config = find(asked)
    told = _told(config)
    if "store" in told:
        told["store"] = "(set)"  # it may hold a password
    for provider in told.get("search", {}).get("providers", ()):
        if provider["key"]:
            provider["key"] = "(set)"
    scrub = Scrubber([(name, os.environ[name]) for name in config.scrub_env if name in os.environ])
    if asked.json:
        write_json({"file": settings.config, "config": msgspec.json.decode(scrub(msgspec.json.encode(told).decode()))})
        return
    click.echo(click.style(f"# {plain(settings.config)}", bold=True))
    if told:
        written = heavy("yaml").safe_dump(told, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)
        click.echo(plain(scrub(written)), nl=False)
    else:
        click.echo("# It says nothing: the defaults hold.")


def _told(config: Config) -> dict[str, Any]:
    """A configuration in the words of toolcrib.yaml, so that what is shown can be read again."""
    said = _plain(config)
    for agent in said["agents"].values():
        agent["tools"] = list(map(_entry, agent["tools"]))
    for kit in said["toolkits"].values():
        kit["tools"] = list(map(_entry, kit["tools"]))
    for named in (*said["agents"].values(), *said["toolboxes"].values(), *said["toolkits"].values(), *said["rules"]):
        del named["name"]
    said["policy"]["sub_agents"] = said.pop("sub_agents")
    said["confirm"] = ["destructive" if effect == Effect.DESTROY.value else effect for effect in said["confirm"]]
    said["shell"] = {"rules": said.pop("shell_rules")}
    said["scrub"] = {"env": said.pop("scrub_env")}
    empty = _defaults()
    return {key: short for key, value in said.items() if key in empty and (short := _short(value, empty[key]))}


def _plain(value: object) -> dict[str, Any]:
    """Mappings, lists and words only, as YAML has them."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _defaults() -> dict[str, Any]:
    """What holds when nothing is said, for each part; None where the parts have no defaults of their own."""
    base = _plain(Config())
    base["policy"]["sub_agents"] = base.pop("sub_agents")
    plain_parts = dict.fromkeys(("rules", "confirm", "audit", "workspace", "deny_paths", "store"))
    one = {
        "agents": AgentRules(name=""),
        "toolboxes": Toolbox(name="", tools=()),
        "toolkits": Toolkit(name="", tools=()),
    }
    each = {key: {"*": _plain(value)} for key, value in one.items()}
    for key in ("toolboxes", "toolkits"):
        del each[key]["*"]["tools"]  # what a box holds is worth showing, also when it is nothing
    return {
        **plain_parts,
        "scrub": {"env": []},
        "shell": {"rules": []},
        "policy": base["policy"],
        "limits": base["limits"],
        "flow": base["flow"],
        "network": base["network"],
        "search": base["search"],
        **each,
    }


def _entry(entry: dict[str, Any]) -> object:
    """A tool by name, or with the settings that it is given."""
    return {entry["name"]: entry["overrides"]} if entry["overrides"] else entry["name"]


def _short(value: Any, empty: Any = None) -> Any:  # noqa: ANN401 - any part of a configuration
    """Without what is as it would be anyway. An empty list where none would stand says something, and stays."""
    if not isinstance(value, dict):
        return value
    parts, base = cast("dict[str, Any]", value), cast("dict[str, Any]", empty or {})
    every = base.get("*")
    kept = {key: _short(part, every or base.get(key)) for key, part in parts.items()}
    return {
        key: part
        for key, part in kept.items()
        if every
        or (part != base.get(key) and part not in ({}, ""))
        or (part == [] and key in base and base[key] is None)
    }
