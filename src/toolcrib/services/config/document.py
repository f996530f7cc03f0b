"""YAML as a tree that knows its lines, within bounds.

Plain words mean what they mean in YAML 1.2: `yes`, `on` and dates are text. What a document could do to its reader
(tags that make objects, anchors that multiply, endless nesting) is refused with the line.
"""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from toolcrib.core.errors import BadConfig, Problem
from toolcrib.core.heavy import heavy

BYTES, VALUES, DEPTH = 5 * 1024 * 1024, 500_000, 64
_TAGS = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{0,18}([eE][-+][0-9]{1,2})?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class Text(Struct):
    """A word, a number or a quoted text, as it was written."""

    text: str
    line: int
    plain: bool = False  # written without quotes, so it may be a number
    size: int = 1


class Items(Struct):
    """A list."""

    line: int
    items: "list[Node]" = []
    size: int = 1


class Entries(Struct):
    """A mapping. A key is a Text; where it stands is part of what is reported."""

    line: int
    entries: "dict[str, tuple[int, Node]]" = {}
    size: int = 1


Node = Text | Items | Entries


def plain_value(text: str) -> object:
    """What a word without quotes means: nothing, true, false, a number or text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def parse(text: str, source: str, problems: list[Problem]) -> Node | None:
    """The tree of one document; None for an empty one. It adds to `problems` what can be read over.

    Raises BadConfig where reading on makes no sense.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise BadConfig(
            [_problem("It holds a character that is no text.", _line_at(text, error.start))], source
        ) from None
    if size > BYTES:
        raise BadConfig([_problem(f"It is {size:,} bytes, and {BYTES:,} is the most.", 0)], source)
    yaml = heavy("yaml")
    growth = _Growth(problems)
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            growth.take(type(event).__name__, event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadConfig([*problems, _broken(text, str(error.problem or error.context), mark)], source) from None
    except yaml.reader.ReaderError as error:
        line = _line_at(text, error.position if isinstance(error.position, int) else 0)
        broken = _problem("It holds a character that YAML does not allow.", line, "Take it out.")
        raise BadConfig([*problems, broken], source) from None
    except _TooMuch as error:
        raise BadConfig([*problems, error.problem], source) from None
    return growth.root


def _broken(text: str, what: str, mark: Any) -> Problem:  # noqa: ANN401 - PyYAML's marks have no type of their own
    """A fault of the notation, with the advice for the commonest."""
    line = min(mark.line, text.count("\n")) + 1 if mark else 0  # a fault at the end is put behind the last line
    tabbed = "\t" in "".join(text.splitlines()[line - 1 : line])
    mend = "Use spaces, not tabs." if tabbed else "Check indentation, quotes and brackets."
    return _problem(f"This is not YAML: {what}.", line, mend)


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _problem(what: str, line: int, mend: str = "") -> Problem:
    return Problem("", what, mend, line)


class _TooMuch(Exception):
    """The document is beyond a bound; reading on would be the harm."""

    def __init__(self, what: str, line: int) -> None:
        self.problem = _problem(what, line)
        super().__init__(what)


class _Open(Struct):
    """A list or mapping that is not closed yet."""

    node: "Items | Entries"
    anchor: str | None
    key: Text | None = None
    skip: bool = False  # the key was refused; its value is read over
    merges: "list[Entries]" = []


class _Growth:
    """The tree while it grows, one event of the YAML parser after the other. Depth costs no stack."""

    def __init__(self, problems: list[Problem]) -> None:
        self.root: Node | None = None
        self.problems = problems
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}
        self._values = 0
        self._documents = 0

    def take(self, kind: str, event: Any) -> None:  # noqa: ANN401 - PyYAML's events have no common type
        line: int = event.start_mark.line + 1
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise _TooMuch("A second document begins here, and one is read.", line)
        elif kind == "AliasEvent":
            self._alias(str(event.anchor), line)
        elif kind == "ScalarEvent":
            self._tagged(event, ("str", "int", "float", "bool", "null"), line)
            plain = event.style in {None, ""} and event.tag != f"{_TAGS}str"
            self._put(Text(str(event.value), line, plain), event.anchor)
        elif kind in {"SequenceStartEvent", "MappingStartEvent"}:
            self._tagged(event, ("seq", "map"), line)
            self._begin(Items(line) if kind.startswith("S") else Entries(line), event.anchor)
        elif kind in {"SequenceEndEvent", "MappingEndEvent"}:
            self._end()

    def _tagged(self, event: Any, known: tuple[str, ...], line: int) -> None:  # noqa: ANN401 - as above
        tag = event.tag
        if tag not in {None, "!"} and str(tag).removeprefix(_TAGS) not in known:
            self.problems.append(_problem(f"The tag {tag} is not read here.", line, "Write plain values."))

    def _begin(self, node: "Items | Entries", anchor: str | None) -> None:
        if len(self._open) >= DEPTH:
            raise _TooMuch(f"It is nested deeper than {DEPTH} levels.", node.line)
        self._open.append(_Open(node, anchor, merges=[]))

    def _end(self) -> None:
        done = self._open.pop()
        if isinstance(done.node, Entries):
            for other in done.merges:
                for key, entry in other.entries.items():
                    done.node.entries.setdefault(key, entry)
        self._put(done.node, done.anchor)

    def _alias(self, anchor: str, line: int) -> None:
        node = self._anchors.get(anchor)
        if node is None:
            self.problems.append(_problem(f"Nothing before this line is called &{anchor}.", line))
            node = Text("", line, plain=True)
        self._put(node, None, node.size)  # an alias costs what it stands for

    def _put(self, node: Node, anchor: str | None, cost: int = 1) -> None:
        """Give a finished node to what it stands in."""
        self._values += cost
        if self._values > VALUES:
            raise _TooMuch(f"It holds more than {VALUES:,} values, aliases written out.", node.line)
        if anchor:
            self._anchors[anchor] = node
        if not self._open:
            self.root = node
            return
        place = self._open[-1]
        place.node.size += node.size
        if isinstance(place.node, Items):
            place.node.items.append(node)
        else:
            self._entry(place, place.node, node)

    def _entry(self, place: _Open, into: Entries, node: Node) -> None:
        """Keys and values come by turns."""
        if place.key is None:
            place.key, place.skip = self._key(into, node)
            return
        key, place.key = place.key, None
        if place.skip:
            return
        if key.plain and key.text == "<<":
            place.merges.extend(self._merged(node, key.line))
        else:
            into.entries[key.text] = (key.line, node)

    def _key(self, into: Entries, node: Node) -> tuple[Text, bool]:
        if not isinstance(node, Text):
            self.problems.append(_problem("A key is a word here, not a list or a mapping.", node.line))
            return Text("", node.line), True
        if node.text in into.entries:
            first = into.entries[node.text][0]
            what = f"The key {node.text!r} is written twice: here and in line {first}."
            self.problems.append(_problem(what, node.line, "Keep one of them."))
            return node, True
        return node, False

    def _merged(self, node: Node, line: int) -> Iterator[Entries]:
        for part in node.items if isinstance(node, Items) else [node]:
            if isinstance(part, Entries):
                yield part
            else:
                self.problems.append(_problem("`<<` takes a mapping, or a list of mappings.", line))
