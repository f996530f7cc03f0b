"""The library form: what it takes to begin, and what it does without."""

import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib import Crib, tool
from toolcrib.core.errors import CribError

# What costs start-up time or belongs to another door: none of it comes in with `import toolcrib`.
HEAVY = (
    "pydantic", "sqlalchemy", "sqlite3", "alembic", "pypdf", "re2", "yaml", "click", "typer", "rich", "asyncio",
    "toolcrib.safety.scrub", "toolcrib.sources", "toolcrib.stores", "toolcrib.machine", "toolcrib.faces",
)  # fmt: skip
WITHOUT_A_DATABASE = """
import asyncio, pathlib, sys
from toolcrib import Crib, tool

@tool
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

crib = Crib([add], agents={"helper": ["add"]})
assert "add" in crib.issue("helper")
assert asyncio.run(crib.call("add", {"a": 2, "b": 3}, agent="helper")).structured == 5
print(sorted({"sqlite3", "sqlalchemy", "yaml", "toolcrib.stores.sql"} & set(sys.modules)), list(pathlib.Path().iterdir()))
"""


def python(program: str, folder: Path | None = None) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


@pytest.mark.meets("library:import:light")
def test_importing_the_library_brings_in_nothing_heavy():
    program = f"import sys, toolcrib; print([name for name in {HEAVY} if name in sys.modules])"
    assert python(program) == "[]\n"


@pytest.mark.meets("library:no-database")
def test_a_crib_works_without_database_model_and_configuration(tmp_path: Path):
    assert python(WITHOUT_A_DATABASE, tmp_path) == "[] []\n"


@tool(effect="read", parallel=True)
def look_up(part: str, count: int | None = None) -> str:
    """Look a part up."""
    return f"{part}{count}"


@tool(effect="destroy", flow=["sends"])
def drop(part: str) -> str:
    """Drop a part."""
    return part


@pytest.fixture
def crib() -> Crib:
    return Crib([look_up, drop], agents={"helper": ["look_up", "drop"], "reader": ["look_up"]})


@pytest.mark.meets("library:schemas:formats")
def test_schemas_come_in_each_format_and_only_for_what_is_held(crib: Crib):
    [openai] = crib.schemas("reader", "openai")
    assert openai["type"] == "function"
    assert openai["function"]["name"] == "look_up"
    assert openai["function"]["parameters"]["required"] == ["part"]
    [anthropic] = crib.schemas("reader", "anthropic")
    assert (anthropic["name"], anthropic["input_schema"]["type"]) == ("look_up", "object")
    [gemini] = crib.schemas("reader", "gemini")
    assert gemini["parameters"]["properties"]["count"]["nullable"] is True
    assert "additionalProperties" not in gemini["parameters"]
    [mcp] = crib.schemas("reader", "mcp")
    assert mcp["annotations"]["readOnlyHint"] is True
    assert mcp["inputSchema"]["properties"]["part"]["type"] == "string"


@pytest.mark.meets("library:schemas:formats")
def test_mcp_says_what_destroys_and_what_reaches_out(crib: Crib):
    [drop_schema] = [one for one in crib.schemas("helper", "mcp") if one["name"] == "drop"]
    assert drop_schema["annotations"]["destructiveHint"] is True
    assert drop_schema["annotations"]["openWorldHint"] is True


@pytest.mark.meets("library:schemas:formats")
def test_an_unknown_format_is_refused_with_the_nearest(crib: Crib):
    with pytest.raises(CribError, match="Did you mean openai"):
        crib.schemas("helper", "openal")


async def test_a_turn_shows_what_it_will_call(crib: Crib):
    turn = await crib.turn("reader")
    assert [one["name"] for one in turn.schemas("anthropic")] == ["look_up"]
    error = (await turn.call("drop", {"part": "x"})).error
    assert error is not None
    assert error.code == "not_issued"
