"""Tools that come with the crib, and the names, boxes and lists that come with them.

Every folder under `toolcrib.tools` is a family; there is no roster to keep.
"""

import importlib
import pkgutil
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from toolcrib import tools
from toolcrib.core.errors import BadTool
from toolcrib.core.heavy import heavy
from toolcrib.core.policy import Grants, Policy, SubAgentRules, Toolbox
from toolcrib.core.registry import Names, Reserved
from toolcrib.core.tool import Family, Tool
from toolcrib.services.config.values import Config

_HERE = Path(__file__).parent.parent


@cache
def families() -> tuple[Family, ...]:
    """Every folder's family, in name order."""
    found: list[Family] = []
    for module in pkgutil.iter_modules(tools.__path__, "toolcrib.tools."):
        family = getattr(importlib.import_module(module.name), "family", None)
        if not isinstance(family, Family):
            raise BadTool(f"{module.name} has no `family`; its __init__.py has to export one.")
        found.append(family)
    return tuple(found)


def native_tools() -> list[Tool]:
    """Every tool of every family."""
    return [tool for family in families() for tool in family.tools]


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((_HERE / "toolboxes.toml").read_text(encoding="utf-8"))


@cache
def _catalogue() -> dict[str, Any]:
    return tomllib.loads((_HERE / "catalogue.toml").read_text(encoding="utf-8"))


def names(built: set[str] | frozenset[str] = frozenset()) -> Names:
    """Groups, names that cover several tools, and the tools of the catalogue that are not here."""
    lists = _lists()
    reserved = {
        name: Reserved(
            name, row["about"], row["domain"], tuple(row.get("aliases", ())), row["where"], row.get("flags", "")
        )
        for name, row in _catalogue().items()
        if name not in built
    }
    made = Names(
        groups={name: tuple(entries) for name, entries in lists["group"].items()},
        covers={name: tuple(entries) for name, entries in lists["covers"].items()},
        reserved=reserved,
    )
    # A crib without the native tools still knows their names where a list has them: "group:fs" is no mistake there.
    for name in _listed():
        if name not in built and name not in reserved and name not in made.covers:
            reserved[name] = Reserved(name, "A native tool; this crib was made without them.", "native")
    return made


@cache
def _listed() -> tuple[str, ...]:
    lists = _lists()
    boxes = [row["tools"] for row in lists["toolbox"].values()]
    entries = [entry for part in (lists["floor"], *lists["group"].values(), *boxes) for entry in part]
    return tuple(dict.fromkeys(entry for entry in entries if entry.isidentifier()))


def base_grants() -> Grants:
    """The floor, the built-in toolboxes, the profiles and the lists for sub-agents, before anybody's configuration."""
    lists = _lists()
    return Grants(
        floor=tuple(lists["floor"]),
        reply=tuple(lists["reply"]),
        exact_floor=tuple(lists["exact_floor"]),
        toolboxes={
            name: Toolbox(
                name=name,
                tools=tuple(row["tools"]),
                description=row["description"],
                exact=row.get("exact", False),
                builtin=True,
            )
            for name, row in lists["toolbox"].items()
        },
        profiles={name: tuple(entries) for name, entries in lists["profile"].items()},
        policy=Policy(sub_agents=_lists_of()),
    )


def grants(config: Config) -> Grants:
    """What comes with the crib, with a configuration laid over it."""
    return heavy("toolcrib.services.config.grants").grants_of(config, base_grants(), {"goclaw": _lists_of("goclaw")})


def _lists_of(preset: str = "") -> SubAgentRules:
    """The lists for sub-agents; a preset replaces what may be replaced, never the hard exclusions."""
    lists = _lists()["sub_agent"]
    chosen = lists[preset] if preset else lists
    return SubAgentRules(excluded=tuple(lists["excluded"]), denied=tuple(chosen["denied"]), leaf=tuple(chosen["leaf"]))
