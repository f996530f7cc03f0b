"""Tools in the shapes of models and protocols, all read off the one schema."""

from typing import Annotated, Any, Literal

import pytest
from msgspec.structs import replace
from pydantic import BaseModel, Field

from tests.worlds import NoArguments
from toolcrib.core.call import JsonObject
from toolcrib.core.errors import CribError
from toolcrib.core.tool import as_tool, tool
from toolcrib.services.schemas import FORMATS, schemas, title

GEMINI = {
    "type", "format", "title", "description", "nullable", "enum", "items", "properties", "required", "anyOf",
    "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "default", "example",
    "minProperties", "maxProperties", "propertyOrdering",
}  # fmt: skip


class Leaf(BaseModel):
    """A leaf."""

    colour: Literal["red", "green"] = "red"
    inner: "Leaf | None" = None
    many: list["Leaf"] = []


@tool(effect="read", flow=("untrusted",))
def grow_tree(
    leaf: Leaf,
    height: Annotated[int, Field(ge=1), "In metres"] = 3,
    names: list[str] | None = None,
    either: int | str = 1,
    fixed: Literal["only"] = "only",
    marks: dict[str, int] | None = None,
) -> str:
    """Grow a tree."""
    return f"{leaf}{height}{names}{either}{fixed}{marks}"


def bare() -> str:
    """Take nothing."""
    return ""


GROW = as_tool(grow_tree)


def parts(schema: Any) -> list[dict[str, Any]]:
    """Every schema inside a schema, itself included."""
    found = [schema]
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        found += parts(inner)
    return found + (parts(schema["items"]) if isinstance(schema.get("items"), dict) else [])


def test_each_format_carries_name_words_and_the_schema() -> None:
    [openai] = schemas([GROW], "openai")
    assert openai == {
        "type": "function",
        "function": {"name": "grow_tree", "description": "Grow a tree.", "parameters": GROW.schema},
    }
    [anthropic] = schemas([GROW], "anthropic")
    assert anthropic == {"name": "grow_tree", "description": "Grow a tree.", "input_schema": GROW.schema}
    [mcp] = schemas([GROW], "mcp")
    assert mcp["inputSchema"] == GROW.schema
    assert mcp["title"] == "Grow tree"
    assert mcp["annotations"] == {
        "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True,
    }  # fmt: skip
    assert set(FORMATS) == {"openai", "anthropic", "gemini", "mcp"}


def test_for_gemini_references_are_written_out_and_what_it_does_not_know_is_dropped() -> None:
    [declared] = schemas([GROW], "gemini")
    every = parts(declared["parameters"])
    assert {key for part in every for key in part} <= GEMINI
    properties = declared["parameters"]["properties"]
    assert properties["leaf"]["properties"]["colour"]["enum"] == ["red", "green"]
    assert properties["leaf"]["properties"]["inner"]["nullable"]
    assert properties["names"] == {"type": "array", "items": {"type": "string"}, "nullable": True}
    assert [choice["type"] for choice in properties["either"]["anyOf"]] == ["integer", "string"]
    assert properties["fixed"]["enum"] == ["only"]
    assert properties["height"] == {"type": "integer", "minimum": 1, "default": 3, "description": "In metres"}
    assert declared["parameters"]["required"] == ["leaf"]


def test_for_gemini_a_type_that_holds_itself_does_not_explode() -> None:
    assert len(str(schemas([GROW], "gemini"))) < 20_000


class Foreign(NoArguments):
    """A schema as an MCP server may send it."""

    schema: JsonObject = {  # noqa: RUF012 - never changed
        "type": "object",
        "properties": {
            "any": True,
            "word": {"type": ["string", "null"]},
            "mixed": {"type": ["integer", "string"], "enum": [1, "one"]},
            "level": {"type": "integer", "enum": [1, 2]},
            "list": {"type": "array", "items": False},
            "same": {"allOf": [True]},
            "either": {"anyOf": [True, {"type": "null"}]},
            "leaf": {"$ref": "#/$defs/leaf"},
        },
        "$defs": {"leaf": True},
    }


def test_for_gemini_a_foreign_schema_is_told_as_far_as_it_can_be() -> None:
    [declared] = schemas([replace(as_tool(bare), arguments=Foreign())], "gemini")
    assert declared["parameters"]["properties"] == {
        "any": {},
        "word": {"type": "string", "nullable": True},
        "mixed": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "level": {"type": "integer"},
        "list": {"type": "array", "items": {}},
        "same": {},
        "either": {"nullable": True},
        "leaf": {},
    }


def test_for_gemini_a_tool_without_arguments_has_no_parameters() -> None:
    assert schemas([as_tool(bare)], "gemini") == [{"name": "bare", "description": "Take nothing."}]


def test_rendering_leaves_the_schema_as_it_was() -> None:
    before = str(GROW.schema)
    for form in FORMATS:
        schemas([GROW], form)
    assert str(GROW.schema) == before


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    with pytest.raises(CribError, match="Did you mean openai"):
        schemas([GROW], "open_ai")
    with pytest.raises(CribError, match="There are openai, anthropic, gemini, mcp"):
        schemas([], "zzzz")


def test_a_title_is_the_name_in_words() -> None:
    assert [title(name) for name in ("read_file", "a-b", "x", "_")] == ["Read file", "A b", "X", ""]
