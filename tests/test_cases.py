"""Every case of `tests/cases/*.yaml` through a whole crib: view, check, guards, body, scrub, record.

The keys of a case stand in `tests/cases/README.md`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.machine.webserver import Asked, Rule, Server, answer, serving
from toolcrib.app import Crib, Turn
from toolcrib.core.call import Outcome
from toolcrib.services.config.reading import read_config
from toolcrib.services.record.audit import Query
from toolcrib.sources.native import families, native_tools

CASES = Path(__file__).parent / "cases"
KEYS = {
    "name", "files", "before", "boxes", "call", "gives", "says", "structured", "refused", "failed", "after", "agent",
    "toolkits", "toolboxes", "policy", "session", "meets", "lacks", "depth", "user", "web", "network", "search", "limits",
    "shell", "sandbox", "flow", "mcpServers",
}  # fmt: skip
CONFIGURES = (
    "toolkits",
    "toolboxes",
    "policy",
    "network",
    "search",
    "limits",
    "shell",
    "sandbox",
    "flow",
    "mcpServers",
)
READ = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) or {} for path in sorted(CASES.glob("*.yaml"))}
ALL = [
    pytest.param(tool, case, id=f"{family}-{tool}-{case['name'].replace(' ', '-')[:80]}")
    for family, tools in READ.items()
    for tool, cases in tools.items()
    for case in cases
]


@pytest.mark.parametrize(("tool", "case"), ALL)
async def test_case(tool: str, case: Mapping[str, Any], workspace: Path):
    assert not set(case) - KEYS, "a key that the runner does not know"
    _lay_out(workspace, case.get("files", {}))
    async with serving(_answers(case.get("web", {}))) as server, _crib(_filled(case, server), workspace) as crib:
        case = _filled(case, server)
        turn = await _turn(crib, case)
        for step in case.get("before", ()):
            await turn.call(step["tool"], step["call"])
            turn = await _turn(crib, case)
        outcome = await turn.call(tool, case["call"])
        _compare(outcome, case)
        _compare_disk(workspace, case.get("after", {}))
        await _compare_record(crib, outcome)


@pytest.mark.meets("house:tool:case")
def test_every_tool_has_a_case():
    tools = {tool.name: tool.domain for tool in native_tools()}
    assert sorted(name for name in tools if not READ.get(tools[name], {}).get(name)) == []


def test_every_family_has_a_case_file_and_every_case_a_tool():
    assert set(READ) == {family.name for family in families()}
    known = {tool.name for tool in native_tools()}
    assert {tool for tools in READ.values() for tool in tools} <= known


def _crib(case: Mapping[str, Any], workspace: Path) -> Crib:
    rules = {"toolboxes": case.get("boxes", ["all"]), **case.get("agent", {})}
    data = {"agents": {"tester": rules}, **{key: case[key] for key in CONFIGURES if key in case}}
    config = read_config(yaml.safe_dump(data), env={})
    return Crib(config=config, native=True, workspace=str(workspace))


def _answers(pages: Mapping[str, Any]) -> Rule:
    """A web server that has these pages; a page is its text, or a mapping with the parts of an answer."""

    def rule(asked: Asked) -> bytes:
        page = pages.get(asked.target.partition("?")[0])
        if page is None:
            return answer("there is no such page", "404 Not Found")
        if not isinstance(page, dict):
            return answer(page)
        headers = {name.replace("-", "_"): value for name, value in page.get("headers", {}).items()}
        return answer(page.get("body", ""), page.get("status", "200 OK"), **headers)

    return rule


def _filled(value: Any, server: Server) -> Any:
    """A case with the address of its web server where it says SERVER."""
    if isinstance(value, str):
        return value.replace("SERVER", f"127.0.0.1:{server.port}")
    if isinstance(value, list):
        return [_filled(part, server) for part in value]
    if isinstance(value, dict):
        return {key: _filled(part, server) for key, part in value.items()}
    return value


async def _turn(crib: Crib, case: Mapping[str, Any]) -> Turn:
    depth = case.get("depth", 0)
    return await crib.turn("tester", session=case.get("session", "s1"), user=case.get("user", ""), depth=depth)


def _lay_out(folder: Path, files: Mapping[str, Any]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _compare(outcome: Outcome, case: Mapping[str, Any]) -> None:
    code = case.get("refused") or case.get("failed")
    assert (outcome.error.code if outcome.error else None) == code, outcome.text
    if code:
        assert outcome.status.value == ("refused" if "refused" in case else "failed")
    if "gives" in case:
        assert outcome.text == case["gives"]
    said = f"{outcome.error.message} {outcome.error.hint}" if outcome.error else outcome.text
    for part in _listed(case.get("says", [])):
        assert str(part) in said
    for part in _listed(case.get("lacks", [])):
        assert str(part) not in said
    if "structured" in case:
        _holds(outcome.structured, case["structured"])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _holds(have: Any, want: Any) -> None:
    """Mappings hold at least what is wanted; everything else is equal."""
    if isinstance(want, dict):
        assert isinstance(have, dict), have
        for key, part in want.items():
            assert key in have, f"{key} is not in {sorted(have)}"
            _holds(have[key], part)
    else:
        assert have == want


def _compare_disk(folder: Path, after: Mapping[str, Any]) -> None:
    for name, content in after.items():
        path = folder / name
        if content is None:
            assert not path.exists(), name
        else:
            assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode()), name


async def _compare_record(crib: Crib, outcome: Outcome) -> None:
    page = await crib.store.audit.entries(Query(id=outcome.id))
    assert [entry.status for entry in page.entries] == [outcome.status.value]
    assert (await crib.store.audit.verify()).ok
