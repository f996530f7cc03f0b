"""Kept connections, one pool for each address that was judged.

A pool can connect to its address and to nothing else: so what was checked is what is connected to, however the name
is looked up later. Server name, Host and certificate stay on the name.
"""

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from toolcrib.core.heavy import heavy
from toolcrib.safety.addresses import Address, read_address

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from ssl import SSLContext

    from httpcore2 import AsyncConnectionPool, AsyncNetworkBackend, AsyncNetworkStream, Response

POOLS = 64
_CONNECTIONS, _IDLE, _IDLE_SECONDS = 16, 4, 15.0


class Pinned:
    """Connects to one address, whatever name it is given."""

    def __init__(self, address: Address, inner: "AsyncNetworkBackend") -> None:
        self._address = address
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name has been looked up and judged before
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's words
        local_address: str | None = None,
        socket_options: "Iterable[Any] | None" = None,
    ) -> "AsyncNetworkStream":
        stream = await self._inner.connect_tcp(str(self._address), port, timeout, local_address, socket_options)
        there = stream.get_extra_info("server_addr")
        if not isinstance(there, tuple) or read_address(str(there[0])) != self._address:  # pyright: ignore[reportUnknownArgumentType] - a socket's tuple
            await stream.aclose()
            raise heavy("httpcore2").ConnectError("connected to another address")
        return stream

    async def connect_unix_socket(self, path: str, *_: object, **__: object) -> "AsyncNetworkStream":
        """Refused: no request of an agent goes to a socket file."""
        raise heavy("httpcore2").ConnectError(f"not over a socket file: {path}")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class _Kept(Struct):
    pool: "AsyncConnectionPool"
    in_use: int = 0


class Pools:
    """The pools of one event loop. The one that was not used for longest gives way."""

    def __init__(self, tls: "Callable[[], SSLContext] | None" = None) -> None:
        self._make_context = tls
        self._context: SSLContext | None = None
        self._pools: dict[tuple[Address, bool], _Kept] = {}

    @asynccontextmanager
    async def use(self, address: Address, *, tls: bool) -> "AsyncGenerator[AsyncConnectionPool]":
        """The pool of an address, kept open meanwhile."""
        key = (address, tls)
        kept = self._pools.pop(key, None) or _Kept(self._pool(address, tls=tls))
        self._pools[key] = kept  # the last one is the latest used
        kept.in_use += 1
        try:
            await self._shrink()
            yield kept.pool
        finally:
            kept.in_use -= 1

    async def close(self) -> None:
        """Close every connection."""
        pools, self._pools = list(self._pools.values()), {}
        for kept in pools:
            await kept.pool.aclose()

    async def _shrink(self) -> None:
        while len(self._pools) > POOLS:
            key = next((key for key, kept in self._pools.items() if not kept.in_use), None)
            if key is None:
                return
            await self._pools.pop(key).pool.aclose()

    def _pool(self, address: Address, *, tls: bool) -> "AsyncConnectionPool":
        core = heavy("httpcore2")
        if tls and self._context is None:
            self._context = self._make_context() if self._make_context else core.default_ssl_context()
        return core.AsyncConnectionPool(
            ssl_context=self._context if tls else None,
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_IDLE,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=Pinned(address, core.AnyIOBackend()),
        )


async def close_if_more_waits(response: "Response") -> None:
    """Close a connection on which more came than the answer: it would be taken for the next one.

    Only the inner state shows that. Where it cannot be seen the connection is closed, which is the safe mistake.
    """
    connection: Any = getattr(getattr(response.stream, "_stream", None), "_connection", None)
    state: Any = getattr(connection, "_h11_state", None)
    if state is None or state.trailing_data[0]:
        await cast("dict[str, Any]", response.extensions)["network_stream"].aclose()
