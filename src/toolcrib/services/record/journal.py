"""The memory of calls that must not run twice: a key is claimed before the tool runs, the outcome is kept after."""

from contextlib import suppress
from enum import StrEnum
from hashlib import sha256
from typing import Protocol

import msgspec
from msgspec import Struct

from toolcrib.core.call import Caller

DAYS_KEPT = 7


class ClaimState(StrEnum):
    """What is known of a key."""

    FRESH = "fresh"  # nobody used it: it is yours now, run the tool
    REPLAY = "replay"  # the tool has run: here is what came back
    RUNNING = "running"  # the tool runs at this moment
    UNKNOWN = "unknown"  # it was started, and the process died before a result: nobody knows what it did
    MISMATCH = "mismatch"  # the key was used with other arguments


class Claim(Struct, frozen=True):
    """The answer to a claim; `outcome` comes with a replay."""

    state: ClaimState
    outcome: bytes = b""


class Journal(Protocol):
    """Keeps claims and outcomes. Of claims made at the same moment exactly one is fresh."""

    async def claim(self, scope: str, key: str, fingerprint: str) -> Claim:
        """Claim a key within its scope."""
        ...

    async def keep(self, scope: str, key: str, outcome: bytes) -> None:
        """Keep what came back, for every later claim."""
        ...

    async def drop(self, scope: str, key: str) -> None:
        """Give a key back: nothing has happened, and the call may be tried again."""
        ...

    async def prune(self, before: float) -> int:
        """Forget keys claimed before that time; says how many. It also happens by itself after seven days."""
        ...


def scope_of(caller: Caller, tool: str) -> str:
    """A key means something only for one agent, session and tool."""
    return repr((caller.agent, caller.session, tool))  # no two lists of parts give the same


def fingerprint(arguments: bytes) -> str:
    """The same for the same arguments, however they are spaced and ordered."""
    with suppress(ValueError, RecursionError):  # not JSON: the bytes themselves have to be the same
        arguments = msgspec.json.encode(msgspec.json.decode(arguments), order="sorted")
    return sha256(arguments).hexdigest()
