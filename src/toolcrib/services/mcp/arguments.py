"""The arguments of a tool whose schema comes from elsewhere.

The schema is shown as it came. Plain ones are checked by a function of ours, all others by the JSON schema library,
which also finds the words. What it cannot know without other documents, without slow patterns or in a moment is left to
the server, which checks by itself.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, cast

import msgspec

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import BadArguments
from toolcrib.core.schema import PROBLEMS_SHOWN
from toolcrib.services.mcp.checking import Checker, TooLongError
from toolcrib.services.mcp.plain import Fits, compiled

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_LONGEST = 200  # characters of one complaint
_SECONDS = 0.05  # for arguments: the event loop waits
_READ_SECONDS = 2.0  # for a schema: it is read beside the loop


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
        return self._checker.fits

    @cached_property
    def _checker(self) -> Checker:
        return Checker(self._given, _SECONDS)

    def _complaints(self, arguments: JsonObject) -> list[dict[str, str]]:
        found: list[dict[str, str]] = []
        with suppress(RecursionError, TooLongError):
            for error in self._checker.errors(arguments):
                path = ".".join(map(str, error.absolute_path)) or "the arguments"
                found.append({"path": path, "expected": str(error.message)[:_LONGEST]})
                if len(found) > PROBLEMS_SHOWN:
                    break
        return found or [{"path": "the arguments", "expected": "this does not fit the schema"}]


def fault_of_schema(schema: object) -> str:
    """What is wrong with a tool's schema; "" for a good one."""
    if not isinstance(schema, dict):
        return "its schema is not an object"
    if cast("JsonObject", schema).get("type") != "object":
        return 'its schema does not say "type": "object"'
    if compiled(cast("JsonObject", schema)) is not None:
        return ""
    given = cast("JsonObject", schema)
    try:
        wrong = next(Checker(given, _READ_SECONDS, itself=True).errors(given), None)
    except TooLongError:
        return "its schema takes too long to read"
    except (RecursionError, TypeError, ValueError) as error:
        return f"its schema cannot be read: {type(error).__name__}"
    return "" if wrong is None else f"its schema is not a JSON schema: {str(wrong.message)[:_LONGEST]}"
