"""How requirements are written down: one a line, `id | what holds | where it says so`."""

from typing import NamedTuple


class Requirement(NamedTuple):
    """One statement of the seeds or the specification that a test can show to hold."""

    id: str
    text: str
    source: str
    deferred: str = ""  # why no test shows it yet; empty: one must


def table(source: str, rows: str, *, deferred: str = "") -> tuple[Requirement, ...]:
    """Read a table. A row without its own source has the table's."""
    return tuple(_row(line, source, deferred) for line in rows.splitlines() if line.strip())


def _row(line: str, source: str, deferred: str) -> Requirement:
    name, text, *own = (cell.strip() for cell in line.split(" | "))
    return Requirement(name, text, own[0] if own else source, deferred)
