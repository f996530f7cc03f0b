"""The JSON schema library, held to a time: schemas of servers and arguments of clients may be made to take for ever.

References to other documents are never fetched, patterns run in linear time, and so does the search for doubles.
"""

import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, cast

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.heavy import heavy

_encode = msgspec.json.encode


class TooLongError(Exception):
    """It takes longer than anybody can wait."""


class Checker:
    """The library's checker for what a schema describes; or, `itself`, for the schema, by the draft that it names."""

    def __init__(self, schema: JsonObject, seconds: float, *, itself: bool = False) -> None:
        library = heavy("jsonschema.validators")
        kind = library.validator_for(schema, default=library.Draft202012Validator)
        held = self._held(kind)
        self._checker = held(kind.META_SCHEMA) if itself else held(schema, registry=heavy("referencing").Registry())
        self._seconds = seconds
        self._until = inf

    def fits(self, value: Any) -> bool:  # noqa: ANN401 - any JSON
        """Whether a value fits, as far as can be known here."""
        try:
            return next(self.errors(value), None) is None
        except (heavy("referencing.exceptions").Unresolvable, RecursionError, TooLongError):
            return True

    def errors(self, value: Any) -> Iterator[Any]:  # noqa: ANN401
        """What is wrong with a value, in the library's words. Raises TooLongError, or RecursionError."""
        self._until = time.monotonic() + self._seconds
        yield from self._checker.iter_errors(value)

    def _held(self, kind: Any) -> Any:  # noqa: ANN401 - the library's, which has no types
        """A draft whose every word looks at the clock."""
        own = {"pattern": _pattern, "patternProperties": _pattern_properties, "uniqueItems": _unique}
        held = {word: self._timed(work) for word, work in {**kind.VALIDATORS, **own}.items()}
        made = heavy("jsonschema.validators").extend(kind, held)
        made.evolve = heavy("attrs").evolve  # its own takes another draft, without our words, where a part names one
        return made

    def _timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:  # noqa: ANN401
            if time.monotonic() > self._until:
                raise TooLongError
            return work(*given)

        return timed


def _found(pattern: str, text: str) -> bool | None:
    """Whether a pattern is somewhere in a text; None for a pattern that cannot be run in linear time."""
    re2 = heavy("re2")
    try:
        return re2.search(pattern, text) is not None
    except re2.error:
        return None


def _pattern(_checker: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(instance, str) and _found(pattern, instance) is False:
        yield heavy("jsonschema.exceptions").ValidationError(f"does not fit the pattern {pattern!r}")


def _pattern_properties(checker: Any, patterns: Any, instance: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    if not isinstance(instance, dict):
        return
    for pattern, part in patterns.items():
        for key, value in cast("JsonObject", instance).items():
            if _found(pattern, key):
                yield from checker.descend(value, part, path=key, schema_path=pattern)


def _unique(_checker: Any, unique: Any, instance: Any, _schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """The library compares each with each. Doubles that are only written differently are left to the server."""
    if unique and isinstance(instance, list):
        parts = cast("list[Any]", instance)
        if len({_encode(_plain(one), order="sorted") for one in parts}) < len(parts):
            yield heavy("jsonschema.exceptions").ValidationError("has elements that are there twice")


def _plain(value: Any) -> Any:  # noqa: ANN401
    return int(value) if isinstance(value, float) and value.is_integer() else value
