"""From a signature to a JSON schema, and from a model's JSON to checked Python values.

A bare string in `Annotated[...]` is the argument's description. The checker is built at the first call: a hundred
and fifty of them at import time would slow every start.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast, get_args, get_origin

import msgspec

from toolcrib.core.call import JsonObject, Raw
from toolcrib.core.errors import BadArguments, BadTool
from toolcrib.core.heavy import heavy

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

PROBLEMS_SHOWN = 8
REQUIRED = object()  # the default of an argument that has none
BYTES_OF_ARGUMENTS = 8 * 1024 * 1024
_encode = msgspec.json.encode


class Arguments(Protocol):
    """What a tool takes: the schema that is shown, and the check that is made. They say the same."""

    @property
    def schema(self) -> JsonObject: ...

    @property
    def decode(self) -> Callable[[bytes], dict[str, Any]]:
        """JSON bytes to checked values. It raises BadArguments, or a ValueError that `told` puts into words."""
        ...

    def told(self, error: ValueError) -> BadArguments: ...


class Signature:
    """The keyword-only half of a tool's function."""

    def __init__(self, name: str, fields: Mapping[str, tuple[object, object]]) -> None:
        self._name = name
        self._fields = fields

    @cached_property
    def _adapter(self) -> "TypeAdapter[dict[str, Any]]":
        pydantic = heavy("pydantic")
        typed = heavy("typing_extensions")
        fields: dict[str, object] = {}
        for key, (hint, default) in self._fields.items():
            words = description(hint)
            told = Annotated[hint, pydantic.Field(description=words)] if words else hint
            fields[key] = told if default is REQUIRED else typed.NotRequired[told]
        shape = typed.TypedDict("Arguments", fields)
        shape.__pydantic_config__ = {"extra": "forbid", "strict": True, "allow_inf_nan": False}
        try:
            return pydantic.TypeAdapter(shape)
        except pydantic.errors.PydanticUserError as error:
            raise BadTool(f"{self._name}: an argument has a type that has no schema. {error.message}") from error

    @property
    def schema(self) -> JsonObject:
        """JSON schema as every provider and MCP take it."""
        return self._schema

    @cached_property
    def _schema(self) -> JsonObject:
        schema = cast("JsonObject", _untitled(self._adapter.json_schema()))
        schema.setdefault("properties", {})
        properties = cast("dict[str, JsonObject]", schema["properties"])
        for key, (_, default) in self._fields.items():
            if default is not REQUIRED and default is not None and "default" not in properties[key]:
                properties[key]["default"] = msgspec.to_builtins(default)
        return schema

    @property
    def decode(self) -> Callable[[bytes], dict[str, Any]]:
        """Pydantic's compiled checker itself: nothing of ours stands between it and the hot path."""
        # A model brings a configuration of its own, so that every value is strict has to be said at the call.
        return partial(self._adapter.validator.validate_json, strict=True)

    def told(self, error: ValueError) -> BadArguments:
        """The checker's complaints in words: at most eight, each with its path and what was expected."""
        found = cast("ValidationError", error).errors(include_url=False, include_context=False, include_input=False)
        problems = [{"path": ".".join(map(str, e["loc"])) or "the arguments", "expected": e["msg"]} for e in found]
        shown = problems[:PROBLEMS_SHOWN]
        listed = "; ".join(f"{p['path']}: {p['expected']}" for p in shown)
        more = f"; and {len(problems) - len(shown)} more" if len(problems) > len(shown) else ""
        what = f"{self._name} was not called: {listed}{more}."
        return BadArguments(what, hint="Change this and call it again.", data={"problems": shown})


def as_bytes(name: str, raw: Raw) -> bytes:
    """Arguments as the JSON bytes that are checked and recorded."""
    try:
        data = raw if isinstance(raw, bytes) else raw.encode() if isinstance(raw, str) else _encode(raw)
    except (TypeError, UnicodeEncodeError, RecursionError) as error:
        raise BadArguments(f"{name} was not called: its arguments are not JSON ({error}).") from None
    if len(data) > BYTES_OF_ARGUMENTS:
        what = f"{name} was not called: its arguments are longer than {BYTES_OF_ARGUMENTS:,} bytes."
        raise BadArguments(what, hint="Send less, or put the content in a file and name the file.")
    return data or b"{}"


def check(arguments: Arguments, name: str, raw: Raw) -> dict[str, Any]:
    """Checked values, or BadArguments: the whole of it, for whoever is not in a hurry."""
    try:
        return arguments.decode(as_bytes(name, raw))
    except ValueError as error:
        raise arguments.told(error) from None


def description(hint: object) -> str | None:
    """The words of an argument: the first bare string of its `Annotated`."""
    if get_origin(hint) is not Annotated:
        return None
    return next((extra for extra in get_args(hint)[1:] if isinstance(extra, str)), None)


def _untitled(value: object) -> object:
    """Schemas without the titles that repeat each name: they cost prompt tokens and say nothing."""
    if isinstance(value, dict):
        entries = cast("dict[str, object]", value)
        return {
            key: {name: _untitled(part) for name, part in cast("dict[str, object]", entry).items()}
            if key in {"properties", "$defs"} and isinstance(entry, dict)
            else _untitled(entry)
            for key, entry in entries.items()
            if not (key == "title" and isinstance(entry, str))
        }
    if isinstance(value, list):
        return [_untitled(part) for part in cast("list[object]", value)]
    return value
