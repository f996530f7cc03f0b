"""What the scrubber takes and leaves on labelled texts, how fast it is, and what it costs on short ones."""

import random
import re
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from toolcrib.safety.scrub import Scrubber
from toolcrib_bench.figures import Figure, best, figure
from toolcrib_bench.scrub_cases import DATA, negatives, positives
from toolcrib_bench.scrub_stream import kinds

SEEDS = (1, 2, 3)
SAMPLE = 6_000_000  # characters of source
CLEAN = "The quick brown fox jumps over the lazy dog and then it does the same thing again for a while yes."
# The eight families of the seed as plain `re`, one after another: what a scrubber must not be slower than.
FLOOR = tuple(
    re.compile(pattern)
    for pattern in (
        r"s[k]-[a-zA-Z0-9]{20,}",
        r"s[k]-ant-[a-zA-Z0-9-]{20,}",
        r"gh[pousr]_[a-zA-Z0-9]{36}",
        r"A[K]IA[A-Z0-9]{16}",
        r"(?i)(?:api_key|token|secret|password|bearer|authorization)[:=]\s*\S{8,}",
        r"(?:postgres|mysql|mongodb|redis)://\S+",
        r"(?:KEY|SECRET|CREDENTIAL|DSN|VIRTUAL_\w+)=\S+",
        r"\b[a-fA-F0-9]{64,}\b",
    )
)


def run() -> Iterator[Figure]:
    """All figures."""
    scrub = Scrubber()
    scrub("password=hunter2")
    if DATA.is_dir():
        yield from _labelled(scrub)
    yield from _streamed(scrub)
    yield from _speed(scrub)
    yield from _registered()
    yield from _hostile(scrub)
    yield from _short(scrub)


def _floor(text: str) -> str:
    for pattern in FLOOR:
        text = pattern.sub("[REDACTED]", text)
    return text


def _labelled(scrub: Scrubber) -> Iterator[Figure]:
    total: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    floor: Counter[str] = Counter()
    for case in (case for seed in SEEDS for case in positives(seed)):
        for tier in (case.tier, "all"):
            total[tier] += 1
            taken[tier] += case.secret not in scrub(case.text)
            floor[tier] += case.secret not in _floor(case.text)
    for tier, count in total.items():
        yield figure("scrub", f"recall, {tier}", 100 * taken[tier] / count, "%", 100 * floor[tier] / count)
    benign = [case for seed in SEEDS for case in negatives(seed)]
    changed = sum(scrub(case.text) != case.text for case in benign)
    spoilt = sum(_floor(case.text) != case.text for case in benign)
    yield figure("scrub", "benign rows changed", 100 * changed / len(benign), "%", 100 * spoilt / len(benign))
    strict = [case for case in benign if case.tier in {"hash", "id", "lock", "cert"}]
    changed = sum(scrub(case.text) != case.text for case in strict)
    spoilt = sum(_floor(case.text) != case.text for case in strict)
    yield figure("scrub", "hashes, ids, lock files, certificates changed", changed, "rows", spoilt)


def _streamed(scrub: Scrubber) -> Iterator[Figure]:
    size = marks = spoilt = 0
    began = time.perf_counter()
    for name, text in kinds():
        taken = scrub(text).count("[REDACTED:")
        size, marks = size + len(text), marks + taken
        if taken:
            yield figure("scrub", f"redactions in {name}", 1e6 * taken / len(text), "1/MB")
    seconds = time.perf_counter() - began
    for _, text in kinds():
        spoilt += _floor(text).count("[REDACTED]")
    yield figure("scrub", "redactions in benign output", 1e6 * marks / size, "1/MB", 1e6 * spoilt / size)
    yield figure("scrub", "speed on benign output, first time, making it included", size / 1e6 / seconds, "MB/s")


def _registered() -> Iterator[Figure]:
    """With a thousand registered values: how fast texts go through, and what one more value costs."""
    scrub = Scrubber((f"v{n}", f"{n:06x} a value that is known") for n in range(1000))
    text = "".join(text[:100_000] for _, text in kinds())
    scrub(text[:20_000])
    yield figure("scrub", "speed, 1,000 registered values", len(text) / 1e6 / best(lambda: scrub(text), 1, 2), "MB/s")

    def one_more() -> None:
        scrub.add("one-more", str(time.perf_counter()))
        scrub("a short text")

    yield figure("scrub", "one more value beside 1,000", best(one_more, 3, 2) * 1e3, "ms")


