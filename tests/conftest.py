"""What all tests share: the count of property examples, and a crib of native tools on a temporary workspace."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_EXAMPLES = re.compile(r"(\d+) passing")
_KEY = "property examples"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Carry the number of property examples over to the report, also from a worker process."""
    outcome = yield
    told = getattr(item, "hypothesis_statistics", "")
    if call.when == "call" and told:
        outcome.get_result().user_properties.append((_KEY, sum(map(int, _EXAMPLES.findall(told)))))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many property examples ran."""
    reports = [r for group in terminalreporter.stats.values() for r in group if isinstance(r, pytest.TestReport)]
    examples = sum(int(str(n)) for r in reports if r.when == "call" for key, n in r.user_properties if key == _KEY)
    terminalreporter.write_line(f"property examples: {examples}")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder for an agent to work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
