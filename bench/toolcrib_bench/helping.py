"""What `toolcrib --help` costs, CPU of the whole process, beside an interpreter that does nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator

from toolcrib_bench.figures import Figure, figure


def run() -> Iterator[Figure]:
    """The best of several runs."""
    ours, floor = _cpu(["-m", "toolcrib", "--help"]), _cpu(["-c", "pass"])
    yield figure("help", "toolcrib --help, CPU", ours * 1e3, "ms", floor * 1e3)


def _cpu(arguments: list[str], repeats: int = 7) -> float:
    low = float("inf")
    for _ in range(repeats):
        before = os.times()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        after = os.times()
        used = after.children_user - before.children_user + after.children_system - before.children_system
        low = min(low, used)
    return low
