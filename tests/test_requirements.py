"""Requirements and tests are tied both ways, and the data files use known names only."""

import ast
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.requirements import REQUIREMENTS, claims, counts, open_ones

ROOT = Path(__file__).parent.parent
CATALOGUE = tomllib.loads((ROOT / "src/toolcrib/catalogue.toml").read_text(encoding="utf-8"))
BOXES = tomllib.loads((ROOT / "src/toolcrib/toolboxes.toml").read_text(encoding="utf-8"))
FORM = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(:[a-z0-9]+(-[a-z0-9]+)*){1,3}")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
KNOWN = {asked.id: asked for asked in REQUIREMENTS}


def built() -> set[str]:
    """The names of the tools that exist, read off the folders so that this test needs no crib."""
    modules = (ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src/toolcrib/tools").glob("*/*.py"))
    functions = (node for module in modules for node in module.body if isinstance(node, DEFINITIONS))
    return {one.name for one in functions if any("family.tool(" in ast.unparse(by) for by in one.decorator_list)}


def test_every_requirement_has_an_id_of_its_own_and_few_words():
    assert len(KNOWN) == len(REQUIREMENTS), sorted(
        {asked.id for asked in REQUIREMENTS if [other.id for other in REQUIREMENTS].count(asked.id) > 1}
    )
    for asked in REQUIREMENTS:
        assert FORM.fullmatch(asked.id), asked.id
        assert 0 < len(asked.text) <= 110, (asked.id, len(asked.text))
        assert asked.source, asked.id


@pytest.mark.meets("house:requirements:both-ways")
def test_no_test_claims_an_unknown_requirement():
    assert not {name: places for name, places in claims().items() if name not in KNOWN}


@pytest.mark.meets("house:requirements:both-ways")
def test_no_deferred_requirement_is_already_met():
    stale = {name: places for name, places in claims().items() if name in KNOWN and KNOWN[name].deferred}
    assert not stale, "these are met: take away their deferral"


@pytest.mark.meets("house:requirements:both-ways")
def test_every_requirement_that_is_not_deferred_has_a_test():
    assert not open_ones(claims())


def test_claims_are_read_from_marks_and_from_cases(tmp_path: Path):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "files.yaml").write_text(
        "glob:\n  - {name: one, meets: [glob:finds]}\n  - {name: two, meets: glob:finds}\n  - {name: three}\n"
    )
    (tmp_path / "test_one.py").write_text(
        'import pytest\npytestmark = pytest.mark.meets("a:b")\n@pytest.mark.meets("c:d", NAME)\ndef test_x(): ...\n'
    )
    assert claims(tmp_path) == {
        "a:b": ["test_one.py:2"],
        "c:d": ["test_one.py:3"],
        "NAME": ["test_one.py:3"],
        "glob:finds": ["cases/files.yaml: glob: one", "cases/files.yaml: glob: two"],
    }


def test_the_counts_add_up():
    met, deferred = counts()
    assert met + deferred + len(open_ones(claims())) == len(REQUIREMENTS)


@pytest.mark.meets("registry:catalogue:complete")
def test_a_catalogue_entry_has_words_a_family_and_a_place():
    for name, entry in CATALOGUE.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name), name
        assert set(entry) <= {"about", "domain", "where", "flags", "aliases"}, name
        assert 0 < len(entry["about"]) <= 90, name
        assert entry["where"] in {"main", "sub_agent", "both"}, name
        assert set(entry.get("flags", "")) <= set("RCDXO"), name


def test_a_catalogue_tool_leaves_the_catalogue_when_it_is_built():
    assert not built() & set(CATALOGUE)


def test_an_alias_is_neither_a_tool_nor_a_cover():
    aliases = {alias for entry in CATALOGUE.values() for alias in entry.get("aliases", ())}
    assert not aliases & (set(CATALOGUE) | built() | set(BOXES["covers"]))


@pytest.mark.meets("toolbox:builtin:nine")
def test_every_name_in_the_toolbox_file_is_known():
    tools = set(CATALOGUE) | built()
    named = tools | set(BOXES["covers"])
    assert not {name for names in BOXES["covers"].values() for name in names} - tools
    for place, names in lists():
        groups = {name.removeprefix("group:") for name in names if name.startswith("group:")}
        plain = {name for name in names if not name.startswith(("group:", "*"))}
        assert not plain - named, place
        assert not groups - set(BOXES["group"]), place


def lists() -> Iterable[tuple[str, list[str]]]:
    """Every list of names in the toolbox file, with its place."""
    yield from ((key, BOXES[key]) for key in ("floor", "reply", "exact_floor"))
    yield from ((name, box["tools"]) for name, box in BOXES["toolbox"].items())
    for section in ("group", "profile"):
        yield from ((f"{section}:{name}", names) for name, names in BOXES[section].items())
    own = BOXES["sub_agent"]
    yield from ((f"sub_agent:{key}", own[key]) for key in ("excluded", "denied", "leaf"))
    yield from ((f"sub_agent:goclaw:{key}", names) for key, names in own["goclaw"].items())


def test_the_built_in_toolboxes_are_nine_and_the_floor_has_sixteen_names():
    assert sorted(BOXES["toolbox"]) == [
        "address-book",
        "all",
        "calendar",
        "code",
        "configurator",
        "email",
        "ops",
        "research",
        "scout",
    ]
    assert len(set(BOXES["floor"])) == 16
    assert set(BOXES["reply"]) < set(BOXES["floor"])
    assert set(BOXES["exact_floor"]) == {*BOXES["reply"], "think"}
