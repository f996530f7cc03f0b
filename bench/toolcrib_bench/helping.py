"""What `toolcrib --help` costs, CPU of the whole process, beside an interpreter that does nothing."""

import resource
import subprocess
import sys
from collections.abc import Iterator

from toolcrib_bench.figures import Figure, figure
from toolcrib_bench.importing import warm


def run() -> Iterator[Figure]:
    """The best of several runs."""
    ours, floor = _cpu(["-m", "toolcrib", "--help"]), _cpu(["-c", "pass"])
    yield figure("help", "toolcrib --help, CPU", ours * 1e3, "ms", floor * 1e3)


def _cpu(arguments: list[str], repeats: int = 7) -> float:
    low = float("inf")
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True, env=warm())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        low = min(low, used)
    return low
