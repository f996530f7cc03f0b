"""Which headers may be sent, which go along to another host, and what a redirect makes of a request."""

import re

from msgspec import Struct

from toolcrib.core.errors import ToolFailed
from toolcrib.machine.http.bodies import ENCODINGS
from toolcrib.safety.urls import Url
from toolcrib.services.http import Pairs

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
SAFE = ("GET", "HEAD", "OPTIONS")
REDIRECTS = (301, 302, 303, 307, 308)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_MOST, _MOST_CHARACTERS = 64, 32 * 1024
# The client writes these itself: whoever writes them can smuggle a second request into the first.
_OURS = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect",
    "accept-encoding", "proxy-connection", "proxy-authenticate", "http2-settings",
})  # fmt: skip
# Any other header may carry a credential, whatever its name.
_HARMLESS = frozenset({"accept", "accept-language", "user-agent"})


class Hop(Struct, frozen=True):
    """One request on the way: the one that was asked for, or one that a redirect asks for."""

    url: Url
    method: str
    headers: Pairs
    body: bytes


def check_headers(headers: Pairs) -> None:
    """Raise ToolFailed for a header that cannot be sent, or that is not the caller's to write."""
    if len(headers) > _MOST or sum(len(name) + len(value) for name, value in headers) > _MOST_CHARACTERS:
        raise ToolFailed(
            f"There are too many headers: at most {_MOST}, and {_MOST_CHARACTERS:,} characters of them.",
            code="bad_header",
        )
    for name, value in headers:
        if _TOKEN.fullmatch(name) is None:
            raise ToolFailed(f"{name[:60]!r} is no header's name.", code="bad_header")
        if _VALUE.fullmatch(value) is None:
            raise ToolFailed(
                f"The header {name} holds a line break or another character that no header may hold.",
                code="bad_header",
                hint="Headers are plain ASCII on one line; encode what is not.",
            )
        if name.lower() in _OURS:
            raise ToolFailed(f"The header {name} is written by the client; leave it out.", code="bad_header")


def wire_headers(hop: Hop, agent: str) -> list[tuple[bytes, bytes]]:
    """The headers as they are sent."""
    given = {name.lower() for name, _ in hop.headers}
    headers = [("Host", hop.url.netloc)]
    headers += [
        (name, value) for name, value in (("User-Agent", agent), ("Accept", "*/*")) if name.lower() not in given
    ]
    headers += [("Accept-Encoding", ENCODINGS), *hop.headers]
    if hop.body or hop.method not in SAFE:
        headers.append(("Content-Length", str(len(hop.body))))
    return [(name.encode("ascii"), value.encode("ascii")) for name, value in headers]


def after_redirect(hop: Hop, status: int, url: Url) -> Hop | None:
    """The request that a redirect asks for; None if it would carry a body to another host."""
    method, body = hop.method, hop.body
    if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
        method, body = "GET", b""
    headers = hop.headers
    if not body:
        headers = tuple((name, value) for name, value in headers if not name.lower().startswith("content-"))
    if url.origin == hop.url.origin:
        return Hop(url, method, headers, body)
    if method not in SAFE:
        return None
    return Hop(url, method, tuple((name, value) for name, value in headers if name.lower() in _HARMLESS), b"")
