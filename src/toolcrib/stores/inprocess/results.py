"""Whole results in memory."""

import time
from collections.abc import Sequence

from toolcrib.core.call import Attachment, Caller
from toolcrib.services.content.results import BYTES_KEPT, SECONDS_KEPT, Kept, no_result


class MemoryResults:
    """A dict in the order of time, so that the oldest are found first. Its keys hold whose each is."""

    def __init__(self, *, most: int = BYTES_KEPT, seconds: float = SECONDS_KEPT) -> None:
        self._most = most
        self._seconds = seconds
        self._kept: dict[tuple[str, str, str], Kept] = {}
        self._size = 0

    async def keep(self, call: str, caller: Caller, text: str, attachments: Sequence[Attachment] = ()) -> None:
        made = Kept(
            agent=caller.agent, session=caller.session, at=time.time(), text=text, attachments=tuple(attachments)
        )
        key = (caller.agent, caller.session, call)
        self._drop(key)
        self._kept[key] = made
        self._size += made.size
        self._prune()

    async def read(self, call: str, caller: Caller) -> Kept:
        self._prune()
        found = self._kept.get((caller.agent, caller.session, call))
        if found is None:
            raise no_result(call)
        return found

    def _prune(self) -> None:
        oldest = time.time() - self._seconds
        for key, kept in list(self._kept.items()):
            if self._size <= self._most and kept.at >= oldest:
                break
            self._drop(key)

    def _drop(self, key: tuple[str, str, str]) -> None:
        gone = self._kept.pop(key, None)
        if gone is not None:
            self._size -= gone.size
