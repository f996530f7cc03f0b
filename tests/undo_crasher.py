"""A process for the tests: writes a.txt and dies at a moment that is named, as kill -9 would have it."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from toolcrib import Crib
from toolcrib.core.call import Request
from toolcrib.machine.undo.copies import FileCopies
from toolcrib.services.config.reading import read_config
from toolcrib.stores import sql

CONFIG = "agents: {helper: {toolboxes: [all]}}"
MOMENTS = ("copied", "noted", "drafted", "written", "undo noted", "undo drafted", "undo written")


def die() -> None:
    """Nothing of ours runs after this."""
    os.kill(os.getpid(), signal.SIGKILL)


class Copies(FileCopies):
    """Dies when a copy is made."""

    def keep(self, data: bytes) -> str:
        super().keep(data)
        die()
        return ""


class Log:
    """Stands before the log and dies when the n-th entry is made, or when an undo is marked as done."""

    def __init__(self, log: Any, entries: int, *, marks: bool) -> None:
        self._log = log
        self._left = entries
        self._marks = marks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def adding(self, entry: Any) -> int:
        number = self._log.adding(entry)
        self._left -= 1
        if not self._left:
            die()
        return number

    async def mark(self, numbers: Any, undo: str) -> None:
        if self._marks:
            die()
        await self._log.mark(numbers, undo)


def opened(place: Path, *, copies: type[FileCopies] = FileCopies, log: Any = None) -> Crib:
    """The crib of a place."""
    store = sql.open_store(f"sqlite:///{place}/crib.db", scrub=lambda text: text)
    if log is not None:
        store.undo = log(store.undo)
    config = read_config(CONFIG, env={})
    return Crib(native=True, store=store, config=config, workspace=str(place), copies=copies(place / ".undo"))


def on_rename(count: int) -> None:
    """Die at the n-th time that a file is about to be put in place of a.txt."""
    left = [count]

    def hook(event: str, given: Any) -> None:
        if event == "os.rename" and given[1] == "a.txt":
            left[0] -= 1
            if not left[0]:
                die()

    sys.addaudithook(hook)


async def main() -> None:
    """undo_crasher.py PLACE MOMENT."""
    place, moment = Path(sys.argv[1]), sys.argv[2]
    noted = {"noted": 1, "undo noted": 2}.get(moment, 0)
    crib = opened(
        place,
        copies=Copies if moment == "copied" else FileCopies,
        log=lambda log: Log(log, noted, marks=moment == "undo written"),
    )
    if moment == "written":
        crib.after.append(lambda call, value: die())
    if moment.endswith("drafted"):
        on_rename(2 if moment.startswith("undo") else 1)
    turn = await crib.turn("helper", session="talk")
    await turn.batch([Request("write_file", {"path": "a.txt", "content": "new"}, id="w1")])
    await crib.store.audit.settle()
    await crib.undo("w1")
    print("lived", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
