"""What a model sends is checked against exactly the schema that it was shown."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from tests import examples
from toolcrib.core.errors import BadArguments
from toolcrib.core.schema import BYTES_OF_ARGUMENTS, as_bytes, check
from toolcrib.core.tool import Tool, as_tool


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Page(BaseModel):
    """A page."""

    number: int
    parts: list["Page"] = []


def paint(
    name: str,
    times: int = 1,
    share: float = 0.5,
    wet: bool = False,
    colour: Colour = Colour.RED,
    mode: Literal["a", "b"] = "a",
    tags: list[str] | None = None,
    page: Page | None = None,
    size: Annotated[int, Field(ge=1, le=9), "From 1 to 9"] = 1,
) -> str:
    """Paint it."""
    return f"{name}{times}{share}{wet}{colour}{mode}{tags}{page}{size}"


PAINT: Tool = as_tool(paint)


def checked(raw: Any) -> dict[str, Any]:
    return check(PAINT.arguments, "paint", raw)


def test_values_come_out_as_the_types_that_the_function_has() -> None:
    values = checked({"name": "a", "colour": "blue", "page": {"number": 1, "parts": [{"number": 2}]}, "share": 1})
    assert values["colour"] is Colour.BLUE
    assert values["page"].parts[0].number == 2
    assert set(values) == {"name", "colour", "page", "share"}  # defaults are the function's own


@pytest.mark.meets("call:validate:strict")
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"name": 1}, "name"),
        ({"name": None}, "name"),
        ({}, "name"),
        ({"name": "a", "times": "3"}, "times"),
        ({"name": "a", "times": 1.5}, "times"),
        ({"name": "a", "times": True}, "times"),
        ({"name": "a", "wet": "true"}, "wet"),
        ({"name": "a", "wet": 1}, "wet"),
        ({"name": "a", "colour": "green"}, "colour"),
        ({"name": "a", "mode": "c"}, "mode"),
        ({"name": "a", "tags": "x"}, "tags"),
        ({"name": "a", "tags": [1]}, "tags.0"),
        ({"name": "a", "size": 10}, "size"),
        ({"name": "a", "other": 1}, "other"),
        ({"NAME": "a"}, "name"),
    ],
)
def test_a_value_of_another_type_or_a_name_of_its_own_is_refused_with_its_path(
    arguments: dict[str, object], path: str
) -> None:
    with pytest.raises(BadArguments) as refused:
        checked(arguments)
    problems: Any = refused.value.data["problems"]
    assert path in {problem["path"] for problem in problems}
    assert all(problem["expected"] for problem in problems)
    assert "paint was not called" in refused.value.message


@pytest.mark.meets("call:validate:eight")
def test_at_most_eight_problems_are_told_and_the_rest_is_counted() -> None:
    with pytest.raises(BadArguments) as refused:
        checked({"name": "a", **{f"extra{i}": i for i in range(11)}})
    assert len(refused.value.data["problems"]) == 8  # type: ignore[arg-type] - a list
    assert "and 3 more" in refused.value.message


@pytest.mark.meets("call:validate:bad-json")
@pytest.mark.parametrize(
    "raw",
    ['{"name": "a"', "{'name': 'a'}", "name=a", '{"name": "a"} x', "\x00", '{"name": "a\x00"}', '{"name": NaN}',
     '{"share": Infinity, "name": "a"}', "[]", "null", "1", '"name"', b'{"name": "\xff"}', '{"name": "\\ud800"}'],
)  # fmt: skip
def test_what_is_not_a_json_object_is_refused_with_words_to_mend_it_by(raw: str | bytes) -> None:
    with pytest.raises(BadArguments) as refused:
        checked(raw)
    assert refused.value.code == "invalid_args"
    assert refused.value.hint


def test_nothing_at_all_is_an_empty_object() -> None:
    assert as_bytes("x", b"") == b"{}"
    assert as_bytes("x", "") == b"{}"


@pytest.mark.meets("call:validate:bounded")
@pytest.mark.parametrize("raw", ["[" * 100_000, '{"name":' * 100_000, '{"page": ' + '{"parts":[' * 50_000])
def test_deeply_nested_arguments_are_refused(raw: str) -> None:
    with pytest.raises(BadArguments):
        checked(raw)


@pytest.mark.meets("call:validate:bounded")
def test_arguments_over_the_bound_are_refused_without_being_read() -> None:
    with pytest.raises(BadArguments, match="longer than"):
        as_bytes("paint", b'{"name": "' + b"a" * BYTES_OF_ARGUMENTS + b'"}')


def test_a_mapping_that_is_no_json_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    for bad in ({"name": object()}, {"name": "\ud800"}, loop):
        with pytest.raises(BadArguments):
            as_bytes("paint", bad)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_json_is_either_checked_or_refused_and_never_breaks(value: Any) -> None:
    raw = msgspec.json.encode({"name": "a", "tags": value} if value else value)
    try:
        values = checked(raw)
    except BadArguments as refused:
        told = refused.message  # it says something, and nothing else came out
    else:
        told = str(values["name"])
    assert told
    examples.count()


def test_a_schema_repeats_no_titles_and_keeps_arguments_that_are_called_title() -> None:
    def label(title: str, type: str = "") -> str:  # noqa: A002 - the name is the point
        """Label it."""
        return title + type

    schema = as_tool(label).schema
    assert set(schema["properties"]) == {"title", "type"}
    assert "title" not in schema
    assert "title" not in schema["properties"]["title"]


class Step(TypedDict):
    number: int


@dataclass
class Spot:
    number: int


def walk(step: Step | None = None, spot: Spot | None = None, page: Page | None = None) -> str:
    """Walk."""
    return f"{step}{spot}{page}"


@pytest.mark.parametrize("part", [{"number": "1"}, {"number": 1, "extra": 2}])
@pytest.mark.parametrize("name", ["step", "spot"])
def test_values_inside_a_value_are_checked_as_strictly(name: str, part: dict[str, object]) -> None:
    with pytest.raises(BadArguments):
        check(as_tool(walk).arguments, "walk", {name: part})


def test_values_inside_a_pydantic_model_are_checked_as_strictly() -> None:
    with pytest.raises(BadArguments):
        check(as_tool(walk).arguments, "walk", {"page": {"number": "1"}})
