"""One ranking of tools by words: BM25 over weighted fields, in memory, built once for each set of tools.

Whatever else knows how well a tool fits (vectors, use) is added by `fused`, which sums scores on one scale.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from math import log
from typing import Any, cast

from msgspec import Struct

from toolcrib.core.tool import Tool
from toolcrib.services.finding.stems import every_stem, stem, stems

SATURATION = 1.2  # how soon a repeated word stops counting: BM25's k1
# For each field: what a word in it counts, and how far a long field is held against it (BM25's b).
FIELDS = {
    "name": (2.0, 0.5),
    "aliases": (2.0, 0.5),
    "domain": (0.5, 0.0),
    "about": (1.0, 0.75),
    "arguments": (0.7, 0.75),
}
EXACT = 1e6  # above all that words can add up to
DEEP = 3  # how far down a schema its words are read
WORDS_READ = 20_000  # characters of an argument list; more of them would only slow the rest
NEARLY = 0.2  # what a word counts that says nearly the same as one that was asked for
# What tools do, in the words that people and tools use for it by turns.
_VERBS = (
    "find search look locate", "show list display view", "get fetch retrieve", "delete remove erase",
    "create make add", "change edit update modify", "run execute", "compute calculate determine",
    "check verify validate", "convert translate", "save store keep", "folder directory",
)  # fmt: skip
_KIN = {stem(word): [stem(one) for one in verbs.split() if one != word] for verbs in _VERBS for word in verbs.split()}


class Document(Struct, frozen=True, kw_only=True):
    """What is known of one tool by words."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    domain: str = ""
    about: str = ""
    arguments: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields in the order of FIELDS."""
        return self.name, " ".join(self.aliases), self.domain, self.about, self.arguments


class Hit(Struct, frozen=True):
    """One document that fits, and how well."""

    id: str
    score: float


class Ranking:
    """Documents ready to be searched. Building reads every word once; a query touches only the words that it has."""

    def __init__(self, documents: Iterable[Document]) -> None:
        made = tuple(documents)
        self.ids = tuple(one.id for one in made)
        self._exact: dict[str, list[int]] = defaultdict(list)
        for i, one in enumerate(made):
            for name in (one.name, *one.aliases):
                self._exact[_flat(name)].append(i)
        self._postings = _postings(made)

    def __len__(self) -> int:
        return len(self.ids)

    def scores(self, query: str) -> dict[str, float]:
        """The score of every document that shares a word with the query. An exact name is above all else."""
        found: defaultdict[int, float] = defaultdict(float)
        for word, weight in _wanted(query).items():
            for i, gain in self._postings.get(word, ()):
                found[i] += weight * gain
        for i, bonus in self._named(query).items():
            found[i] += bonus
        return {self.ids[i]: score for i, score in found.items()}

    def search(self, query: str, limit: int = 10, among: Iterable[str] | None = None) -> list[Hit]:
        """The best documents, best first, equal ones by id. `among` bounds the search to some ids."""
        scores = self.scores(query)
        if among is not None:
            scores = {name: scores[name] for name in among if name in scores}
        return best(scores, limit)

    def _named(self, query: str) -> dict[int, float]:
        """The documents whose name or alias is the query, or stands in it as it is written."""
        written = (part.strip(".,;:!?'\"`()") for part in query.split() if "_" in part)
        named = {i: EXACT / 2 for part in written for i in self._exact.get(_flat(part), ())}
        return named | dict.fromkeys(self._exact.get(_flat(query), ()), EXACT)


def best(scores: Mapping[str, float], limit: int) -> list[Hit]:
    """The highest scores, highest first, equal ones by id."""
    top = nsmallest(limit, scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(name, score) for name, score in top]


def fused(parts: Sequence[tuple[float, Mapping[str, float]]]) -> dict[str, float]:
    """Scores of several rankings in one: each brought to the span from 0 to 1, weighted and added.

    An exact name stays on top: its bonus is kept out of the span and added whole.
    """
    total: defaultdict[str, float] = defaultdict(float)
    for weight, scores in parts:
        plain = {name: score % EXACT if score >= EXACT / 2 else score for name, score in scores.items()}
        low, high = min(plain.values(), default=0.0), max(plain.values(), default=0.0)
        for name, score in plain.items():
            total[name] += weight * ((score - low) / (high - low) if high > low else 1.0)
            total[name] += scores[name] - score
    return dict(total)


def document(tool: Tool) -> Document:
    """The words of a tool."""
    return Document(
        id=tool.name,
        name=tool.name,
        aliases=tool.aliases,
        domain=f"{tool.domain} {tool.origin}".strip(),
        about=tool.about,
        arguments=" ".join(_spoken(tool.schema))[:WORDS_READ],
    )


def _wanted(query: str) -> dict[str, float]:
    """The stems that a query asks for, and those that say nearly the same, which count less."""
    asked = dict.fromkeys(stems(query), 1.0)
    return {kin: NEARLY for word in asked for kin in _KIN.get(word, ())} | asked


def _postings(documents: Sequence[Document]) -> dict[str, list[tuple[int, float]]]:
    """For each stem the documents that have it, with what it adds to their score."""
    counted = [[Counter(every_stem(text)) for text in one.texts] for one in documents]
    usual = [
        sum(c.total() for c in column) / max(1, sum(1 for c in column if c)) for column in zip(*counted, strict=True)
    ]
    weights: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for i, fields in enumerate(counted):
        found: defaultdict[str, float] = defaultdict(float)
        for count, length, (weight, even) in zip(fields, usual, FIELDS.values(), strict=True):
            scale = weight / (1 - even + even * count.total() / length) if count else 0.0
            for word, times in count.items():
                found[word] += scale * times
        for word, weight in found.items():
            weights[word].append((i, weight))
    return {word: _gains(places, len(documents)) for word, places in weights.items()}


def _gains(places: list[tuple[int, float]], total: int) -> list[tuple[int, float]]:
    """Rare words count more, and a word said often counts less each time."""
    rarity = log(1 + (total - len(places) + 0.5) / (len(places) + 0.5)) * (SATURATION + 1)
    return [(i, rarity * weight / (SATURATION + weight)) for i, weight in places]


def _flat(name: str) -> str:
    """A name without the signs between its words: "Read file" and read_file are one."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def _spoken(schema: object, depth: int = 0) -> Iterable[str]:
    """The names and words of a schema's arguments. Schemas also come from strangers, so any of it may be missing."""
    if not isinstance(schema, dict) or depth > DEEP:
        return ()
    node = cast("dict[str, Any]", schema)
    choices = cast("list[object]", node["enum"]) if isinstance(node.get("enum"), list) else []
    words = (str(node.get("description", "")), *map(str, choices)) if depth else ()
    named = _inside(node, "properties")
    parts = (*named.values(), *_inside(node, "$defs").values(), node.get("items"))
    return chain(words, named, *(_spoken(part, depth + 1) for part in parts))


def _inside(node: dict[str, Any], key: str) -> dict[str, Any]:
    found = node.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
