"""The endpoint `/mcp/<agent>`, as an ASGI application of its own: both eras, without a framework in between.

`/mcp/<agent>/<server>` (or `?server=<server>`) shows one server under its own names.
"""

import asyncio
import time
from collections.abc import Mapping, MutableMapping
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qs, unquote

from msgspec import UNSET

from toolcrib.core.resolver import UnknownAgent
from toolcrib.faces.mcp.changes import Watcher
from toolcrib.faces.mcp.door import METADATA, Door, Refused
from toolcrib.faces.mcp.exchange import Exchange
from toolcrib.faces.mcp.gateway import ASKS_BACK, Gateway
from toolcrib.faces.mcp.listen import acknowledged, wanted
from toolcrib.faces.mcp.mirrors import check_headers
from toolcrib.faces.mcp.peers import Peer, Place, Session, stopped
from toolcrib.faces.mcp.replies import Patience, Receive, Reply, while_there, whole
from toolcrib.faces.mcp.streams import Send, Stream, place_of
from toolcrib.faces.mcp.wire import (
    HANDSHAKES,
    STATUS,
    Id,
    Message,
    answer,
    asked_of_client,
    data_of,
    encode,
    read,
    read_batch,
    refusal,
)
from toolcrib.services.mcp.downstream import HANDSHAKE, INVALID_REQUEST, McpFault

PREFIX = "/mcp/"
SUFFIX = "/mcp"  # some clients take only addresses that end so
LONGEST = 16 << 20
IDLE = 3600.0  # seconds after which a silent session is forgotten
MOST = 10_000
LISTEN = "subscriptions/listen"
_WHICH = f"Name an agent: {PREFIX}<agent>, or {PREFIX}<agent>{SUFFIX} for clients that ask at {SUFFIX} otherwise."
Scope = MutableMapping[str, Any]
Given = Mapping[bytes, bytes]


