"""Who asks, what is asked, what comes back, and what is written down.

Request(tool, arguments) + Caller  ──►  Outcome        and one Record of it
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from toolcrib.core.errors import Fault

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
Raw: TypeAlias = "bytes | str | Mapping[str, object]"


class Where(StrEnum):
    """In which hands a tool works."""

    MAIN = "main"
    SUB_AGENT = "sub_agent"


class Spawn(Struct, frozen=True, cache_hash=True):
    """How a task came to be, and what bounds it.

    A self-spawned task holds at most what its spawner `held`. A task that runs as another agent has `held` None
    and is bounded by what that agent holds itself.
    """

    held: frozenset[str] | None = None


class Caller(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who asks, and from where. The same for every call of one turn."""

    agent: str
    user: str = ""
    session: str = ""
    parents: tuple[str, ...] = ()  # session keys of the spawners, nearest first
    depth: int = 0  # 0 is a main agent
    provider: str = ""
    model: str = ""
    team: str = ""
    group: str = ""  # a channel's group, for its allow list
    channel: str = ""
    chat: str = ""
    workspace: str = ""
    toolboxes: tuple[str, ...] | None = None  # a task's frozen toolboxes; None: the agent's own
    only: tuple[str, ...] | None = None  # the request list: () means no tools
    spawn: Spawn | None = None

    @property
    def where(self) -> Where:
        """Main hands, or a sub-agent's."""
        return Where.SUB_AGENT if self.depth else Where.MAIN


class Request(Struct, frozen=True, gc=False):
    """One call as it was asked for. `key` makes it idempotent: the same key never runs the tool twice."""

    tool: str
    arguments: Raw = b"{}"
    id: str = ""
    key: str = ""


class Status(StrEnum):
    """How a call ended."""

    DONE = "done"
    REFUSED = "refused"  # a step before the tool said no: nothing has happened
    FAILED = "failed"  # the tool ran and did not do what was asked
    CANCELLED = "cancelled"


class Attachment(Struct, frozen=True, omit_defaults=True):
    """Something that goes along with a text: an image, a file, a sound."""

    name: str
    media_type: str
    data: bytes = b""
    uri: str = ""


class Result(Struct, frozen=True, kw_only=True):
    """What a tool gives back when a plain value does not say enough."""

    text: str = ""
    person: str | None = None  # what a person should read; None: the same as the model
    structured: object = None
    attachments: tuple[Attachment, ...] = ()
    failed: str = ""  # the code, when the tool says itself that it did not do what was asked
    wire: object = None  # the answer as another protocol gave it, to be handed on as it came
    size: int = 0  # about how many characters that has
    read: "Callable[[Any], Result] | None" = None  # from the wire, once it holds no secrets, to all of the above


class Outcome(Struct, frozen=True, kw_only=True, gc=False):
    """What comes back from a call, whatever happened."""

    id: str
    tool: str
    status: Status
    text: str = ""  # for the model
    person: str | None = None  # for the person, where it differs
    structured: object = None
    attachments: Sequence[Attachment] = ()
    wire: object = None  # the answer as another protocol gave it
    error: Fault | None = None
    spilled: str = ""  # the id of the whole result, when `text` is only its head and tail
    replayed: bool = False  # answered from the record of an earlier call with the same key

    @property
    def ok(self) -> bool:
        """Whether the tool did what was asked."""
        return self.error is None

    def as_json(self) -> dict[str, object]:
        """The shape that programs get."""
        told: dict[str, object] = {"id": self.id, "tool": self.tool, "status": self.status.value}
        if self.error is not None:
            return {**told, "error": self.error.as_json()}
        told["text"] = self.text
        if self.structured is not None:
            told["structured"] = msgspec.to_builtins(self.structured)
        optional = ((key, getattr(self, key)) for key in ("person", "attachments", "spilled", "replayed"))
        return told | {key: msgspec.to_builtins(value) for key, value in optional if value}


class Record(Struct, frozen=True, kw_only=True, gc=False):
    """One line of audit, as the pipeline hands it over. The writer scrubs, chains and stores it."""

    id: str
    at: float  # seconds since 1970
    caller: Caller
    tool: str
    arguments: bytes
    status: Status
    code: str = ""
    seconds: float = 0.0
    size: int = 0  # bytes of the result's text
    verdicts: tuple[str, ...] = ()  # what the guards said, where they said anything
    approval: str = ""
    generation: int = 0  # of the registry snapshot
