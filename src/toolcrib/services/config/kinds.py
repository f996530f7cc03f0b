"""The kinds of value that a configuration can hold: how each is read off the tree, and what it is called in words.

A kind never stops at the first fault. It notes the problem with its place and line and reads on, so that one look at
the answer shows everything that is wrong.
"""

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from toolcrib.core.errors import Problem
from toolcrib.core.registry import near
from toolcrib.services.config.document import Entries, Items, Node, Text, plain_value
from toolcrib.services.config.nodes import Kind, Reading, Value, at, said, scalar, text_of

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Word(Struct, frozen=True):
    """A text; with choices, one of them."""

    choices: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return " or ".join(f"`{choice}`" for choice in self.choices) or "text"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = text_of(node, where, into)
        if value is None:
            wanted = " or ".join(self.choices) or "text"
            mend = "Put it in quotes." if isinstance(node, Text) else ""
            into.refuse(where, f"This must be {wanted}, and it is {said(node)}.", node.line, mend)
            return None
        if self.choices and value not in self.choices:
            close = near(value, self.choices, 1)
            mend = f"Did you mean {close[0]}?" if close else ""
            into.refuse(where, f"This must be {' or '.join(self.choices)}, and it is {value!r}.", node.line, mend)
            return None
        return value


class Whole(Struct, frozen=True):
    """A whole number within bounds."""

    least: int = 0
    most: int = 1_000_000_000

    @property
    def words(self) -> str:
        return f"whole number from {self.least}"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = scalar(node, where, into)
        if not isinstance(value, int) or isinstance(value, bool):
            into.refuse(where, f"This must be a whole number, and it is {said(node)}.", node.line)
        elif not self.least <= value <= self.most:
            into.refuse(where, f"This must be from {self.least} to {self.most:,}, and it is {value:,}.", node.line)
        else:
            return value
        return None


class Seconds(Struct, frozen=True):
    """A length of time."""

    words: str = "seconds"
    most: float = 86_400

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = scalar(node, where, into)
        if isinstance(value, bool) or not isinstance(value, int | float):
            into.refuse(where, f"This must be a number of seconds, and it is {said(node)}.", node.line)
            return None
        if not 0 < value <= self.most:
            into.refuse(where, f"This must be more than 0 and at most {self.most:,.0f} seconds.", node.line)
            return None
        return float(value)


class Number(Struct, frozen=True):
    """A number within bounds, whole or not."""

    least: float
    most: float

    @property
    def words(self) -> str:
        return f"number from {self.least:g} to {self.most:,g}"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = scalar(node, where, into)
        if isinstance(value, bool) or not isinstance(value, int | float):
            into.refuse(where, f"This must be a number, and it is {said(node)}.", node.line)
            return None
        if not self.least <= value <= self.most:
            into.refuse(where, f"This must be from {self.least:g} to {self.most:,g}, and it is {value:g}.", node.line)
            return None
        return float(value)


class Flag(Struct, frozen=True):
    """True or false."""

    words: str = "true or false"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = scalar(node, where, into)
        if isinstance(value, bool):
            return value
        into.refuse(where, f"This must be true or false, and it is {said(node)}.", node.line)
        return None


class Free(Struct, frozen=True):
    """Whatever stands there, as plain values: the settings that belong to a tool."""

    words: str = "anything"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        if isinstance(node, Entries):
            return {key: self.read(part, at(where, key), into) for key, (_, part) in node.entries.items()}
        if isinstance(node, Items):
            return [self.read(part, at(where, i), into) for i, part in enumerate(node.items)]
        return scalar(node, where, into)


class Many(Struct, frozen=True):
    """A list of one kind."""

    kind: Kind = Word()
    of: str = "names"

    @property
    def words(self) -> str:
        return f"list of {self.of}"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        if not isinstance(node, Items):
            mend = f"Write [{node.text}]." if isinstance(node, Text) and node.text else "Write [one, two]."
            into.refuse(where, f"This must be a list of {self.of}, and it is {said(node)}.", node.line, mend)
            return None
        found: list[Value] = []
        for i, part in enumerate(node.items):
            place = at(where, i)
            into.lines[place] = part.line
            found.append(self.kind.read(part, place, into))
        return tuple(found)


class Name(Struct, frozen=True):
    """An entry of a list of names: text that is not empty."""

    words: str = "name"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = text_of(node, where, into)
        if value and value.strip():
            return value.strip()
        what = said(node) if value is None else "an empty text"
        into.refuse(where, f"This must be a name, and it is {what}.", node.line)
        return None


class ToolEntry(Struct, frozen=True):
    """A tool in a list: its name, or its name with settings of its own."""

    words: str = "name or {name: {settings}}"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        if not isinstance(node, Entries):
            name = Name().read(node, where, into)
            return None if name is None else (name, {})
        if len(node.entries) != 1:
            what = f"This must be one name with its settings, and it has {len(node.entries)} keys."
            into.refuse(where, what, node.line, "Write each tool as an entry of its own.")
            return None
        ((name, (line, settings)),) = node.entries.items()
        if isinstance(settings, Text) and scalar(settings, where, into) is None:
            return name, {}
        if not isinstance(settings, Entries):
            into.refuse(where, f"The settings of {name} must be a mapping, and they are {said(settings)}.", line)
            return None
        return name, Free().read(settings, at(where, name), into)


