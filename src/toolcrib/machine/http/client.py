"""The client of the whole product. No proxy or netrc of the environment is used, and no cookies are kept.

    read the address strictly ► look its name up once ► judge every answer ► connect to one that passed

and all of it again for each redirect.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.machine.http.bodies import read_body
from toolcrib.machine.http.buckets import Buckets
from toolcrib.machine.http.faults import broken, not_connected, too_slow, untrusted
from toolcrib.machine.http.headers import METHODS, REDIRECTS, Hop, after_redirect, check_headers, wire_headers
from toolcrib.machine.http.names import Lookups
from toolcrib.machine.http.pools import Pools, close_if_more_waits
from toolcrib.safety.addresses import Address
from toolcrib.safety.domains import Lists, Meant
from toolcrib.safety.reach import Private, fault_of_name, passed, wrong_hop
from toolcrib.safety.urls import BadUrl, Url, join, read_url
from toolcrib.services.http import MOST_SECONDS, Incoming, Network, Outgoing

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import AsyncGenerator
    from ssl import SSLContext

    from httpcore2 import Request, Response

Dns = Callable[[str], Awaitable[Sequence[str]]]
AGENT = "toolcrib"
_TRIES = 3  # addresses of one name
_CONNECT_SECONDS, _NEXT_SECONDS = 10.0, 3.0  # for the last address that is tried, and for those before it
_HINT = "Use another address; this one is not for agents. A person can open it with network.allow_private."


class LocalHttp:
    """Sends requests from this machine. One for the whole program; its connections are kept and shared."""

    def __init__(
        self,
        network: Network | None = None,
        *,
        dns: Dns | None = None,
        tls: "Callable[[], SSLContext] | None" = None,
        meant: Meant = lambda entry: (entry,),
        agent: str = AGENT,
    ) -> None:
        """Raises BadConfig when a list of the configuration holds what is no domain or no address."""
        rules = network or Network()
        self._lists = Lists(rules, meant)
        self._buckets = Buckets(rules.buckets)
        self._own_dns = Lookups()
        self._dns = dns or self._own_dns
        self._tls = tls
        self._agent = agent
        self._pools: Pools | None = None
        self._loop: AbstractEventLoop | None = None

    async def send(self, request: Outgoing) -> Incoming:
        """Send it, follow its redirects, and give what came back."""
        seconds = max(0.001, min(request.seconds, MOST_SECONDS))
        hop = Hop(_parsed(request.url), request.method.upper(), request.headers, request.body)
        if hop.method not in METHODS:
            raise ToolFailed(f"{hop.method[:20]!r} is no method; use one of {', '.join(METHODS)}.", code="bad_method")
        check_headers(hop.headers)
        self._check_domain(hop.url, request)
        if request.bucket and request.caller is not None:
            asker = request.caller.team or request.caller.agent
            self._buckets.take(request.bucket, asker, hop.url.host, time.monotonic())
        deadline = heavy("asyncio").timeout(seconds)
        try:
            async with deadline:
                return await self._follow(hop, request, seconds)
        except TimeoutError:
            if not deadline.expired():
                raise
            raise too_slow(hop.url, seconds) from None

    async def close(self) -> None:
        """Close every connection."""
        self._own_dns.close()
        pools, self._pools = self._pools, None
        if pools is not None and self._loop is heavy("asyncio").get_running_loop():
            await pools.close()

    async def _follow(self, hop: Hop, request: Outgoing, seconds: float) -> Incoming:
        private = Private(request.private) if request.private else self._lists.private
        seen: set[str] = set()
        hops: list[str] = []
        while True:
            if fault := wrong_hop(f"{hop.method} {hop.url}", len(hops), seen, request.redirects):
                raise ToolFailed(f"{hop.url.host} was not asked: {fault}.", code="too_many_redirects")
            self._check_domain(hop.url, request)
            addresses = await self._addresses(hop.url, private)
            async with self._asked(hop, addresses, seconds) as (address, response):
                following, note = _following(hop, response, request.redirects)
                if following is None:
                    incoming = await _incoming(hop, response, request.limit)
                    return replace(incoming, hops=tuple(hops), address=str(address), note=note)
            hops.append(str(address))
            hop = following

    def _check_domain(self, url: Url, request: Outgoing) -> None:
        if request.caller is None:
            return
        if place := self._lists.leaves_out(url.host, request.caller.agent, request.tool):
            raise ToolFailed(
                f"{url.host} was not asked: it is not among the domains of {place}.",
                code="domain_not_allowed",
                hint="Use a source that is allowed, or ask a person to add the domain.",
                data={"list": place},
            )

    async def _addresses(self, url: Url, private: Private) -> tuple[Address, ...]:
        fault = fault_of_name(url, private)
        if not fault:
            answers = (url.host,) if url.address is not None else await self._dns(url.host)
            if not answers:
                raise ToolFailed(f"{url.host} was not found: its name has no address.", code="not_reachable")
            fault, addresses = passed(url, answers, private)
            if not fault:
                return addresses
        raise ToolFailed(f"{url.host} was not asked: {fault}.", code="url_refused", hint=_HINT)

    @asynccontextmanager
    async def _asked(
        self, hop: Hop, addresses: Sequence[Address], seconds: float
    ) -> "AsyncGenerator[tuple[Address, Response]]":
        """Ask at the first address that answers. Another one is tried only when no connection came about."""
        core = heavy("httpcore2")
        tried = addresses[:_TRIES]
        pools = self._current_pools()
        for address in tried:
            connect = _CONNECT_SECONDS if address is tried[-1] else _NEXT_SECONDS
            sent = _wire(hop, self._agent, min(connect, seconds / len(tried)), seconds)
            async with pools.use(address, tls=hop.url.scheme == "https") as pool:
                try:
                    response: Response = await pool.handle_async_request(sent)
                except (core.ConnectError, core.ConnectTimeout) as error:
                    if address is not tried[-1] and not untrusted(error):
                        continue
                    raise not_connected(hop.url, address, error) from None
                except (core.NetworkError, core.TimeoutException, core.ProtocolError) as error:
                    raise broken(hop.url, error) from None
                try:
                    yield address, response
                finally:
                    await response.aclose()
                return

    def _current_pools(self) -> Pools:
        """Connections belong to the event loop in which they were made."""
        loop = heavy("asyncio").get_running_loop()
        if self._pools is None or self._loop is not loop:
            self._pools, self._loop = Pools(self._tls), loop
        return self._pools


def _following(hop: Hop, response: "Response", most: int) -> tuple[Hop | None, str]:
    """The request that a redirect asks for, if it is one that is followed; else why not."""
    location = next((value for name, value in response.headers if name.lower() == b"location"), b"")
    if response.status not in REDIRECTS or not location or not most:
        return None, ""
    try:
        text = location.decode("utf-8")
    except UnicodeDecodeError:
        text = location.decode("latin-1")
    try:
        url = join(hop.url, text)
    except BadUrl as error:
        raise ToolFailed(f"{hop.url.host} redirects to where nobody can go: {error}.", code="url_refused") from None
    following = after_redirect(hop, response.status, url)
    if following is None:
        return None, f"The redirect to {url.host} was not followed: {hop.method} is not sent on to another host."
    return following, ""


def _wire(hop: Hop, agent: str, connect: float, seconds: float) -> "Request":
    core = heavy("httpcore2")
    host = hop.url.host.encode("ascii")
    url = core.URL(
        scheme=hop.url.scheme.encode("ascii"), host=host, port=hop.url.port, target=hop.url.target.encode("ascii")
    )
    timeouts = {"connect": connect, "read": seconds, "write": seconds, "pool": seconds}
    return core.Request(
        hop.method, url, headers=wire_headers(hop, agent), content=hop.body, extensions={"timeout": timeouts}
    )


async def _incoming(hop: Hop, response: "Response", limit: int) -> Incoming:
    """The answer, with its body read no further than it may be long."""
    if response.status < 200:
        raise ToolFailed(f"{hop.url.host} wants to speak another protocol.", code="bad_response")
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
    packing = ",".join(value for name, value in headers if name.lower() == "content-encoding")
    bare = hop.method == "HEAD" or response.status in {204, 304}
    core = heavy("httpcore2")
    try:
        body, cut = (b"", False) if bare else await read_body(response.aiter_stream(), packing, limit)
        await close_if_more_waits(response)
    except (core.NetworkError, core.TimeoutException, core.ProtocolError) as error:
        raise broken(hop.url, error) from None
    said = cast("Mapping[str, bytes]", response.extensions).get("reason_phrase", b"")
    return Incoming(
        url=str(hop.url),
        status=response.status,
        reason=said.decode("latin-1"),
        headers=headers,
        body=body,
        cut=cut,
    )


def _parsed(text: str) -> Url:
    try:
        return read_url(text)
    except BadUrl as error:
        raise ToolFailed(f"This is no web address that can be asked: {error}.", code="url_refused") from None
