"""Arguments by foreign schemas: the quick check says what the JSON schema library says."""

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolcrib.core.errors import BadArguments
from toolcrib.core.schema import check
from toolcrib.services.mcp.arguments import ForeignArguments, fault_of_schema
from toolcrib.services.mcp.plain import compiled

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 0.5, 1.0, 2.5]),
    st.sampled_from(["", "a", "bb"]),
)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
_KINDS = ["string", "integer", "number", "boolean", "null", "array", "object"]
_small = st.integers(0, 2)
_leaf = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(_KINDS) | st.lists(st.sampled_from(_KINDS), min_size=1, max_size=2, unique=True),
        "enum": st.lists(st.sampled_from(["", "a", "bb", None]), min_size=1, max_size=3, unique=True),
        "minimum": st.sampled_from([-1, 0, 0.5]),
        "exclusiveMaximum": st.sampled_from([1, 2]),
        "minLength": _small,
        "maxLength": _small,
        "minItems": _small,
        "maxItems": _small,
        "title": st.just("t"),
        "x-more": st.just(1),
    },
)
_schemas = st.recursive(
    st.just(True) | _leaf,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(_KINDS),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
        },
    ),
    max_leaves=8,
)


@given(_schemas, _values)
def test_the_quick_check_agrees_with_the_library(schema: Any, value: Any):
    fits = compiled(schema)
    if fits is None:
        assert not isinstance(schema, dict) or schema is False or "additionalProperties" in str(schema)
    else:
        assert fits(value) == Draft202012Validator(schema).is_valid(value)


SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string", "enum": ["x", "y"]}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_what_does_not_fit_is_told_with_its_path():
    arguments = ForeignArguments("mcp_s_t", SCHEMA)
    assert check(arguments, "mcp_s_t", {"a": 1, "b": "x"}) == {"a": 1, "b": "x"}
    with pytest.raises(BadArguments) as refused:
        check(arguments, "mcp_s_t", {"a": "one", "b": "z"})
    problems: Any = refused.value.data["problems"]
    assert [one["path"] for one in problems] == ["a", "b"]
    assert "a: 'one' is not of type 'integer'" in refused.value.message


def test_at_most_eight_problems_are_told():
    schema = {"type": "object", "additionalProperties": {"type": "string"}}
    with pytest.raises(BadArguments) as refused:
        check(ForeignArguments("t", schema), "t", {f"k{i}": i for i in range(20)})
    problems: Any = refused.value.data["problems"]
    assert len(problems) == 8


@pytest.mark.parametrize("raw", [b"[]", b"{", b'"x"'])
def test_what_is_no_object_is_refused(raw: bytes):
    with pytest.raises(BadArguments, match="the arguments"):
        check(ForeignArguments("t", SCHEMA), "t", raw)


def test_references_within_are_followed_and_others_never_fetched():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
    with pytest.raises(BadArguments):
        check(ForeignArguments("t", schema), "t", {"a": "x"})
    elsewhere = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
    assert check(ForeignArguments("t", elsewhere), "t", {"a": "x"}) == {"a": "x"}


def test_a_slow_pattern_is_run_in_linear_time():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert check(ForeignArguments("t", schema), "t", {"a": "a" * 50_000})
    with pytest.raises(BadArguments, match="pattern"):
        check(ForeignArguments("t", schema), "t", {"a": "a" * 50_000 + "b"})


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (SCHEMA, ""),
        ([], "not an object"),
        ({"type": "string"}, '"type": "object"'),
        ({"type": "object", "properties": {"a": {"type": "nonsense"}}}, "not a JSON schema"),
        ({"type": "object", "properties": 3}, "not a JSON schema"),
    ],
)
def test_what_is_no_schema_is_told(schema: Any, fault: str):
    assert fault in fault_of_schema(schema)
    assert bool(fault) == bool(fault_of_schema(schema))


def test_the_schema_is_shown_as_it_came():
    arguments = ForeignArguments("t", SCHEMA)
    assert msgspec.json.encode(arguments.schema) == msgspec.json.encode(SCHEMA)


DRAFT = "https://json-schema.org/draft/2020-12/schema"


def twice(levels: int) -> dict[str, Any]:
    """A schema that doubles what is looked at, level by level."""
    parts: dict[str, Any] = {f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(levels)}
    parts[f"a{levels}"] = {"type": "string"}
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": parts}


@pytest.mark.parametrize(
    "schema",
    [
        twice(40),
        {"type": "object", "$ref": "#"},
        {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}},
        },
    ],
)
def test_a_schema_that_never_ends_is_left_to_the_server(schema: dict[str, Any]):
    assert fault_of_schema(schema) == ""
    began = time.perf_counter()
    assert ForeignArguments("t", schema).decode(b'{"x":1}') == {"x": 1}
    assert time.perf_counter() - began < 5


def test_a_pattern_runs_in_linear_time_where_a_part_names_its_own_draft():
    part = {"$schema": DRAFT, "pattern": "^(a+)+$"}
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/x"}}, "$defs": {"x": part}}
    took = ForeignArguments("t", schema).decode
    with pytest.raises(BadArguments):
        took(msgspec.json.encode({"p": "a" * 60 + "!"}))


def test_doubles_among_thousands_of_objects_are_found_at_once():
    schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    took = ForeignArguments("t", schema).decode
    many = [{"i": i} for i in range(20_000)]
    began = time.perf_counter()
    assert took(msgspec.json.encode({"a": many})) == {"a": many}
    assert time.perf_counter() - began < 5
    with pytest.raises(BadArguments):
        took(msgspec.json.encode({"a": [*many[:100], {"i": 5}]}))
    with pytest.raises(BadArguments):
        took(b'{"a":[1,1.0]}')
