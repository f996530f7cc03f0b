"""Another system's file as plain values, and the tools to turn it into ours with a note for whatever is changed.

Nothing here trusts the file: a value that is not what it should be is left out with a note.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct, field
from msgspec.structs import replace

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.heavy import heavy
from toolcrib.core.registry import Registry, UnknownName
from toolcrib.services.config.document import BYTES, Items, Node, Text, parse, plain_value
from toolcrib.services.config.kinds import NAME
from toolcrib.services.config.meaning import meant
from toolcrib.services.config.names import kit_misfit
from toolcrib.services.config.nodes import at

Foreign = Any  # plain values as a file holds them
_JSON5 = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)|(?P<key>[A-Za-z_$][\w$]*)(?=\s*:)""",
    re.DOTALL,
)


class Draft(Struct):
    """What an import has made so far."""

    registry: Registry
    notes: list[Problem] = field(default_factory=list[Problem])

    def note(self, where: str, what: str, mend: str = "") -> None:
        """Say what was changed or left out, and why."""
        self.notes.append(Problem(where, what, mend))

    def known(self, name: str) -> bool:
        """Whether a name means something in a list here."""
        try:
            self.registry.check(name)
        except UnknownName:
            return False
        return True

    def mapping(self, value: Foreign, where: str) -> dict[str, Foreign]:
        """A mapping; anything else is left out with a note."""
        return cast("dict[str, Foreign]", self._shaped(value, where, dict, "mapping") or {})

    def items(self, value: Foreign, where: str) -> list[Foreign]:
        """A list; anything else is left out with a note."""
        return cast("list[Foreign]", self._shaped(value, where, list, "list") or [])

    def _shaped(self, value: Foreign, where: str, shape: type, word: str) -> Foreign:
        if value is None or isinstance(value, shape):
            return value
        self.note(where, f"This was left out: it is no {word}.")
        return None

    def words(self, value: Foreign, where: str) -> str:
        """A text; anything but a text or a number is left out with a note."""
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            self.note(where, "This was left out: it is no text.")
        return ""

    def names(self, value: Foreign, where: str) -> list[str] | None:
        """A list of names; None when there is none."""
        if value is None:
            return None
        listed = [value] if isinstance(value, str) else self.items(value, where)
        found: list[str] = []
        for i, entry in enumerate(listed):
            name = self.words(entry, at(where, i)).strip()
            if name and name not in found:
                found.append(name)
        return found

    def ours(self, names: Iterable[str], where: str, table: Mapping[str, Sequence[str]], loss: str) -> list[str]:
        """Names of another system as names of ours. `loss` says what it means that one is not known here."""
        found: dict[str, None] = {}
        lost: list[str] = []
        for name in names:
            listed = table.get(name.lower(), (name,))
            good = [entry for entry in listed if self.known(entry)]
            if not good:
                lost.append(name)
            elif listed != (name,):
                self.note(where, f"{name} became {', '.join(good)}.")
            found |= dict.fromkeys(good)
        if lost:
            self.note(where, f"Not known here and left out: {', '.join(lost)}. {loss}")
        return list(found)

    def in_kit(self, names: Iterable[str], where: str) -> list[str]:
        """Those of our names that a toolkit may hold, each tool once."""
        held: set[str] = set()
        kept: list[str] = []
        for name in names:
            means = meant(self.registry, name)
            if misfit := kit_misfit(self.registry, means):
                self.note(where, f"{name} was left out: {misfit[0]} {misfit[1]}.")
                continue
            kept += sorted(means - held) if means & held else [name]
            held |= means
        return kept

    def left_out(self, found: Mapping[str, Foreign], keys: Iterable[str], where: str, why: str) -> None:
        """Say which keys were there and have no place here."""
        there = [key for key in keys if found.get(key) not in (None, [], {}, "", False)]
        if there:
            self.note(where, f"Left out: {', '.join(there)}. {why}")

    def own_name(self, name: str, taken: Iterable[str], where: str) -> str:
        """A name that our form allows and that nobody has yet."""
        plain = NAME.fullmatch(name)
        short = name if plain else re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:56] or "unnamed"
        used = {one.lower() for one in taken}
        choices = (short, *(f"{short[:56]}-{i}" for i in range(2, len(used) + 3)))
        free = next(one for one in choices if one.lower() not in used)
        if free != name:
            self.note(where, f"{name!r} became {free!r}.")
        return free


def mapping_of(value: Foreign) -> dict[str, Foreign]:
    """A mapping as it is; an empty one for anything else."""
    return cast("dict[str, Foreign]", value) if isinstance(value, dict) else {}


def list_of(value: Foreign) -> list[Foreign]:
    """A list as it is; an empty one for anything else."""
    return cast("list[Foreign]", value) if isinstance(value, list) else []


def read_foreign(text: str, source: str) -> Foreign:
    """JSON, JSON with comments, or YAML as plain values. Raises BadConfig when it is none of them."""
    json = text.lstrip("\ufeff \t\r\n").startswith(("{", "[", "//", "/*"))
    if json and len(text) <= BYTES:
        text = _JSON5.sub(_as_yaml, text)
    problems: list[Problem] = []
    try:
        node = parse(text.removeprefix("\ufeff"), source, problems)
    except BadConfig as error:
        raise BadConfig([_in_words_of(one, json=json) for one in error.problems], source) from None
    if problems:
        raise BadConfig(problems, source)
    return None if node is None else _plain(node)


def _in_words_of(problem: Problem, *, json: bool) -> Problem:
    """JSON is read as YAML, which nobody who wrote JSON has to know."""
    return replace(problem, what=problem.what.replace("This is not YAML", "This is not JSON")) if json else problem


def _as_yaml(found: re.Match[str]) -> str:
    """JSON5 as flow YAML: no comments, and keys in quotes."""
    if found["comment"]:
        return " " + "\n" * found["comment"].count("\n")
    return found["text"] or f'"{found["key"]}"'


def _plain(node: Node) -> Foreign:
    if isinstance(node, Text):
        return plain_value(node.text) if node.plain else node.text
    if isinstance(node, Items):
        return [_plain(part) for part in node.items]
    return {key: _plain(part) for key, (_, part) in node.entries.items()}


def as_yaml(config: Mapping[str, Foreign], head: Sequence[str]) -> str:
    """A configuration as the text of a toolcrib.yaml, with lines of comment before it."""
    said = {key: value for key, value in config.items() if value not in ({}, [], None)}
    body = _dumped(_escaped(said)) if said else ""
    plain = ("".join(sign if sign.isprintable() else " " for sign in line) for line in head)
    comments = "".join(f"# {' '.join(line.split())}\n" for line in plain)
    return f"{comments}\n{body}"


def _dumped(said: Foreign) -> str:
    """YAML for people to read on. PyYAML writes some line breaks of Unicode so that they come back as spaces."""
    dump = heavy("yaml").safe_dump
    body = str(dump(said, sort_keys=False, allow_unicode=True, width=110))
    return str(dump(said, sort_keys=False, width=110)) if any(sign in body for sign in "\x85\u2028\u2029") else body


def _escaped(value: Foreign) -> Foreign:
    """Values in which ${ is what it says, and no variable of ours."""
    if isinstance(value, dict):
        return {key: _escaped(part) for key, part in mapping_of(value).items()}
    if isinstance(value, list):
        return [_escaped(part) for part in list_of(value)]
    return value.replace("${", "$${") if isinstance(value, str) else value
