"""The one way out: a port for HTTP requests, and the rules of a configuration that hold for them.

Every failure is a ToolError: `url_refused`, `domain_not_allowed`, `bad_header`, `not_reachable`, `bad_response`,
`too_many_redirects`, `tls_failed`, TimedOut or RateLimited. None of them carries a header or a body that was sent.
"""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from toolcrib.core.call import Caller

BYTES = 1024 * 1024
SECONDS, MOST_SECONDS = 30.0, 120.0
Pairs = tuple[tuple[str, str], ...]


class Bucket(Struct, frozen=True):
    """How often: `calls` in `seconds`, all at once or one by one."""

    calls: int
    seconds: float = 60.0


class Network(Struct, frozen=True, kw_only=True):
    """What a configuration says about the way out. None as a list is no rule; an empty one lets nothing pass."""

    allow: tuple[str, ...] | None = None  # domains: exact, or *.below
    agents: Mapping[str, tuple[str, ...]] = {}  # agent: the only domains that it reaches
    tools: Mapping[str, tuple[str, ...]] = {}  # tool: the only domains that it reaches
    allow_private: tuple[str, ...] = ()  # host, host:port, address or block that may be reached though not public
    buckets: Mapping[str, Bucket] = {}  # what a rate_limit_key names


class Outgoing(Struct, frozen=True, kw_only=True):
    """A request to be sent. Without `caller` it is the house's own, to a host that a configuration names."""

    url: str
    method: str = "GET"
    headers: Pairs = ()
    body: bytes = b""
    caller: Caller | None = None
    tool: str = ""
    bucket: str = ""
    seconds: float = SECONDS  # from the look-up to the last byte, redirects included
    limit: int = BYTES  # bytes of body, counted unpacked
    redirects: int = 5  # with 0 a redirect is an answer like any other
    private: tuple[str, ...] = ()  # opened for this request, by the house only


class Incoming(Struct, frozen=True, kw_only=True):
    """What came back."""

    url: str  # where it came from in the end
    status: int
    reason: str
    headers: Pairs
    body: bytes
    cut: bool = False  # there is more than the limit
    hops: tuple[str, ...] = ()  # the addresses on the way, without the last
    address: str = ""  # what was connected to
    note: str = ""  # what the reader should know, such as a redirect that was not followed

    def header(self, name: str) -> str:
        """The first header of that name; "" if there is none."""
        low = name.lower()
        return next((value for key, value in self.headers if key.lower() == low), "")


class Http(Protocol):
    """Sends requests, guarded."""

    async def send(self, request: Outgoing) -> Incoming:
        """Send it, follow its redirects, and give what came back."""
        ...
