"""What Toolcrib must do, as data, tied to the tests that show it: the honest measure of how much of it exists."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from tests.requirements import agents, calls, content, files, grants, guards, server
from tests.requirements.rows import Requirement

__all__ = ["REQUIREMENTS", "Requirement", "claims", "counts", "open_ones"]

TESTS = Path(__file__).parent.parent

REQUIREMENTS: tuple[Requirement, ...] = (
    *grants.GRANTS,
    *calls.CALLS,
    *files.FILES,
    *files.DOORS,
    *grants.LATER,
    *calls.LATER,
    *guards.GUARDS,
    *server.SERVER,
    *server.MCP,
    *agents.AGENTS,
    *agents.AUTOMATION,
    *content.MEMORY,
    *content.CONTENT,
    *content.PLATFORM,
)


def claims(tests: Path = TESTS) -> Mapping[str, list[str]]:
    """Every id that a test or a case says it meets, with the places that say so."""
    found: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("*.py")):
        for name, line in _marked(path):
            found.setdefault(name, []).append(f"{path.relative_to(tests)}:{line}")
    for path in sorted((tests / "cases").glob("*.yaml")):
        for name, case in _cased(path):
            found.setdefault(name, []).append(f"{path.relative_to(tests)}: {case}")
    return found


def open_ones(claimed: Mapping[str, object]) -> list[str]:
    """The ids that a test must show by now and none does."""
    return [asked.id for asked in REQUIREMENTS if not asked.deferred and asked.id not in claimed]


def counts() -> tuple[int, int]:
    """How many requirements are met, and how many are deferred."""
    due = [asked for asked in REQUIREMENTS if not asked.deferred]
    return len(due) - len(open_ones(claims())), len(REQUIREMENTS) - len(due)


def _marked(path: Path) -> Iterator[tuple[str, int]]:
    """The ids in `pytest.mark.meets(...)`, read without importing the module."""
    text = path.read_text(encoding="utf-8")
    if "mark.meets" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and _is_meets(node.func):
            for argument in node.args:
                # Anything but a plain text could not be read here, and is shown as it stands.
                said = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                yield (ast.literal_eval(argument) if said else ast.unparse(argument)), node.lineno


def _is_meets(node: ast.expr) -> bool:
    """Whether this is `….mark.meets`."""
    return isinstance(node, ast.Attribute) and node.attr == "meets" and ast.unparse(node.value).endswith("mark")


def _cased(path: Path) -> Iterator[tuple[str, str]]:
    """The ids in the `meets` of a family's cases."""
    tools = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    for tool, cases in tools.items():
        for case in cases or ():
            said = case.get("meets") or ()
            for name in [said] if isinstance(said, str) else said:
                yield str(name), f"{tool}: {case.get('name', '')}"
