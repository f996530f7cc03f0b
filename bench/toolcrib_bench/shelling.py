"""What the shell analyser says of labelled commands, of proven ways around it, and how long it takes."""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from toolcrib.safety.shell import Judged, judge
from toolcrib_bench.evasions import BASES, TECHNIQUES
from toolcrib_bench.figures import Figure, figure

DATA = Path(__file__).parent.parent / "data"
ROUNDS = 3


def rows(kind: str) -> list[str]:
    """The commands of one labelled list."""
    lines = (DATA / f"shell_{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["cmd"] for line in lines]


def crossed() -> list[str]:
    """Every technique with every command that nobody may run."""
    return [technique(base) for technique in TECHNIQUES.values() for base in BASES]


def share(commands: Sequence[str], fits: Callable[[Judged], bool]) -> float:
    """How many of a hundred."""
    return 100 * sum(fits(judge(command)) for command in commands) / len(commands)


def run() -> Iterator[Figure]:
    """Shares first, then times."""
    dangerous, deadly = rows("dangerous") + rows("must_deny"), rows("must_deny")
    looks, daily = rows("readonly"), rows("everyday")
    yield _share(f"dangerous stopped, of {len(dangerous)}", dangerous, _stopped)
    yield _share(f"must-deny denied, of {len(deadly)}", deadly, _denied)
    yield _share(f"read-only unasked, of {len(looks)}", looks, _free)
    yield _share(f"read-only denied, of {len(looks)}", looks, _denied)
    yield _share(f"everyday denied, of {len(daily)}", daily, _denied)
    yield _share(f"everyday unasked, of {len(daily)}", daily, _free)
    cross = crossed()
    yield _share(f"evasions stopped, of {len(cross)}", cross, _stopped)
    taken = sorted(_times([*dangerous, *looks, *daily]))
    yield figure("shell", "verdict p50", taken[len(taken) // 2] * 1e6, "us")
    yield figure("shell", "verdict p99", taken[int(len(taken) * 0.99)] * 1e6, "us")
    yield figure("shell", "verdict worst", taken[-1] * 1e6, "us")
    for name, text in huge():
        began = time.perf_counter()
        verdict = judge(text).verdict
        yield figure("shell", f"{name}: {verdict}", (time.perf_counter() - began) * 1e3, "ms")


def huge() -> Iterator[tuple[str, str]]:
    """Input at and beyond the limits."""
    pick = random.Random(7)  # noqa: S311 - noise
    yield "1 MB of words", "a " * 500_000
    yield "1 MB of noise", "".join(pick.choices("ab$({})'\"|;&<>\\ \n", k=1_000_000))
    yield "60 kB of words", "echo " + "a " * 29_000
    yield "60 kB of open brackets", "$(" * 29_990
    yield "60 kB of noise", "".join(pick.choices("ab$({})'\"|;&<>\\ \n", k=59_000))
    yield "10,000 sub-commands", ";".join(["ls"] * 10_000)
    yield "900 sub-commands", ";".join(["ls"] * 900)


def _times(commands: Sequence[str]) -> Iterator[float]:
    for command in commands:
        low = float("inf")
        for _ in range(ROUNDS):
            began = time.perf_counter()
            judge(command)
            low = min(low, time.perf_counter() - began)
        yield low


def _share(name: str, commands: Sequence[str], fits: Callable[[Judged], bool]) -> Figure:
    return figure("shell", name, share(commands, fits), "%")


def _stopped(judged: Judged) -> bool:
    return judged.verdict != "allow"


def _denied(judged: Judged) -> bool:
    return judged.verdict == "deny"


def _free(judged: Judged) -> bool:
    return judged.verdict == "allow"
