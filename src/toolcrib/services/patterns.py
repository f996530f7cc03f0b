"""Patterns over arguments: what a rule says of a call's `path` or `url`. `*` and `?` stand for anything."""

import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase, translate
from typing import TypeAlias

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.guard import Call

_SIGNS = re.compile(r"([*?[])")
_CLIMBS = re.compile(r"(^|[/\\])\.\.([/\\]|$)")


Matches: TypeAlias = Callable[[str], object]


def matcher(pattern: str) -> Matches:
    """What says whether a text fits a pattern."""
    return re.compile(translate(pattern)).match


def as_text(value: object) -> str:
    """A value as a pattern sees it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def fits(where: Mapping[str, str], call: Call) -> bool:
    """Whether a call's arguments fit every pattern. An argument left out has its default."""
    known = call.tool.schema.get("properties", {})
    return all(name in known and fnmatchcase(_given(call, known, name), pattern) for name, pattern in where.items())


def fits_closely(where: Mapping[str, str], call: Call) -> bool:
    """The same for a pattern that lets a call through: a path that climbs fits only where it is written out."""
    known = call.tool.schema.get("properties", {})
    given = {name: _given(call, known, name) for name in where if name in known}
    return fits(where, call) and not any(
        _CLIMBS.search(text) and literal(text) != where[name] for name, text in given.items()
    )


def patterns_of(call: Call) -> dict[str, str]:
    """The patterns that only this call's arguments fit, one for each argument that it could have."""
    known = call.tool.schema.get("properties", {})
    return {name: literal(_given(call, known, name)) for name in known}


def literal(text: str) -> str:
    """The pattern that only this text fits."""
    return _SIGNS.sub(r"[\1]", text)


def _given(call: Call, known: JsonObject, name: str) -> str:
    return as_text(call.arguments.get(name, known[name].get("default")))
