"""Whole results that were too long for a model, kept for a day so that they can be read piece by piece."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Attachment, Caller
from toolcrib.core.errors import ToolFailed

BYTES_KEPT = 200 * 1024 * 1024
SECONDS_KEPT = 24 * 60 * 60


class Kept(Struct, frozen=True, kw_only=True):
    """A result as it is kept, and whose it is."""

    agent: str
    session: str
    at: float
    text: str
    attachments: tuple[Attachment, ...] = ()

    @property
    def size(self) -> int:
        """Roughly the bytes that it takes."""
        return len(self.text) + sum(len(one.data) for one in self.attachments)

    def belongs_to(self, caller: Caller) -> bool:
        """Only who made it may read it: the same agent in the same session."""
        return (self.agent, self.session) == (caller.agent, caller.session)


class Results(Protocol):
    """Keeps whole results within a bound of bytes and a day of time; the oldest give way."""

    async def keep(self, call: str, caller: Caller, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Keep a result under the id of its call."""
        ...

    async def read(self, call: str, caller: Caller) -> Kept:
        """The whole result. Refused with `result_not_found` when it is gone, or not this caller's."""
        ...


def no_result(call: str) -> ToolFailed:
    """The refusal of an id: the same whether it never was, is gone, or is somebody else's."""
    return ToolFailed(
        f"There is no kept result {call!r}.",
        code="result_not_found",
        hint="Results are kept for a day, for the agent and session that made them. Make the call again.",
    )