class Each(Struct, frozen=True):
    """A mapping from names, which people choose, to one kind."""

    kind: Kind
    of: str = "name"
    strict: bool = True  # the names are ours; otherwise they come from elsewhere and may be any text

    @property
    def words(self) -> str:
        return f"{{{self.of}: {self.kind.words}}}"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        if not isinstance(node, Entries):
            what = f"This must be a mapping by {self.of}, and it is {said(node)}."
            into.refuse(where, what, node.line)
            return None
        found: dict[str, Value] = {}
        for name, (line, part) in node.entries.items():
            place = at(where, name)
            into.lines[place] = line
            if not name.strip() or (self.strict and not NAME.fullmatch(name)):
                what = f"{name!r} is no {self.of} name."
                into.refuse(
                    place, what, line, "Use 1 to 64 letters, digits, '_', '-' and '.', a letter or digit first."
                )
            found[name] = self.kind.read(part, place, into)
        return found


class Field(Struct, frozen=True):
    """One key of a table: its kind, its default in words, and what it is for."""

    key: str
    kind: Kind
    words: str
    default: str = ""


class Reserved(Struct, frozen=True):
    """A key that is known and not used: it is said, never passed over in silence."""

    why: str = "is not used by this version"
    words: str = "kept for later"

    def read(self, node: Node, where: str, into: Reading) -> Value:
        into.notes.append(Problem(where, f"This key {self.why}.", "", into.lines.get(where, node.line)))
        return None


class Table(Struct, frozen=True):
    """A mapping with fixed keys. `short` is the key that a bare list stands for, `word` the one for a bare word."""

    fields: tuple[Field, ...]
    short: str = ""
    word: str = ""
    bare: bool = False  # nothing at all is as good as an empty mapping

    @property
    def words(self) -> str:
        other = f", or its {self.short} as a list" if self.short else f", or its {self.word}" if self.word else ""
        return f"mapping{other}"

    @property
    def used(self) -> tuple[str, ...]:
        """The keys that do something."""
        return tuple(entry.key for entry in self.fields if not isinstance(entry.kind, Reserved))

    def read(self, node: Node, where: str, into: Reading) -> Value:
        key = self.short if isinstance(node, Items) else self.word if isinstance(node, Text) else ""
        if key:
            node = Entries(node.line, {key: (node.line, node)})
        if isinstance(node, Text) and self.bare and node.plain and plain_value(node.text) is None:
            node = Entries(node.line)
        if not isinstance(node, Entries):
            into.refuse(where, f"This must be a {self.words}, and it is {said(node)}.", node.line)
            return None
        known = {entry.key: entry for entry in self.fields}
        found: dict[str, Value] = {}
        for key, (line, part) in node.entries.items():
            place = at(where, key)
            into.lines[place] = line
            if key not in known:
                close = near(key, known)
                mend = f"Did you mean {' or '.join(close)}?" if close else f"Known here: {', '.join(self.used)}."
                into.refuse(place, f"{key!r} is no key that Toolcrib knows here.", line, mend)
            elif not (isinstance(part, Text) and part.plain and plain_value(part.text) is None):
                value = known[key].kind.read(part, place, into)
                if value is not None:
                    found[key] = value
        return found


class Either(Struct, frozen=True):
    """One kind for a list, another for anything else."""

    items: Kind
    other: Kind

    @property
    def words(self) -> str:
        return self.other.words

    def read(self, node: Node, where: str, into: Reading) -> Value:
        return (self.items if isinstance(node, Items) else self.other).read(node, where, into)


class Checked(Struct, frozen=True):
    """A kind with a rule of its own. The rule says what is wrong, or nothing."""

    kind: Kind
    rule: Callable[[Value], str]

    @property
    def words(self) -> str:
        return self.kind.words

    def read(self, node: Node, where: str, into: Reading) -> Value:
        value = self.kind.read(node, where, into)
        if value is not None and (what := self.rule(value)):
            into.refuse(where, what, node.line)
        return value


def described(fields: tuple[Field, ...], where: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Every key with its place, kind, default and words: the reference is made of this."""
    for entry in fields:
        if isinstance(entry.kind, Reserved):
            continue
        place = at(where, entry.key)
        yield place, entry.kind.words, entry.default, entry.words
        yield from _within(entry.kind, place)


def _within(kind: Kind, place: str) -> Iterator[tuple[str, str, str, str]]:
    if isinstance(kind, Checked):
        yield from _within(kind.kind, place)
    elif isinstance(kind, Each):
        yield from _within(kind.kind, f"{place}.<{kind.of}>")
    elif isinstance(kind, Many):
        yield from _within(kind.kind, f"{place}[]")
    elif isinstance(kind, Table):
        yield from described(kind.fields, place)
