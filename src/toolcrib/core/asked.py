"""One request under way: what becomes its record, and the ports that take what is written down of it."""

import time
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Caller, Outcome, Record, Request
from toolcrib.core.guard import Call, Verdict


class Audit(Protocol):
    """Where records go."""

    @property
    def full(self) -> bool:
        """Whether no more records can wait to be written."""
        ...

    def hand(self, record: Record) -> None:
        """Take a record. It never waits."""
        ...

    async def durable(self, record: Record) -> None:
        """Take a record and come back when it is on disk."""
        ...

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        """A call waits inside its tool: should the program die now, this is what is known of it."""
        ...


class Once(Protocol):
    """Remembers outcomes by idempotency key."""

    async def recall(self, call: Call, key: str) -> Outcome | None:
        """The recorded outcome; or None, and the key is claimed. Raises a ToolError if the call may not run."""
        ...

    async def keep(self, call: Call, key: str, outcome: Outcome) -> None: ...

    async def drop(self, call: Call, key: str) -> None: ...


class Asked(Struct, gc=False):
    """One request under way, and what its record will say."""

    id: str
    request: Request
    caller: Caller
    generation: int
    at: float
    began: float
    said: list[Verdict]
    raw: bytes = b""
    approval: str = ""
    ran: bool = False

    def answered(self, approval: str, raw: bytes) -> None:
        """Note what a person answered, and the arguments that the call has since."""
        self.approval, self.raw = approval, raw

    def record(self, outcome: Outcome) -> Record:
        error = outcome.error
        return Record(
            id=self.id,
            at=self.at,
            caller=self.caller,
            tool=outcome.tool,
            arguments=self.raw,
            status=outcome.status,
            code="" if error is None else error.code,
            seconds=time.perf_counter() - self.began,
            size=len(outcome.text),
            verdicts=tuple(map(str, self.said)) if self.said else (),
            approval=self.approval,
            generation=self.generation,
        )
