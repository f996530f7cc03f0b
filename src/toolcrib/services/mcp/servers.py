"""MCP servers as values: how one is reached, who agreed to it, what its tools were when somebody looked.

An approval is bound to how a server is started or reached: change that, and it has to be given again.
"""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256

import msgspec
from msgspec import Struct

from toolcrib.core.call import JsonObject

NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
SECONDS = 60.0
_encode = msgspec.json.encode


class Transport(StrEnum):
    """How one speaks to a server."""

    STDIO = "stdio"
    SSE = "sse"
    HTTP = "http"


class Keep(StrEnum):
    """Who shares a session with a server."""

    SHARED = "shared"  # everybody
    USER = "user"  # each user has an own one
    SESSION = "session"  # each session of an agent has an own one


class State(StrEnum):
    """How it stands with a server."""

    PENDING = "pending_approval"
    DISABLED = "disabled"
    IDLE = "idle"  # may be used, and nothing connects in this process
    CONNECTING = "connecting"
    CONNECTED = "connected"
    FAILED = "failed"


class Server(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a server is started or reached, and what holds for it."""

    name: str
    transport: Transport = Transport.STDIO
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = {}
    oauth: Mapping[str, str] = {}  # client_id, client_secret, scope; {} with `auth: oauth` registers by itself
    auth: str = ""  # "oauth": sign in when the server asks for it
    sandbox: bool = False
    keep: Keep = Keep.SHARED
    at_once: int = 16
    seconds: float = SECONDS
    trust_hints: bool = False  # believe its readOnlyHint and destructiveHint
    accept_new: bool = False  # new tools after the approval are there at once
    flow: tuple[str, ...] | None = None  # None: untrusted and sends

    @property
    def mark(self) -> str:
        """What an approval is bound to: a digest of all that decides what runs, or where it is reached."""
        bound = (self.transport, self.command, self.args, dict(self.env), self.cwd, self.url, dict(self.headers))
        return sha256(_encode(bound, order="sorted")).hexdigest()


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server as it is kept. One of toolcrib.yaml is approved by standing there."""

    server: Server
    origin: str = ""  # config, person, import, agent
    created_by: str = ""
    approved: str = ""  # the mark that was agreed to
    approved_by: str = ""
    disabled: bool = False
    revision: int = 0
    changed: float = 0.0  # seconds since 1970

    @property
    def name(self) -> str:
        """The server's name."""
        return self.server.name

    @property
    def usable(self) -> bool:
        """Whether it may be connected to."""
        return not self.disabled and self.approved == self.server.mark


class Pinned(StrEnum):
    """How it stands with a tool of a server."""

    APPROVED = "approved"
    PENDING = "pending"  # it came after the approval, and nobody has looked at it yet
    CHANGED = "changed"  # it is not what was approved any more: quarantined
    GONE = "gone"  # the server does not list it any more


class Pin(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool of a server: its definition as it was approved, and as it is now where that differs."""

    server: str
    tool: str  # the name that the server gives it
    name: str  # the name that it has here
    definition: JsonObject
    state: Pinned = Pinned.APPROVED
    seen: JsonObject | None = None  # what it has become
    by: str = ""
    changed: float = 0.0


class Scope(StrEnum):
    """Whom a grant is about."""

    AGENT = "agent"
    USER = "user"


class McpGrant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent holds of a server, or what a user is narrowed to. Names are those that the server gives."""

    server: str
    scope: Scope
    holder: str
    tool_allow: tuple[str, ...] | None = None  # None: every tool
    tool_deny: tuple[str, ...] = ()
    config_overrides: JsonObject = {}  # env, headers, seconds: for an agent's own session
    enabled: bool = True
    granted_by: str = ""
    granted: float = 0.0

    def passes(self, tool: str) -> bool:
        """Whether a tool may be used under this grant: deny first."""
        if not self.enabled or tool in self.tool_deny:
            return False
        return self.tool_allow is None or tool in self.tool_allow


class Reviewed(StrEnum):
    """How far an access request has come."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


class McpRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody asks for a server, for an agent or for a user."""

    id: str
    server: str
    scope: Scope
    holder: str
    tool_allow: tuple[str, ...] | None = None
    reason: str = ""
    asked_by: str = ""
    asked: float = 0.0
    state: Reviewed = Reviewed.PENDING
    decided_by: str = ""
    decided: float = 0.0


def digest(definition: JsonObject) -> str:
    """What a tool's pin compares: a digest of all that a model reads or a rule is made of."""
    keys = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    kept = {key: definition[key] for key in keys if definition.get(key) is not None}
    return sha256(_encode(kept, order="sorted")).hexdigest()


def changes(old: JsonObject, new: JsonObject) -> tuple[str, ...]:
    """Which parts of a definition differ."""
    words = {"inputSchema": "schema", "outputSchema": "output schema"}
    keys = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
    return tuple(words.get(key, key) for key in keys if _canonical(old.get(key)) != _canonical(new.get(key)))


def _canonical(value: object) -> bytes:
    return _encode(value, order="sorted")
