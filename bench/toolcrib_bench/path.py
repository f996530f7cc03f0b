"""A guarded read of a small file, beside a bare one; and a race against a link that is swapped meanwhile."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.files import openat
from toolcrib.machine.files.root import Root
from toolcrib_bench.figures import Figure, best, figure

TIMES = 2_000
SECONDS = 3.0


def run() -> Iterator[Figure]:
    """Reads, writes and the race, with openat2 and with the walk that stands in for it."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder) / "workspace"
        (top / "src").mkdir(parents=True)
        (top / "src/a.py").write_bytes(b"x" * 2000)
        whole = str(top / "src/a.py")
        floor = best(lambda: _bare(whole), TIMES) * 1e6
        for name, kernel in (("openat2", True), ("walk", False)):
            if kernel and not openat.available():
                continue
            root = Root(str(top), (".toolcrib",), kernel=kernel)
            yield figure("path", f"read, {name}", best(lambda r=root: r.read("src/a.py"), TIMES) * 1e6, "us", floor)
            escapes, tries = race(root, top)
            yield figure("path", f"escapes of {tries} reads in {SECONDS:g} s, {name}", escapes, "reads")


def _bare(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def race(root: Root, top: Path) -> tuple[int, int]:
    """How many reads came from outside while a folder and a link to the outside changed places."""
    beside = top.parent / "beside"
    for path, words in ((beside, "outside"), (top / "inner", "inside")):
        path.mkdir(exist_ok=True)
        (path / "a").write_text(words)
    with suppress(FileExistsError):
        (top / "link").symlink_to(beside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for source in ("inner", "link"):
                (top / source).rename(top / "door")
                (top / "door").rename(top / source)

    swapper = threading.Thread(target=swap)
    swapper.start()
    escapes = tries = 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        tries += 1
        with suppress(ToolFailed):
            escapes += root.read("door/a").data == b"outside"
    stop.set()
    swapper.join()
    return escapes, tries