class Endpoint:
    """The application, and the sessions of its clients."""

    def __init__(self, gateway: Gateway, door: Door) -> None:
        self._gateway = gateway
        self._door = door
        self._sessions: dict[str, tuple[Session, Watcher]] = {}
        self._paths: dict[tuple[str, bytes], tuple[str, str]] = {}
        self._swept = time.monotonic()
        self._patience = Patience()
        self._listening: set[Stream] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            return
        headers: Given = dict(scope["headers"])
        try:
            self._door.placed(headers)
            if scope["path"].startswith(METADATA):
                await self._metadata(scope, headers, send)
                return
            agent, alone = self._named(scope)
            principal = await self._door.admitted(headers, scope["path"], agent)
            place = Place(agent, principal, alone)
            await self._there(place)
            await self._served(scope["method"], place, headers, scope, (receive, send))
        except Refused as refused:
            await whole(send, refused.body, refused.status, refused.headers)
        except McpFault as fault:
            await whole(send, refusal(None, fault), STATUS.get(fault.number, 400))

    async def _served(
        self, method: str, place: Place, headers: Given, scope: Scope, ways: tuple[Receive, Send]
    ) -> None:
        receive, send = ways
        version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
        modern = bool(version) and version not in HANDSHAKES
        if method == "POST":
            body = await _body(receive, headers)
            await (self._modern if modern else self._posted)(place, headers, body, scope, ways)
        elif method == "GET" and not modern:
            await self._listened(place, headers, receive, send)
        elif method == "DELETE" and not modern:
            session = self._session(place, headers)
            self._forget(session)
            await whole(send, b"")
        else:
            raise Refused(405, "This takes POST.", [(b"allow", b"POST" if modern else b"GET, POST, DELETE")])

    def _named(self, scope: Scope) -> tuple[str, str]:
        """The agent, and the one server that is wanted under its own names."""
        key = (scope["path"], scope.get("query_string", b""))
        known = self._paths.get(key)
        if known is None:
            path = unquote(key[0].partition(PREFIX)[2])
            agent, _, alone = path.removesuffix(SUFFIX).partition("/")
            if not agent:
                raise Refused(404, _WHICH)
            known = agent, alone or parse_qs(key[1].decode("latin-1")).get("server", [""])[0]
            if len(self._paths) < 1000 and len(key[0]) + len(key[1]) < 500:
                self._paths[key] = known
        return known

    async def _there(self, place: Place) -> None:
        """The agent exists, and the server that it wants alone can be used."""
        if place.agent in self._gateway.crib.resolver.grants.agents and not self._gateway.why_not(place.alone):
            return
        try:
            await self._gateway.admitted(place)
        except UnknownAgent as error:
            raise Refused(404, f"{error.message} {error.hint}".rstrip()) from None
        if why := self._gateway.why_not(place.alone):
            raise Refused(404, f"Nothing can be shown under its own names: {why}.")

    async def _metadata(self, scope: Scope, headers: Given, send: Send) -> None:
        found = self._door.metadata(headers, scope["path"])
        if found is None:
            raise Refused(404, "Tokens of an authorization server are not taken here; use a key.")
        await whole(send, encode(found))

    async def _modern(
        self, place: Place, headers: Given, body: bytes, scope: Scope, ways: tuple[Receive, Send]
    ) -> None:
        """A request that stands for itself."""
        receive, send = ways
        message = read(body)
        if message.id is UNSET:
            await whole(send, b"", 202)
            return
        number = _number(message)
        try:
            if asked_of_client(message):
                raise McpFault(INVALID_REQUEST, "A client of this era does not answer requests.")
            peer = self._gateway.modern_peer(
                place, message, headers.get(b"mcp-protocol-version", b"").decode("latin-1")
            )
            check_headers(scope["headers"], headers, message, lambda name: self._gateway.mirrored(peer, name))
        except McpFault as fault:
            await whole(send, refusal(number, fault), STATUS.get(fault.number, 200))
            return
        if message.method == LISTEN:
            await self._subscribed(peer, message, number, receive, send)
            return
        await self._alone(peer, message, number, ways)

    async def _alone(self, peer: Peer, message: Message, number: Id, ways: tuple[Receive, Send]) -> None:
        """Work on a stateless request. A client that hangs up does not want it any more."""
        receive, send = ways
        task, left = asyncio.current_task(), list[bool]()

        def gone() -> None:
            left.append(True)
            if task is not None:
                task.cancel()

        reply = Reply(send, lambda: Stream("", numbered=False), receive=receive, gone=gone)
        self._patience.add(reply)
        exchange = Exchange(peer, number, reply.out, None, self._gateway.cleaning)
        asks_back = message.method in ASKS_BACK and peer.can_answer
        work = self._gateway.held if asks_back else self._gateway.answer
        try:
            result = answer(number, await work(peer, message, exchange))
        except McpFault as fault:
            await reply.finish(refusal(number, fault), STATUS.get(fault.number, 200))
        except asyncio.CancelledError:
            if not left or task is None:
                raise
            task.uncancel()
            await reply.drop()
        else:
            await reply.finish(result)
        finally:
            self._patience.leave(reply)

    async def _subscribed(self, peer: Peer, message: Message, number: Id, receive: Receive, send: Send) -> None:
        """A stream of changes, for as long as the client listens."""
        stream = Stream("", limit=1024, numbered=False)
        kinds, uris = wanted(data_of(message.params))
        watcher = Watcher(peer, stream.put, wants=kinds, number=number)
        watcher.uris = set(uris)
        self._gateway.changes.add(watcher)
        self._listening.add(stream)
        stream.put(acknowledged(number, kinds, uris))
        try:
            await self._gateway.offers.watch_all(peer, uris, on=True)
            await while_there(receive, stream.pump(send, []))
        finally:
            self._listening.discard(stream)
            self._gateway.changes.leave(watcher)
            await self._gateway.offers.watch_all(peer, uris, on=False)

    async def _posted(
        self, place: Place, headers: Given, body: bytes, scope: Scope, ways: tuple[Receive, Send]
    ) -> None:
        """A message within a session, or the one that begins it."""
        del scope
        _, send = ways
        if body.lstrip()[:1] == b"[":
            await self._batch(place, headers, body, send)
            return
        message = read(body)
        if message.method == "initialize" and message.id is not UNSET:
            await self._begun(place, message, send)
            return
        session = self._session(place, headers)
        if message.id is UNSET or asked_of_client(message):
            self._noted(session, message)
            await whole(send, b"", 202)
            return
        number = _number(message)
        reply = Reply(send, session.stream, prime=session.version >= HANDSHAKE)
        self._patience.add(reply)
        session.busy += 1
        try:
            await reply.finish(await self._answered(session, message, number, reply))
        finally:
            self._patience.leave(reply)
            session.busy -= 1
            session.used = time.monotonic()

    async def _answered(self, session: Session, message: Message, number: Id, reply: Reply | None) -> bytes:
        """The answer to a request of a session, whatever comes of it."""
        out = session.push if reply is None else reply.out
        ask = partial(session.asks.ask, out)
        exchange = Exchange(session, number, out, ask, self._gateway.cleaning)
        task = asyncio.current_task()
        if task is not None:
            session.calls[number] = task
        try:
            return answer(number, await self._gateway.answer(session, message, exchange))
        except McpFault as fault:
            return refusal(number, fault)
        except asyncio.CancelledError:
            if number not in session.cancelled or task is None:
                raise
            task.uncancel()
            session.cancelled.discard(number)
            return refusal(number, stopped())
        finally:
            session.calls.pop(number, None)

    async def _batch(self, place: Place, headers: Given, body: bytes, send: Send) -> None:
        """Several messages at once, which one version of the protocol had."""
        session = self._session(place, headers)
        answers: list[bytes] = []
        for message in read_batch(body):
            if message.id is UNSET or asked_of_client(message):
                self._noted(session, message)
            else:
                answers.append(await self._answered(session, message, _number(message), None))
        if answers:
            await whole(send, b"[%b]" % b",".join(answers))
        else:
            await whole(send, b"", 202)

    async def _begun(self, place: Place, message: Message, send: Send) -> None:
        """A handshake."""
        number = _number(message)
        try:
            session, result = await self._gateway.initialized(place, message.params)
        except McpFault as fault:
            await whole(send, refusal(number, fault), STATUS.get(fault.number, 200))
            return
        self._sweep()
        self._sessions[session.id] = session, self._gateway.watcher(session)
        await whole(send, answer(number, result), 200, [(b"mcp-session-id", session.id.encode())])

    @staticmethod
    def _noted(session: Session, message: Message) -> None:
        """A notification, or an answer to a request of ours."""
        session.used = time.monotonic()
        if asked_of_client(message):
            session.asks.answered(message)
        elif message.method == "notifications/cancelled":
            number = data_of(message.params).get("requestId")
            if isinstance(number, int | str):
                session.cancel(number)

    async def _listened(self, place: Place, headers: Given, receive: Receive, send: Send) -> None:
        """What a session is told by itself; or the rest of an answer, after the last event that was seen."""
        if b"text/event-stream" not in headers.get(b"accept", b"") and b"*/*" not in headers.get(b"accept", b""):
            raise Refused(406, "This is a stream of events: accept text/event-stream.")
        session = self._session(place, headers)
        seen = place_of(headers.get(b"last-event-id", b"").decode("latin-1"))
        stream, after = session.own, None
        if seen is not None and seen[0] != session.own.name:
            known = session.streams.get(seen[0])
            if known is None:
                raise Refused(400, "That stream is not kept any more.")
            stream, after = known, seen[1]
        elif seen is not None:
            after = seen[1]
        session.busy += 1
        try:
            await while_there(receive, stream.pump(send, [], after, prime=session.version >= HANDSHAKE))
        finally:
            session.busy -= 1
            session.used = time.monotonic()

    def _session(self, place: Place, headers: Given) -> Session:
        said = headers.get(b"mcp-session-id")
        if said is None:
            raise Refused(400, "There is no session yet: begin with initialize, and send its Mcp-Session-Id.")
        known = self._sessions.get(said.decode("latin-1"))
        if known is None or not known[0].place.same(place):
            raise Refused(404, "There is no such session any more: begin again with initialize.")
        return known[0]

    def _forget(self, session: Session) -> None:
        known = self._sessions.pop(session.id, None)
        if known is not None:
            self._gateway.changes.leave(known[1])
            session.close()

    def _sweep(self) -> None:
        """Forget sessions that nobody uses."""
        now = time.monotonic()
        if now - self._swept < 60 and len(self._sessions) < MOST:
            return
        self._swept = now
        for session, _ in list(self._sessions.values()):
            if not session.busy and (now - session.used > IDLE or len(self._sessions) >= MOST):
                self._forget(session)

    def close(self) -> None:
        """End every session and every stream: the server stops."""
        for stream in tuple(self._listening):
            stream.close()
        for session, _ in list(self._sessions.values()):
            self._forget(session)


def _number(message: Message) -> Id:
    if not isinstance(message.id, int | str):
        raise McpFault(INVALID_REQUEST, "A request has an id that is a number or a text.")
    return message.id


@lru_cache(256)
def _is_json(kind: bytes) -> bool:
    return kind.partition(b";")[0].strip().lower() == b"application/json"


@lru_cache(256)
def _accepts(said: bytes) -> bool:
    return any(word in said for word in (b"application/json", b"*/*", b"application/*", b"text/event-stream"))


async def _body(receive: Receive, headers: Given) -> bytes:
    """The whole body, up to a limit."""
    if not _is_json(headers.get(b"content-type", b"")):
        raise Refused(415, "Send JSON: Content-Type: application/json.")
    if not _accepts(headers.get(b"accept", b"*/*")):
        raise Refused(406, "Answers are JSON or a stream of events: accept both.")
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        if len(body) > LONGEST:
            raise Refused(413, f"The body is longer than {LONGEST:,} bytes.")
        return body
    parts = [body]
    size = len(body)
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LONGEST:
            raise Refused(413, f"The body is longer than {LONGEST:,} bytes.", [(b"connection", b"close")])
    return b"".join(parts)
