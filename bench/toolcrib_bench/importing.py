"""What `import toolcrib` costs a program: CPU and memory, beside `import pydantic` and an empty interpreter."""

import os
import subprocess
import sys
from collections.abc import Iterator

from toolcrib_bench.figures import Figure, figure

PROBE = """
import time
before = time.process_time()
{what}
took = time.process_time() - before
try:  # the peak of this program alone: getrusage would count what the parent held when it forked
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
except OSError:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(took, peak)
"""


def run() -> Iterator[Figure]:
    """The best of several fresh interpreters."""
    cpu, memory = probe("import toolcrib; from toolcrib import Crib, tool")
    floor_cpu, floor_memory = probe("import pydantic; pydantic.BaseModel")
    _, empty = probe("pass")
    yield figure("import", "import toolcrib, CPU (floor: import pydantic)", cpu * 1e3, "ms", floor_cpu * 1e3)
    yield figure("import", "import toolcrib, resident memory of the process", memory, "MiB", floor_memory)
    yield figure("import", "import toolcrib, memory over an empty interpreter", memory - empty, "MiB")


def warm() -> dict[str, str]:
    """An environment in which the first start leaves compiled modules behind, as it does for those who use it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def probe(what: str, repeats: int = 7) -> tuple[float, float]:
    """CPU seconds and MiB of one import in an interpreter of its own."""
    command = [sys.executable, "-c", PROBE.format(what=what)]
    lines = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=warm()).stdout for _ in range(repeats)
    ]
    pairs = [tuple(map(float, line.split())) for line in lines]
    return min(cpu for cpu, _ in pairs), min(memory for _, memory in pairs) / 1024
