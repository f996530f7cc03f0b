"""Connections to one HTTP server: where its name leads is judged each time one is made.

An admin's server may be on this machine or in a private network. Where clouds keep credentials is never asked.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from toolcrib.core.heavy import heavy
from toolcrib.machine.http.names import Lookups
from toolcrib.machine.mcp.connection import Connection, Heard, LostError, Reply
from toolcrib.safety.addresses import Address, fault_of, read_address
from toolcrib.safety.reach import Private, fault_of_name, passed
from toolcrib.safety.urls import Url, read_host
from toolcrib.services.mcp.downstream import NotKnown, ServerGone
from toolcrib.services.outbox import MANY

if TYPE_CHECKING:
    from ssl import SSLContext

Dns = Callable[[str], Awaitable[Sequence[str]]]
CONNECT_SECONDS = 10.0
_KEPT = 64  # connections that nobody uses just now; fewer than callers means a new one for every other call
_NEAR = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7")
_METADATA = frozenset(
    address
    for text in ("100.100.100.200", "192.0.0.192", "168.63.129.16", "169.254.169.254", "fd00:ec2::254", "fd20:ce::254")
    if (address := read_address(text))
)


class Network:
    """What all origins share: look-ups, and one TLS context, which is dear to make."""

    def __init__(self, *, dns: Dns | None = None, tls: "Callable[[], SSLContext] | None" = None) -> None:
        self._own = Lookups()
        self.dns: Dns = dns or self._own
        self._make = tls
        self._context: SSLContext | None = None

    @property
    def tls(self) -> "SSLContext":
        """The context of every TLS connection."""
        context: SSLContext = self._context or (self._make or heavy("httpcore2").default_ssl_context)()
        self._context = context
        return context

    def close(self) -> None:
        """Wait for no look-up that is still under way."""
        self._own.close()


class Origin:
    """The connections to one scheme, host and port."""

    def __init__(self, url: Url, network: Network, *, near: bool = True) -> None:
        """`near`: it may lie on this machine or in a private network."""
        self.url = url
        self._network = network
        self._near = near
        self._free: list[Connection] = []
        self._open: set[Connection] = set()
        self.host = url.netloc

    async def ask(
        self, method: str, target: str, headers: bytes, body: bytes = b"", *, heard: Heard | None = None
    ) -> Reply:
        """Send a request and give its answer. Raises ServerGone if it was not sent, and NotKnown if nobody knows."""
        connection = self._kept() or await self._connected()
        length = f"content-length: {len(body)}\r\n" if body or method == "POST" else ""
        head = f"{method} {target} HTTP/1.1\r\nhost: {self.host}\r\n{length}".encode("latin-1")
        many = len(self._open) - len(self._free) >= MANY
        answer = connection.ask(b"%b%b\r\n%b" % (head, headers, body), heard, together=many)
        try:
            return await answer
        except LostError as error:
            raise (NotKnown if error.sent else ServerGone)(f"{self.host} did not answer: {error}.") from None
        except asyncio.CancelledError:
            connection.close()
            raise

    async def close(self) -> None:
        """Close every connection."""
        for connection in list(self._open):
            connection.close()
        self._free.clear()
        await asyncio.sleep(0)

    def _kept(self) -> Connection | None:
        while self._free:
            connection = self._free.pop()
            if connection.usable:
                return connection
            connection.close()
        return None

    def _freed(self, connection: Connection) -> None:
        if connection.closed:
            self._open.discard(connection)
            if connection in self._free:
                self._free.remove(connection)
        elif len(self._free) < _KEPT:
            self._free.append(connection)
        else:
            connection.close()

    async def _connected(self) -> Connection:
        addresses = await self._addresses()
        loop = asyncio.get_running_loop()
        context = self._network.tls if self.url.scheme == "https" else None
        why = ""
        for address in addresses[:3]:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    _, connection = await loop.create_connection(
                        lambda: Connection(self._freed),
                        str(address),
                        self.url.port,
                        ssl=context,
                        server_hostname=self.url.host if context else None,
                    )
            except TimeoutError:
                why = f"{address} did not take the connection within {CONNECT_SECONDS:g} seconds"
            except OSError as error:
                why = error.strerror or str(error)
            else:
                self._open.add(connection)
                return connection
        raise ServerGone(f"{self.host} cannot be reached: {why}.")

    async def _addresses(self) -> tuple[Address, ...]:
        url = self.url
        answers = (url.host,) if url.address is not None else await self._network.dns(url.host)
        if not answers:
            raise ServerGone(f"{url.host} was not found: its name has no address.")
        private = _opened(url) if self._near else Private()
        fault, addresses = fault_of_name(url, private), ()
        if not fault:
            fault, addresses = passed(url, answers, private)
        if not fault and any(address in _METADATA for address in addresses):
            fault = "it leads to where clouds keep credentials"
        if fault:
            raise ServerGone(f"{url.host} was not asked: {fault}.", hint="Use another address.")
        return addresses

    async def is_near(self) -> bool:
        """Whether the server lies on this machine or in a private network."""
        return any(fault_of(address) for address in await self._addresses())


def _opened(url: Url) -> Private:
    named = () if url.address is not None else (read_host(url.host)[0],)
    return Private((*named, *_NEAR))
