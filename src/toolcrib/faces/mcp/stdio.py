"""The gateway over standard input and output, for one client that starts it: a message a line, both eras.

Nothing else is ever written to standard output. When the input ends, what runs is stopped and the program ends.
"""

import asyncio
import logging
from collections.abc import AsyncIterator

from msgspec import UNSET

from toolcrib.core.call import JsonObject
from toolcrib.faces.mcp.changes import Watcher
from toolcrib.faces.mcp.exchange import Exchange
from toolcrib.faces.mcp.gateway import ASKS_BACK, Gateway
from toolcrib.faces.mcp.listen import acknowledged, wanted
from toolcrib.faces.mcp.peers import Out, Peer, Place, Session, stopped
from toolcrib.faces.mcp.wire import (
    VERSION_KEY,
    Id,
    Message,
    answer,
    as_object,
    asked_of_client,
    data_of,
    read,
    read_batch,
    refusal,
)
from toolcrib.services.mcp.downstream import INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, McpFault

LISTEN = "subscriptions/listen"
GRACE = 1.0  # seconds that calls have to end once the input has


class Pipe:
    """One client at the other end."""

    def __init__(self, gateway: Gateway, place: Place, write: Out) -> None:
        self._gateway = gateway
        self._place = place
        self._write = write
        self._session: Session | None = None
        self._watcher: Watcher | None = None
        self._calls: dict[Id, asyncio.Task[None]] = {}

    async def serve(self, lines: AsyncIterator[bytes]) -> None:
        """Answer until the input ends."""
        async with asyncio.TaskGroup() as group:
            async for line in lines:
                if line.strip():
                    self._line(line, group)
            if self._calls:
                await asyncio.wait(list(self._calls.values()), timeout=GRACE)
            if self._session is not None:
                self._session.close()
            for task in list(self._calls.values()):
                task.cancel()
        if self._watcher is not None:
            self._gateway.changes.leave(self._watcher)

    def _line(self, line: bytes, group: asyncio.TaskGroup) -> None:
        try:
            messages = read_batch(line) if line.lstrip()[:1] == b"[" else [read(line)]
            for message in messages:
                self._take(message, group)
        except McpFault as fault:
            self._write(refusal(None, fault))

    def _take(self, message: Message, group: asyncio.TaskGroup) -> None:
        if asked_of_client(message):
            if self._session is not None:
                self._session.asks.answered(message)
        elif message.id is UNSET:
            self._noted(message)
        elif isinstance(message.id, int | str):
            number = message.id
            self._calls[number] = group.create_task(self._answer(message, number))
        else:
            raise McpFault(INVALID_REQUEST, "A request has an id that is a number or a text.")

    def _noted(self, message: Message) -> None:
        """A notification of the client's."""
        if message.method == "notifications/cancelled":
            number = data_of(message.params).get("requestId")
            task = self._calls.get(number) if isinstance(number, int | str) else None
            if task is not None:
                task.cancel()

    async def _answer(self, message: Message, number: Id) -> None:
        """One request, whatever comes of it."""
        try:
            self._write(answer(number, await self._result(message, number)))
        except McpFault as fault:
            self._write(refusal(number, fault))
        except asyncio.CancelledError:
            self._write(refusal(number, stopped()))
        except Exception:
            logging.getLogger("toolcrib").exception("a request broke")
            self._write(refusal(number, McpFault(INTERNAL_ERROR, "This broke. It is a bug; the log has more.")))
        finally:
            self._calls.pop(number, None)

    async def _result(self, message: Message, number: Id) -> bytes:
        meta = as_object(data_of(message.params).get("_meta")) if b'"_meta"' in bytes(message.params) else {}
        if VERSION_KEY in meta:
            return await self._modern(message, number)
        if message.method == "initialize":
            return await self._begun(message)
        session = self._session
        if session is None:
            if message.method == "ping":
                return b"{}"
            known = message.method != "server/discover"
            code = INVALID_REQUEST if known else METHOD_NOT_FOUND
            raise McpFault(code, "There is no session yet: begin with initialize." if known else "Method not found")

        def ask(method: str, params: JsonObject) -> asyncio.Future[JsonObject]:
            return asyncio.ensure_future(session.asks.ask(self._write, method, params))

        exchange = Exchange(session, number, self._write, ask, self._gateway.cleaning)
        return await self._gateway.answer(session, message, exchange)

    async def _begun(self, message: Message) -> bytes:
        """A handshake."""
        session, result = await self._gateway.initialized(self._place, message.params)
        session.push = self._write
        if self._watcher is not None:
            self._gateway.changes.leave(self._watcher)
        self._session, self._watcher = session, self._gateway.watcher(session)
        return result

    async def _modern(self, message: Message, number: Id) -> bytes:
        """A request that stands for itself."""
        peer = self._gateway.modern_peer(self._place, message)
        if message.method == LISTEN:
            return await self._subscribed(peer, message, number)
        exchange = Exchange(peer, number, self._write, None, self._gateway.cleaning)
        asks_back = message.method in ASKS_BACK and peer.can_answer
        return await (self._gateway.held if asks_back else self._gateway.answer)(peer, message, exchange)

    async def _subscribed(self, peer: Peer, message: Message, number: Id) -> bytes:
        """Tell of changes until the client does not want it any more."""
        kinds, uris = wanted(data_of(message.params))
        watcher = Watcher(peer, self._write, wants=kinds, number=number)
        watcher.uris = set(uris)
        self._gateway.changes.add(watcher)
        self._write(acknowledged(number, kinds, uris))
        try:
            await self._gateway.offers.watch_all(peer, uris, on=True)
            await asyncio.get_running_loop().create_future()
        finally:
            self._gateway.changes.leave(watcher)
            await self._gateway.offers.watch_all(peer, uris, on=False)
        return b"{}"  # pragma: no cover - the wait above has no end of its own
