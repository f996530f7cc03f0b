"""A tool is read off a function, and refused when a model could not be told what it is."""

from typing import Annotated

import pytest

from toolcrib.core.call import Caller, Where
from toolcrib.core.errors import BadTool
from toolcrib.core.guard import Call
from toolcrib.core.resolver import View
from toolcrib.core.tool import Effect, Family, Flow, Lane, Traits, as_tool, described, read_tool, tool


class Shelf:
    """A service."""


@pytest.mark.meets("tool:declare:signature")
def test_a_signature_gives_name_words_schema_defaults_and_needs() -> None:
    family = Family(name="books", label="Books", about="Books.", icon="book")

    @family.tool(Effect.READ, aliases=("lookup",), parallel=True, flow=(Flow.PRIVATE,), lane=Lane.ORG, seconds=5)
    async def find_book(
        shelf: Shelf, me: Caller, *, title: Annotated[str, "What it is called"], most: int = 3, year: int | None = None
    ) -> str:
        """Find a book.

        By its title.
        """
        return f"{shelf}{me}{title}{most}{year}"

    made = family.tools[0]
    assert (made.name, made.domain, made.aliases, made.source) == ("find_book", "books", ("lookup",), "native")
    assert made.about == "Find a book.\n\nBy its title."
    assert made.needs == (Shelf, Caller)
    assert made.schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "description": "What it is called"},
            "most": {"type": "integer", "default": 3},
            "year": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
    }
    assert made.traits.parallel
    assert made.traits.seconds == 5
    told = described(made)
    assert told["flags"] == {"read_only": True, "concurrency_safe": True, "destructive": False}
    assert told["availability"] == ["main", "sub_agent"]
    assert told["operation_class"] == "org"
    assert told["flow"] == ["private"]


@pytest.mark.meets("tool:declare:cautious")
def test_without_flags_a_tool_writes_alone_and_destroys_nothing() -> None:
    def stamp(text: str) -> str:
        """Stamp it."""
        return text

    made = as_tool(stamp)
    assert described(made)["flags"] == {"read_only": False, "concurrency_safe": False, "destructive": False}
    assert made.traits == Traits()
    assert made.traits.where == frozenset(Where)
    assert tool(stamp) is stamp  # the function is still a function
    assert stamp("a") == "a"


def test_a_declared_function_keeps_what_it_was_declared_with() -> None:
    @tool(name="stamp_it", effect="destroy", aliases=("st",), flow=("sends",), domain="post")
    def stamp(text: str, me: Caller, at: Call, held: View) -> str:
        """Stamp it."""
        return f"{text}{me}{at}{held}"

    made = as_tool(stamp)
    assert as_tool(made) is made
    assert (made.name, made.domain, made.traits.effect, made.traits.flow) == (
        "stamp_it",
        "post",
        Effect.DESTROY,
        frozenset({Flow.SENDS}),
    )
    assert made.needs_named == (("me", Caller), ("at", Call), ("held", View))
    assert list(made.schema["properties"]) == ["text"]


def silent(text: str) -> str:
    return text


def untyped(text) -> str:
    """Has an argument without a type."""
    return text


def spread(*texts: str) -> str:
    """Takes any number."""
    return texts[0]


def keywords(**texts: str) -> str:
    """Takes any name."""
    return texts["a"]


def by_place(text: str, /) -> str:
    """Takes it by place only."""
    return text


@pytest.mark.meets("tool:declare:refused")
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (silent, "no docstring"),
        (untyped, "text has no type"),
        (spread, "no schema"),
        (keywords, "no schema"),
        (by_place, "no schema"),
    ],
)
def test_a_function_that_a_model_could_not_use_is_refused_when_declared(body: object, says: str) -> None:
    with pytest.raises(BadTool, match=says):
        as_tool(body)  # type: ignore[arg-type] - a function


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "naïve", "a.b", "line\n"])
def test_a_name_that_no_model_takes_is_refused(name: str) -> None:
    def stamp() -> str:
        """Stamp it."""
        return ""

    with pytest.raises(BadTool, match="not a tool name"):
        read_tool("own", stamp, Traits(), name=name or "  ")


@pytest.mark.meets("tool:declare:refused")
def test_a_type_without_a_schema_is_refused_with_the_tool_named() -> None:
    def stamp(with_what: Shelf) -> str:
        """Stamp it."""
        return str(with_what)

    with pytest.raises(BadTool, match="stamp"):
        _ = as_tool(stamp).schema
