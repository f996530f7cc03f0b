"""How many property examples ran: each process adds to the file that the test command names."""

import os
from pathlib import Path

NAMED = "TOOLCRIB_EXAMPLES_FILE"


def count(n: int = 1) -> None:
    """Add to the number of examples run."""
    if name := os.environ.get(NAMED):
        with Path(name).open("a", encoding="ascii") as file:
            file.write(f"{n}\n")


def total(path: Path) -> int:
    """The sum of what was counted."""
    return sum(map(int, path.read_text(encoding="ascii").split())) if path.exists() else 0
