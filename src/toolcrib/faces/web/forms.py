"""What a person filled in: plain fields, and forms made from a tool's schema."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct
from starlette.datastructures import FormData, ImmutableMultiDict, UploadFile
from starlette.requests import Request

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import ToolFailed

ARGUMENT = "arg."


class Form:
    """The fields of a form: texts without the space around them."""

    def __init__(self, data: FormData | ImmutableMultiDict[str, str]) -> None:
        self._data = data

    def text(self, name: str, default: str = "") -> str:
        """One text."""
        return self.raw(name, default).strip()

    def raw(self, name: str, default: str = "") -> str:
        """One text as it was typed, with one kind of line end."""
        found = self._data.get(name, default)
        return default if isinstance(found, UploadFile) else found.replace("\r\n", "\n")

    def needed(self, name: str, what: str) -> str:
        """A text that has to be there."""
        found = self.text(name)
        if not found:
            raise ToolFailed(f"{what} is missing.", code="missing", hint="Fill it in and try again.")
        return found

    def many(self, name: str) -> tuple[str, ...]:
        """Every value of a name."""
        return tuple(one for one in self._data.getlist(name) if isinstance(one, str) and one)

    def lines(self, name: str) -> tuple[str, ...]:
        """The words of a field, parted by commas or lines."""
        return tuple(one.strip() for one in self.raw(name).replace(",", "\n").split("\n") if one.strip())

    def ticked(self, name: str) -> bool:
        """Whether a box is ticked."""
        return bool(self.text(name))

    def number(self, name: str, what: str) -> int | None:
        """A whole number; None when nothing stands there."""
        found = self.text(name)
        if not found:
            return None
        if not found.isdigit():
            raise ToolFailed(f"{what} is a whole number, and {found[:20]!r} is none.", code="bad_number")
        return int(found)

    def items(self) -> Sequence[tuple[str, str]]:
        """Every field."""
        return [(name, one) for name, one in self._data.multi_items() if isinstance(one, str)]


async def form(request: Request) -> Form:
    """What was sent."""
    return Form(await request.form())


class Field(Struct, frozen=True, kw_only=True):
    """One argument of a tool as a form asks for it."""

    name: str
    kind: str  # text, long, number, integer, switch, choice, list or json
    about: str = ""
    required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """What its label points to."""
        return f"{ARGUMENT}{self.name}"


def fields_of(schema: JsonObject, values: Mapping[str, object] | None = None) -> list[Field]:
    """The form of a schema: those that are needed first. `values` are filled in."""
    given = values or {}
    properties = cast("dict[str, JsonObject]", schema.get("properties", {}))
    needed = cast("list[str]", schema.get("required", []))
    fields = [
        _field(name, _resolved(part, schema), given.get(name), name in needed) for name, part in properties.items()
    ]
    return sorted(fields, key=lambda field: not field.required)


def arguments_of(schema: JsonObject, filled: Form) -> JsonObject:
    """The arguments that a filled form means. What was left empty and is not needed is left out."""
    found: JsonObject = {}
    for field in fields_of(schema):
        raw = filled.raw(field.id)
        if field.kind == "switch":
            found |= _switched(field, raw)
        elif field.required or raw.strip():
            found[field.name] = _value(field, raw)
    return found


def _switched(field: Field, raw: str) -> JsonObject:
    on = bool(raw)
    return {field.name: on} if on or field.required or field.default == "true" else {}


def _resolved(part: JsonObject, schema: JsonObject) -> JsonObject:
    """A part with its reference followed, and the one that matters of several."""
    if (reference := part.get("$ref")) and isinstance(reference, str):
        named = cast("dict[str, JsonObject]", schema.get("$defs", {})).get(reference.rpartition("/")[2], {})
        part = {**named, **{key: value for key, value in part.items() if key != "$ref"}}
    several = cast("list[JsonObject]", part.get("anyOf", []))
    plain = [one for one in several if one.get("type") != "null"]
    if len(plain) == 1:
        rest = {key: value for key, value in part.items() if key != "anyOf"}
        return _resolved({**plain[0], **rest}, schema)
    return part


def _field(name: str, part: JsonObject, value: object, required: bool) -> Field:  # noqa: FBT001 - of the schema
    default = part.get("default") if value is None else value
    kind = _kind(part)
    return Field(
        name=name,
        kind=kind,
        about=str(part.get("description", "")),
        required=required,
        default=_shown(kind, default),
        choices=tuple(str(one) for one in cast("list[object]", part.get("enum", []))),
    )


def _kind(part: JsonObject) -> str:
    if "enum" in part:
        return "choice"
    kind = part.get("type")
    if kind == "array":
        items = cast("JsonObject", part.get("items", {}))
        return "list" if items.get("type") == "string" and "enum" not in items else "json"
    known = {"boolean": "switch", "integer": "integer", "number": "number", "string": "text"}
    return known.get(str(kind), "json") if isinstance(kind, str) else "json"


def _shown(kind: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and kind != "json":
        return value
    if kind == "list" and isinstance(value, list | tuple):
        return "\n".join(map(str, cast("list[object]", value)))
    return msgspec.json.encode(value).decode()


def _value(field: Field, raw: str) -> object:
    if field.kind in {"text", "choice"}:
        return raw
    if field.kind == "list":
        return [line for line in raw.split("\n") if line.strip()]
    return _read(field, raw)


def _read(field: Field, raw: str) -> Any:  # noqa: ANN401 - JSON
    """JSON that was typed. What is no JSON goes to the tool's own check as the text it is, unless it had to be JSON."""
    try:
        return msgspec.json.decode(raw.strip())
    except msgspec.DecodeError as error:
        if field.kind == "json":
            raise ToolFailed(
                f"{field.name} is no JSON: {error}.", code="bad_json", hint='Write ["a", "b"] or {"name": "value"}.'
            ) from None
        return raw
