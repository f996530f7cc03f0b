"""Tools in the shapes that models and protocols take: all read off the one schema."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from toolcrib.core.call import JsonObject
from toolcrib.core.errors import CribError
from toolcrib.core.registry import near
from toolcrib.core.tool import Effect, Flow, Tool

# What Gemini's function declarations understand of JSON schema; the rest is dropped, and references are written out.
_GEMINI = frozenset({
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
    "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "default", "example",
    "minProperties", "maxProperties", "propertyOrdering",
})  # fmt: skip
DEEPEST = 16  # levels of a schema that refers to itself


def openai(tool: Tool) -> JsonObject:
    """A function of the chat completions API."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.about, "parameters": tool.schema},
    }


def anthropic(tool: Tool) -> JsonObject:
    """A tool of the messages API."""
    return {"name": tool.name, "description": tool.about, "input_schema": tool.schema}


def gemini(tool: Tool) -> JsonObject:
    """A function declaration."""
    told: JsonObject = {"name": tool.name, "description": tool.about}
    if tool.schema.get("properties"):
        told["parameters"] = _plain(tool.schema, tool.schema.get("$defs", {}), DEEPEST)
    return told


def mcp(tool: Tool) -> JsonObject:
    """A tool of the Model Context Protocol. The hints describe; they grant nothing."""
    traits = tool.traits
    return {
        "name": tool.name,
        "title": title(tool.name),
        "description": tool.about,
        "inputSchema": tool.schema,
        "annotations": {
            "readOnlyHint": traits.effect is Effect.READ,
            "destructiveHint": traits.effect is Effect.DESTROY,
            "idempotentHint": traits.effect is Effect.READ,
            "openWorldHint": bool(traits.flow & {Flow.UNTRUSTED, Flow.SENDS}),
        },
    }


FORMATS: Mapping[str, Callable[[Tool], JsonObject]] = {
    "openai": openai, "anthropic": anthropic, "gemini": gemini, "mcp": mcp,
}  # fmt: skip


def schemas(tools: Iterable[Tool], form: str) -> list[JsonObject]:
    """Tools in one of the formats."""
    write = FORMATS.get(form)
    if write is None:
        meant = near(form, FORMATS)
        ask = f"Did you mean {meant[0]}?" if meant else f"There are {', '.join(FORMATS)}."
        raise CribError(f"There is no format {form!r}. {ask}")
    return [write(tool) for tool in tools]


def title(name: str) -> str:
    """A name in words."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def _plain(schema: object, defs: Mapping[str, Any], depth: int) -> JsonObject:
    """A schema without references and without what Gemini does not know."""
    if depth == 0 or not isinstance(schema, dict):  # `true` is a schema too, and lets anything pass
        return {"type": "object"} if depth == 0 else {}
    return _known(cast("dict[str, Any]", schema), defs, depth)


def _known(schema: Mapping[str, Any], defs: Mapping[str, Any], depth: int) -> JsonObject:
    if "$ref" in schema:
        return _plain(defs.get(str(schema["$ref"]).rpartition("/")[2], {}), defs, depth - 1)
    if "allOf" in schema and len(schema["allOf"]) == 1 and isinstance(schema["allOf"][0], dict):
        return _plain({**schema["allOf"][0], **{k: v for k, v in schema.items() if k != "allOf"}}, defs, depth - 1)
    told = {key: value for key, value in schema.items() if key in _GEMINI and key != "enum"}
    told |= _listed(schema)
    if isinstance(told.get("type"), list):
        told |= _choice([{"type": one} for one in told.pop("type")], defs, depth)
    if "properties" in told:
        told["properties"] = {k: _plain(v, defs, depth - 1) for k, v in told["properties"].items()}
    if "items" in told:
        told["items"] = _plain(told["items"], defs, depth - 1)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        told.pop("anyOf", None)
        told |= _choice(choices, defs, depth)
    return told


def _listed(schema: Mapping[str, Any]) -> JsonObject:
    """The values that a schema lists. Gemini takes texts only; for others the check at the call remains."""
    values = [schema["const"]] if "const" in schema else schema.get("enum", [])
    return {"enum": values} if values and all(isinstance(one, str) for one in values) else {}


def _choice(choices: Sequence[object], defs: Mapping[str, Any], depth: int) -> JsonObject:
    """Alternatives; "or null" becomes nullable, as Gemini has it."""
    real = [choice for choice in choices if choice != {"type": "null"}]
    told: JsonObject = {"nullable": True} if len(real) < len(choices) else {}
    if len(real) == 1:
        return {**_plain(real[0], defs, depth - 1), **told}
    return {**told, "anyOf": [_plain(choice, defs, depth - 1) for choice in real]}
