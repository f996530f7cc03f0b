"""Which names a server answers to, and which pages may speak to it: a page of another site must not."""

from collections.abc import Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL = ("localhost",)


class Hosts:
    """Names and addresses. An address is always itself; only a name can be made to point elsewhere later."""

    def __init__(self, names: Iterable[str] = (), url: str = "", host: str = "") -> None:
        own = urlsplit(url).hostname if url else None
        given = {*_LOCAL, *names, *((own,) if own else ()), *((host,) if host else ())}
        self._names = frozenset(name.lower().rstrip(".") for name in given)

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = _name(host)
        if name is None:
            return False
        if name in self._names or name.endswith(".localhost"):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def same_origin(origin: str, host: str) -> bool:
    """Whether a page of this origin was served by this host."""
    if not origin or origin == "null":
        return False
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError:
        return False
    standard = {"http": 80, "https": 443}.get(parts.scheme)
    return (parts.hostname or "", port or standard) in {
        (_name(host), _port(host) or 80),
        (_name(host), _port(host) or 443),
    }


def _name(host: str) -> str | None:
    try:
        found = urlsplit(f"//{host}").hostname
    except ValueError:
        return None
    return found.lower().rstrip(".") if found else None


def _port(host: str) -> int | None:
    try:
        return urlsplit(f"//{host}").port
    except ValueError:
        return None