def _hostile(scrub: Scrubber) -> Iterator[Figure]:
    """The slowest of texts that are made to be slow, and one line of ten megabytes."""
    units = (
        "a=",
        "password=",
        "://a:b@",
        "%41",
        "&quot;",
        "kind: Secret\n",
        "sk" + "-proj-\n",
        "-us1",
        "sk-",
        "token is ",
        "Authorization: Basic ",
    )
    worst = max(best(lambda unit=unit: scrub(unit * (200_000 // len(unit))), 1, 1) for unit in units)
    yield figure("scrub", "slowest hostile text", worst * 5, "s/MB")
    line = "x y=z, " * 1_500_000
    yield figure("scrub", "one line of 10 MB", best(lambda: scrub(line), 1, 1), "s")


def chunks() -> list[str]:
    """Output as tools give it: source, JSON and log lines, in pieces of 2 to 64 thousand characters."""
    pick = random.Random(7)  # noqa: S311 - sizes of chunks
    texts: list[str] = []
    size = 0
    for path in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*")):
        if path.suffix not in {".py", ".json", ".md", ".txt", ".toml", ".js"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")[: pick.randrange(2_000, 64_000)]
        if pick.random() < 0.5:
            texts.append(text)
            size += len(text)
        if size > SAMPLE:
            break
    texts += [_log(pick) for _ in range(40)]
    return texts


def _log(pick: random.Random) -> str:
    line = '2026-11-18T10:{:02}:{:02}Z INFO {{"path": "/api/items/{}", "status": 200, "ms": {}, "trace": "{:032x}"}}\n'
    return "".join(
        line.format(pick.randrange(60), pick.randrange(60), pick.randrange(9999), pick.random(), pick.getrandbits(128))
        for _ in range(200)
    )


def _speed(scrub: Scrubber) -> Iterator[Figure]:
    texts = chunks()
    size = sum(map(len, texts)) / 1e6
    marks = sum(scrub(text).count("[REDACTED:") - text.count("[REDACTED:") for text in texts)
    seconds = _all(scrub, texts)
    floor = _all(_floor, texts)
    yield figure("scrub", "speed", size / sum(seconds), "MB/s", size / sum(floor))
    slow = sorted(1e6 * second / len(text) for second, text in zip(seconds, texts, strict=True) if len(text) > 2000)
    yield figure("scrub", "p99 of a chunk", slow[int(len(slow) * 0.99)], "s/MB")
    spoilt = sum(_floor(text).count("[REDACTED]") for text in texts)
    yield figure("scrub", "redactions in installed packages and logs", marks / size, "1/MB", spoilt / size)


def _all(scrub: Callable[[str], str], texts: Sequence[str]) -> list[float]:
    """Seconds for each text: the better of two rounds."""
    rounds: list[list[float]] = []
    for _ in range(2):
        seconds: list[float] = []
        for text in texts:
            began = time.perf_counter()
            scrub(text)
            seconds.append(time.perf_counter() - began)
        rounds.append(seconds)
    return [min(pair) for pair in zip(*rounds, strict=True)]


def _short(scrub: Scrubber) -> Iterator[Figure]:
    fresh = [f"{CLEAN[:-6]}{number:05}." for number in range(2_000)]
    for name, texts in (
        ("3 characters", ["abc"]),
        ("100 clean characters", fresh),
        ("a field name seen before", ["content_type"]),
    ):
        value = best(lambda texts=texts: [scrub(text) for text in texts], 2_000 // len(texts)) / len(texts)
        floor = best(lambda texts=texts: [_floor(text) for text in texts], 2_000 // len(texts)) / len(texts)
        yield figure("scrub", f"one call, {name}", value * 1e6, "us", floor * 1e6)


if __name__ == "__main__":
    for line in run():
        print(msgspec.json.encode(line).decode())
