"""Who may come in, and from where. A page of another site must not speak to a server on this machine."""

from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from toolcrib.core.call import JsonObject
from toolcrib.faces.mcp.wire import encode
from toolcrib.services.people.principal import Principal, Role

SCOPE = "mcp"
_LOOPBACK = frozenset({b"localhost", b"127.0.0.1", b"[::1]"})
METADATA = "/.well-known/oauth-protected-resource"


class Tokens(Protocol):
    """Knows the tokens that clients show, keys and those of an authorization server."""

    async def principal(self, key: str) -> Principal | None:
        """Whose token it is, or None."""
        ...


class Refused(Exception):
    """An answer of HTTP's own: nothing of the protocol was read."""

    def __init__(self, status: int, what: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        super().__init__(what)
        self.status = status
        self.headers = headers or []
        told = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": what}}
        self.body = encode(told)


class Rules(Struct, frozen=True, kw_only=True):
    """What a door goes by."""

    knows: Callable[[str], bool]  # whether a Host header names this server
    tokens: Tokens | None = None  # None: sign-in is off
    nobody: Principal | None = None  # who it is then
    url: str = ""  # how clients reach the server, where that differs from what they say
    servers: tuple[str, ...] = ()  # authorization servers whose tokens are taken


class Door:
    """Looks at the headers of every request."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._known: dict[bytes, bool] = {}

    def placed(self, headers: Mapping[bytes, bytes]) -> None:
        """The right host, and no page of another site. Raises Refused."""
        host, origin = headers.get(b"host", b""), headers.get(b"origin")
        if not self._knows(host):
            raise Refused(421, "This server is not called that. Name it under `server: hosts:` in toolcrib.yaml.")
        if origin is not None and not self._same(_host_of(origin), host):
            raise Refused(403, "A page of another site sent this.")

    def _same(self, origin: bytes, host: bytes) -> bool:
        """Whether a page comes from this very server, or both are on this machine."""
        page, here = _name(origin), _name(host)
        return self._knows(origin) and (page == here or (page in _LOOPBACK and here in _LOOPBACK))

    def _knows(self, host: bytes) -> bool:
        known = self._known.get(host)
        if known is None:
            if len(self._known) > 1000:
                self._known.clear()
            known = self._known[host] = self._rules.knows(host.decode("latin-1"))
        return known

    async def admitted(self, headers: Mapping[bytes, bytes], path: str, agent: str) -> Principal | None:
        """Who it is. Raises Refused."""
        tokens = self._rules.tokens
        if tokens is None:
            return self._rules.nobody
        word, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        principal = await tokens.principal(token.strip()) if word.lower() == "bearer" else None
        if principal is None:
            known = "That key is not known here, or holds no more. " if token and word.lower() == "bearer" else ""
            wanted = f"{known}Send a key: `Authorization: Bearer tcb_...`."
            raise Refused(401, wanted, self._challenge(headers, path, token))
        if not principal.may(Role.OPERATOR, SCOPE):
            raise Refused(403, f"This key may not use tools: it needs the role operator and the scope {SCOPE}.")
        if not principal.may_act_as(agent):
            raise Refused(403, "This key may not act as that agent.")
        return principal

    def _challenge(self, headers: Mapping[bytes, bytes], path: str, token: str) -> list[tuple[bytes, bytes]]:
        said = 'Bearer realm="toolcrib"' + (', error="invalid_token"' if token else "")
        if self._rules.servers:
            said += f', resource_metadata="{self._base(headers)}{METADATA}{path}", scope="{SCOPE}"'
        return [(b"www-authenticate", said.encode())]

    def _base(self, headers: Mapping[bytes, bytes]) -> str:
        return self._rules.url.rstrip("/") or f"http://{headers.get(b'host', b'').decode('latin-1')}"

    def metadata(self, headers: Mapping[bytes, bytes], path: str) -> JsonObject | None:
        """What a client needs to know to sign in elsewhere; None where no such tokens are taken."""
        if not self._rules.servers:
            return None
        return {
            "resource": self._base(headers) + path.removeprefix(METADATA),
            "authorization_servers": list(self._rules.servers),
            "scopes_supported": [SCOPE],
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolcrib",
        }


def _name(host: bytes) -> bytes:
    """A host without its port."""
    name, colon, port = host.rpartition(b":")
    return name if colon and port.isdigit() else host


def _host_of(origin: bytes) -> bytes:
    try:
        parts = urlsplit(origin.decode("latin-1"))
    except ValueError:
        return b""
    return parts.netloc.encode("latin-1") if parts.scheme in {"http", "https"} else b""
