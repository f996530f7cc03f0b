"""The arguments of a tool whose schema comes from elsewhere.

The schema is shown as it came. Plain ones are checked by a function of ours, all others by the JSON schema library,
which also finds the words. References to other documents are never fetched, and patterns run in linear time; what can
only be known with either of them is left to the server, which checks by itself.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, cast

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import BadArguments
from toolcrib.core.heavy import heavy
from toolcrib.core.schema import PROBLEMS_SHOWN
from toolcrib.services.mcp.plain import Fits, compiled

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_LONGEST = 200  # characters of one complaint


class ForeignArguments:
    """What a tool takes, by a schema that is not ours."""

    def __init__(self, name: str, schema: JsonObject) -> None:
        self.name = name
        self._given = schema

    @property
    def schema(self) -> JsonObject:
        """The schema as it came."""
        return self._given

    @property
    def decode(self) -> Callable[[bytes], dict[str, Any]]:
        """JSON bytes to checked values."""
        return self._made

    @cached_property
    def _made(self) -> Callable[[bytes], dict[str, Any]]:
        fits = compiled(self._given) or self._slow

        def decode(raw: bytes) -> dict[str, Any]:
            arguments = _decode(raw)
            if fits(arguments):
                return arguments
            raise self._refused(self._complaints(arguments))

        return decode

    def told(self, error: ValueError) -> BadArguments:
        """The words for arguments that are no JSON object."""
        return self._refused([{"path": "the arguments", "expected": str(error)}])

    def _refused(self, problems: list[dict[str, str]]) -> BadArguments:
        shown = problems[:PROBLEMS_SHOWN]
        listed = "; ".join(f"{one['path']}: {one['expected']}" for one in shown)
        more = "; and more" if len(problems) > len(shown) else ""
        return BadArguments(
            f"{self.name} was not called: {listed}{more}.",
            hint="Change this and call it again.",
            data={"problems": shown},
        )

    @property
    def _slow(self) -> Fits:
        checker = self._checker
        unknown = heavy("referencing.exceptions").Unresolvable

        def fits(arguments: Any) -> bool:  # noqa: ANN401
            try:
                return bool(checker.is_valid(arguments))
            except unknown:
                return True

        return fits

    @cached_property
    def _checker(self) -> Any:  # noqa: ANN401 - the library's, which has no types
        return checker_of(self._given)

    def _complaints(self, arguments: JsonObject) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        for error in self._checker.iter_errors(arguments):
            path = ".".join(map(str, error.absolute_path)) or "the arguments"
            found.append({"path": path, "expected": str(error.message)[:_LONGEST]})
            if len(found) > PROBLEMS_SHOWN:
                break
        return found or [{"path": "the arguments", "expected": "this does not fit the schema"}]


def checker_of(schema: JsonObject) -> Any:  # noqa: ANN401
    """The library's checker for a schema, without a way to fetch anything and without slow patterns."""
    library = heavy("jsonschema.validators")
    kind = library.validator_for(schema, default=library.Draft202012Validator)
    quick = library.extend(kind, {"pattern": _pattern, "patternProperties": _pattern_properties})
    return quick(schema, registry=heavy("referencing").Registry())


def fault_of_schema(schema: object) -> str:
    """What is wrong with a tool's schema; "" for a good one."""
    if not isinstance(schema, dict):
        return "its schema is not an object"
    if cast("JsonObject", schema).get("type") != "object":
        return 'its schema does not say "type": "object"'
    if compiled(cast("JsonObject", schema)) is not None:
        return ""
    library = heavy("jsonschema.validators")
    try:
        library.validator_for(schema, default=library.Draft202012Validator).check_schema(schema)
    except heavy("jsonschema.exceptions").SchemaError as error:
        return f"its schema is not a JSON schema: {str(error.message)[:_LONGEST]}"
    except (RecursionError, TypeError, ValueError) as error:
        return f"its schema cannot be read: {type(error).__name__}"
    return ""


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
