"""What may be reached from here: a verdict on a web address, on where its name leads, and on each redirect.

The client asks the same questions with real look-ups, one hop at a time, and connects to the address that passed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from toolcrib.safety.addresses import Address, Networks, fault_of, read_address, read_block
from toolcrib.safety.urls import BadUrl, Url, join, read_host, read_url

REDIRECTS = 5
# Names that only ever mean something near by (RFC 6761, 6762 appendix G, 8375, ICANN's choice of `internal`, and the
# endings that clusters and containers use among themselves).
_NEAR = (
    "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "svc",
    "consul", "docker", "onion",
)  # fmt: skip
_NEAR_ENDINGS = tuple(f".{name}" for name in _NEAR)
# Services whose names lead wherever the name or its owner says: without a look-up nothing is known about them.
_ANYWHERE = (
    "nip.io", "sslip.io", "xip.io", "traefik.me", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "fuf.me",
    "local.gd", "localhost.direct", "yoogle.com", "backname.io", "1u.ms", "rbndr.us", "lock.cmpxchg8b.com",
    "localho.st", "burpcollaborator.net", "127-0-0-1.org.uk", "dod.network",
)  # fmt: skip
_ANYWHERE_ENDINGS = tuple(f".{name}" for name in _ANYWHERE)
# A name that is opened may lead into these; credentials of a cloud and the rest have to be named by their address.
_OPENABLE = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7")

Lookup = Callable[[str], Sequence[str]]
Answers = Mapping[str, Sequence[Any]]  # of a host: its answers, or a list of answers for each look-up


class Judged(Struct, frozen=True, omit_defaults=True):
    """A verdict. `connected` is the address that the last hop would connect to."""

    verdict: str  # "allow" or "deny"
    why: str
    connected: str = ""


class Private:
    """The exceptions that a configuration makes, each `host`, `host:port`, an address, or `address/bits`."""

    def __init__(self, entries: Sequence[str] = ()) -> None:
        """Raises BadUrl for an entry that means nothing."""
        self._names: set[tuple[str, int]] = set()
        blocks: dict[int, list[tuple[Address, int]]] = {}
        for entry in entries:
            host, port = _host_and_port(entry)
            block = read_block(host)
            if block is not None:
                blocks.setdefault(port, []).append(block)
            elif "/" in host:
                raise BadUrl("it is no block of addresses")
            else:
                self._names.add((read_host(host)[0], port))
        self._blocks = {port: Networks(each) for port, each in blocks.items()}

    def names(self, host: str, port: int) -> bool:
        """Whether this host is opened by its name."""
        return bool(self._names) and ((host, port) in self._names or (host, 0) in self._names)

    def opens(self, url: Url, address: Address) -> bool:
        """Whether this address, which is not public, may be reached all the same."""
        if any(address in self._blocks[port] for port in (0, url.port) if port in self._blocks):
            return True
        return self.names(url.host, url.port) and address in _OPEN


class Domains:
    """A list of domains: each a name, an address, or `*.name` for all names below it."""

    def __init__(self, entries: Sequence[str]) -> None:
        """Raises BadUrl for an entry that means nothing."""
        self._exact: set[str] = set()
        below: list[str] = []
        for entry in entries:
            if entry.startswith("*."):
                below.append(f".{read_host(entry[2:])[0]}")
            else:
                plain = f"[{entry}]" if entry.count(":") > 1 and not entry.startswith("[") else entry
                self._exact.add(read_host(plain)[0])
        self._below = tuple(below)

    def __contains__(self, host: str) -> bool:
        return host in self._exact or host.endswith(self._below)


NONE_OPEN = Private()
_OPEN = Networks([block for text in _OPENABLE if (block := read_block(text))])


def fault_of_name(url: Url, private: Private = NONE_OPEN, *, looked_up: bool = True) -> str:
    """What is wrong with a host as it is written; "" if only its addresses can tell more."""
    if url.address is not None or private.names(url.host, url.port):
        return ""
    if url.host in _NEAR or url.host.endswith(_NEAR_ENDINGS):
        return f"{url.host} is a name for something near by"
    if not looked_up and "." not in url.host:
        return f"{url.host} is a local name"
    if not looked_up and (url.host in _ANYWHERE or url.host.endswith(_ANYWHERE_ENDINGS)):
        return f"{url.host} leads wherever it likes, and was not looked up"
    return ""


def passed(url: Url, answers: Sequence[str], private: Private = NONE_OPEN) -> tuple[str, tuple[Address, ...]]:
    """Judge every answer of one look-up: what is wrong, or the addresses that may be connected to, in order."""
    if not answers:
        return f"{url.host} has no address", ()
    found: list[Address] = []
    for answer in answers:
        address = read_address(answer)
        if address is None:
            return f"{url.host} leads to {answer[:60]!r}, which is no plain address", ()
        fault = fault_of(address)
        if fault and not private.opens(url, address):
            where = str(address) if url.address is not None else f"{url.host} leads to {address}, which"
            return f"{where} is not public: {fault}", ()
        found.append(address)
    return "", tuple(dict.fromkeys(found))


def judge(
    url: str,
    *,
    dns: Lookup | Answers | None = None,
    redirects: Sequence[str] = (),
    allow: Sequence[str] | None = None,
    allow_private: "Sequence[str] | Private" = (),
    leaves_out: Callable[[str], str] = lambda host: "",  # noqa: ARG005 - no list
) -> Judged:
    """Whether a web address and the redirects that follow it may be fetched.

    Without `dns` a name is judged as it is written; what it leads to is judged when it is connected to.
    `leaves_out` names the list of a configuration that does not hold a host.
    """
    try:
        private = allow_private if isinstance(allow_private, Private) else Private(allow_private)
        domains = None if allow is None else Domains(allow)
    except BadUrl as error:
        return Judged("deny", f"the list is wrong: {error}")
    lookup = dns if dns is None or callable(dns) else _scripted(dns)
    judged, at, seen = Judged("deny", ""), None, set[str]()
    for hop, text in enumerate((url, *redirects)):
        place = f"redirect {hop}: " if hop else ""
        try:
            at = read_url(text) if at is None else join(at, text)
        except BadUrl as error:
            return Judged("deny", f"{place}{error}")
        if wrong := wrong_hop(str(at), hop, seen) or _outside(at, domains, leaves_out):
            return Judged("deny", f"{place}{wrong}")
        judged = _judged(at, lookup, private)
        if judged.verdict == "deny":
            return Judged("deny", f"{place}{judged.why}")
    return judged


def wrong_hop(url: str, hop: int, seen: set[str], most: int = REDIRECTS) -> str:
    """What is wrong with going on to `url` after `hop` redirects; it is noted as seen."""
    if hop > most:
        return f"more than {most} redirects"
    if url in seen:
        return "the redirects go round in a circle"
    seen.add(url)
    return ""


def _outside(url: Url, domains: Domains | None, leaves_out: Callable[[str], str]) -> str:
    if domains is not None and url.host not in domains:
        return f"{url.host} is not on the list of allowed domains"
    place = leaves_out(url.host)
    return f"{url.host} is not among the domains of {place}" if place else ""


def _judged(url: Url, lookup: Lookup | None, private: Private) -> Judged:
    if fault := fault_of_name(url, private, looked_up=lookup is not None):
        return Judged("deny", fault)
    if url.address is not None:
        answers: Sequence[str] = (url.host,)
    elif lookup is None:
        return Judged("allow", "the name is sound; its addresses are judged when it is connected to")
    else:
        answers = lookup(url.host)
    fault, found = passed(url, answers, private)
    if fault:
        return Judged("deny", fault)
    return Judged("allow", "public" if not fault_of(found[0]) else "opened by the configuration", str(found[0]))


def _host_and_port(entry: str) -> tuple[str, int]:
    """`host:port` in parts; the port is 0 where none is named."""
    head, colon, port = entry.rpartition(":")
    named = colon and port.isascii() and port.isdigit() and (":" not in head or head.endswith("]"))
    return (head, int(port)) if named else (entry, 0)


def _scripted(answers: Answers) -> Lookup:
    """Look-ups that answer from a script: a list of lists gives one list for each look-up, the last one again."""
    script = {_plain(host): each for host, each in answers.items()}
    asked: dict[str, int] = {}

    def look_up(host: str) -> Sequence[str]:
        rounds = script.get(host, ())
        if all(isinstance(each, str) for each in rounds):
            return rounds
        at = asked.get(host, 0)
        asked[host] = at + 1
        now = rounds[min(at, len(rounds) - 1)]
        return (now,) if isinstance(now, str) else tuple(now)

    return look_up


def _plain(host: str) -> str:
    try:
        return read_host(host)[0]
    except BadUrl:
        return host
