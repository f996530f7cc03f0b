"""The methods of the protocol, for both eras. Whatever calls a tool goes through the crib's one pipeline."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from msgspec import Raw

from toolcrib import __version__
from toolcrib.app import Crib
from toolcrib.app.turn import Turn
from toolcrib.core.call import JsonObject, Outcome
from toolcrib.core.errors import ToolError, UnknownTool
from toolcrib.core.resolver import UnknownAgent
from toolcrib.faces.mcp.asking import Bell
from toolcrib.faces.mcp.changes import Changes, Watcher
from toolcrib.faces.mcp.exchange import Cleaning, Exchange
from toolcrib.faces.mcp.listing import CALL, Shelf, Shown, cacheable
from toolcrib.faces.mcp.offers import Offers
from toolcrib.faces.mcp.parked import Held, Parking
from toolcrib.faces.mcp.peers import Peer, Place, Session, level_of
from toolcrib.faces.mcp.results import rendered
from toolcrib.faces.mcp.turns import Turns, caller_of
from toolcrib.faces.mcp.upstream import PATIENCE, Sessions, Upstream
from toolcrib.faces.mcp.wire import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKES,
    MODERNS,
    SERVER_KEY,
    VERSION_KEY,
    Message,
    as_object,
    called,
    data_of,
    encode,
)
from toolcrib.services.mcp.downstream import (
    HANDSHAKE,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LINK,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    McpFault,
)

INFO: JsonObject = {"name": "toolcrib", "title": "Toolcrib", "version": __version__}
SOON = 0.05  # seconds in which changes of one list are one
_LISTS: JsonObject = {"listChanged": True}
CAPABILITIES: JsonObject = {
    "tools": _LISTS,
    "prompts": _LISTS,
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
ASKS_BACK = frozenset({"tools/call", "prompts/get", "resources/read"})
_EMPTY = {False: b"{}", True: b'{"resultType":"complete"}'}
Method = Callable[[Peer, Message, Exchange], Awaitable[bytes]]


class Gateway:
    """One crib, its servers, and all clients of both eras."""

    def __init__(self, crib: Crib, sessions: Sessions, *, patience: float = PATIENCE) -> None:
        """`patience` is for how long the first client waits for servers that were never connected."""
        self.crib = crib
        self.parking = Parking()
        self._changed: set[tuple[str, str]] = set()  # lists of servers, as clients are about to hear
        self.turns = Turns(crib)
        self.shelf = Shelf()
        self.cleaning = Cleaning(crib.clean)
        self.upstream = Upstream(sessions, self.cleaning, patience)
        self.changes = Changes(self._servers, self._seen)
        crib.bell = Bell(crib)
        crib.changed.append(self.changes.granted)
        self._stop = sessions.listen(self._heard)
        self.offers = offers = Offers(self.upstream, self.turns.of, self.shown, self.changes.watched)
        both: dict[str, Method] = {
            "tools/call": self.call_tool,
            "tools/list": self.list_tools,
            "resources/list": offers.list_resources,
            "resources/templates/list": offers.list_templates,
            "resources/read": offers.read_resource,
            "prompts/list": offers.list_prompts,
            "prompts/get": offers.get_prompt,
            "completion/complete": offers.complete,
        }
        self._handshake: dict[str, Method] = {
            **both,
            "ping": self.ping,
            "logging/setLevel": self.set_level,
            "resources/subscribe": offers.subscribe,
            "resources/unsubscribe": offers.unsubscribe,
        }
        self._modern: dict[str, Method] = {**both, "server/discover": self.discover}

    async def close(self) -> None:
        """Let go of what waits."""
        self._stop()
        self._changed.clear()
        self.crib.changed.remove(self.changes.granted)
        self.crib.bell = None
        await self.parking.close()
        await self.upstream.close()
        await self.turns.close()

    async def answer(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """The result of a request. Raises McpFault."""
        method = (self._modern if peer.modern else self._handshake).get(message.method)
        if method is None:
            raise McpFault(METHOD_NOT_FOUND, f"Method not found: {message.method[:200]}")
        try:
            return await method(peer, message, exchange)
        except McpFault as fault:
            raise await self.cleaning.fault(fault) from None
        except ToolError as error:  # what a server or the store said, where there is no result to say it in
            raise McpFault(
                INTERNAL_ERROR, f"{error.message} {error.hint}".rstrip(), error.as_fault().as_json()
            ) from None

    def why_not(self, server: str) -> str:
        """Why a server cannot be shown alone; "" when it can be, or none is wanted."""
        return self.crib.mcp.why_not(server) if server and self.crib.mcp is not None else ""

    async def admitted(self, place: Place) -> None:
        """See that an agent is there. Raises UnknownAgent."""
        await self.crib.refresh()
        self.crib.resolver.rules_of(place.agent)

    async def initialized(self, place: Place, params: Raw) -> tuple[Session, bytes]:
        """A session, and what its client is told."""
        asked = data_of(params)
        wanted = asked.get("protocolVersion")
        version = wanted if isinstance(wanted, str) and wanted in HANDSHAKES else HANDSHAKE
        able = asked.get("capabilities")
        if not isinstance(wanted, str) or not isinstance(able, dict):
            raise McpFault(
                INVALID_PARAMS, "Invalid params: initialize takes protocolVersion, capabilities, clientInfo."
            )
        session = Session(place, version, cast("JsonObject", able), as_object(asked.get("clientInfo")))
        await self.upstream.met(caller_of(session), self._servers(session))
        told: JsonObject = {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": INFO}
        return session, encode(self._with_words(session, told))

    def modern_peer(self, place: Place, message: Message, header: str | None = None) -> Peer:
        """The sender of a stateless request, as its envelope says."""
        envelope = as_object(data_of(message.params).get("_meta"))
        missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in envelope]
        if missing:
            raise McpFault(INVALID_PARAMS, f"Invalid params: _meta lacks {', '.join(missing)}.")
        version, able, info = (
            envelope[VERSION_KEY],
            envelope[CAPABILITIES_KEY],
            as_object(envelope.get(CLIENT_KEY)),
        )
        if header is not None and header != version:
            raise McpFault(HEADER_MISMATCH, "The header MCP-Protocol-Version does not say what the body does.")
        if not isinstance(version, str) or not isinstance(able, dict):
            raise McpFault(INVALID_PARAMS, "Invalid params: the envelope in _meta is malformed.")
        if version not in MODERNS:
            data = {"supported": list(MODERNS), "requested": version}
            raise McpFault(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
        who = place.principal.id if place.principal else ""
        return Peer(place, version, cast("JsonObject", able), info, f"mcp-{who}-{str(info.get('name', ''))[:64]}")

    def _with_words(self, peer: Peer, told: JsonObject) -> JsonObject:
        """The instructions of all servers behind this one, each under its name."""
        known = [
            (server, facts.instructions) for server in self._servers(peer) if (facts := self.upstream.facts(server))
        ]
        known = [(server, words) for server, words in known if words]
        if peer.place.alone:
            words = known[0][1] if known else ""
        else:
            words = "\n\n".join(f"## {server}\n{words}" for server, words in known)
        return {**told, "instructions": self.crib.scrub(words)} if words else told

    def _now(self, peer: Peer) -> Shown | None:
        """What a client sees, going by what is known without asking the store. None: its agent is gone."""
        try:
            view = self.crib.view(peer.place.agent, session=peer.key, user=peer.user, channel="mcp")
        except UnknownAgent:
            return None
        return self.shelf.of(view, peer.place.alone)

    def _servers(self, peer: Peer) -> tuple[str, ...]:
        shown = self._now(peer)
        return () if shown is None else shown.servers

    def _seen(self, peer: Peer) -> object:
        """What changes when a client's list of tools does."""
        shown = self._now(peer)
        return None if shown is None else hash(shown.page(None, modern=False))

    async def shown(self, peer: Peer) -> Shown:
        """What a client sees in its turn."""
        return self.shelf.of((await self.turns.of(peer)).view, peer.place.alone)

    def mirrored(self, peer: Peer, name: str) -> JsonObject | None:
        """The schema of a tool some of whose arguments also stand in headers."""
        shown = self._now(peer)
        return None if shown is None else shown.mirrored(name)

    async def ping(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """Still there."""
        del message, exchange
        return _EMPTY[peer.modern]

    async def discover(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """What a stateless client learns instead of a handshake."""
        del message, exchange
        await self.upstream.met(caller_of(peer), self._servers(peer))
        told = {"supportedVersions": list(MODERNS), "capabilities": CAPABILITIES, "_meta": {SERVER_KEY: INFO}}
        return encode(cacheable(self._with_words(peer, told)))

    async def set_level(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """From which level on log messages are sent."""
        level = level_of(data_of(message.params).get("level"))
        if level is None:
            raise McpFault(INVALID_PARAMS, "Invalid params: there is no such log level.")
        peer.wants_level(level)
        await self.upstream.set_level(caller_of(peer), self._servers(peer), level, exchange)
        return b"{}"

    async def list_tools(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """The tools that this agent holds."""
        del exchange
        cursor = data_of(message.params).get("cursor")
        await self.upstream.met(caller_of(peer), ())
        return (await self.shown(peer)).page(cursor, modern=peer.modern)

    async def call_tool(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """One call, through every guard."""
        asked = called(message.params)
        arguments = bytes(asked.arguments)
        exchange.carries(asked.meta, asked.answers, asked.state)
        turn = await self.turns.of(peer)
        name = asked.name
        if peer.place.alone or name == CALL:
            shown = self.shelf.of(turn.view, peer.place.alone)
            if name == CALL and CALL not in turn.view and not peer.place.alone:
                name, arguments = _call_through(arguments)
            try:
                name = shown.name(name)
            except UnknownTool as error:
                raise McpFault(INVALID_PARAMS, f"Unknown tool: {error.message}") from None
        outcome = await self._called(turn, name, b"{}" if arguments == b"null" else arguments, exchange)
        if outcome.tool in _CHANGES_TOOLS:
            self.turns.forget(peer)
            await self.turns.of(peer)
            self.changes.granted()
        return rendered(outcome, modern=peer.modern)

    async def _called(self, turn: Turn, name: str, arguments: bytes, exchange: Exchange) -> Outcome:
        token = LINK.set(exchange)
        try:
            return await turn.call(name, arguments)
        finally:
            LINK.reset(token)

    def _heard(self, server: str, method: str, params: JsonObject) -> None:
        """A server told something by itself."""
        kind, _, changed = method.removeprefix("notifications/").partition("/")
        if changed == "list_changed":
            self.upstream.forget(server, kind)
            if (server, method) not in self._changed:  # in a flood of them each is told to every client once in a while
                self._changed.add((server, method))
                asyncio.get_running_loop().call_later(SOON, self._told, server, method)
            return
        told = self.cleaning.told(params)
        if told is not None:
            self.changes.heard(server, method, told)

    def _told(self, server: str, method: str) -> None:
        """A server's list has changed, perhaps several times."""
        if (server, method) in self._changed:
            self._changed.remove((server, method))
            self.changes.heard(server, method, {})

    async def held(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """A request of a stateless client that may have to be asked back: the result, or the questions."""
        params = data_of(message.params)
        target = params.get("name", params.get("uri"))
        arguments = encode(params.get("arguments") or {})
        who = peer.place.principal.id if peer.place.principal else ""
        binding = (who, peer.place.agent, peer.place.alone, message.method, str(target), arguments.decode())
        state = params.get("requestState")
        if isinstance(state, str) and self.parking.ours(state):
            held = self.parking.claim(state, binding)
            held.attach(exchange.out)
            held.answer(params.get("inputResponses"))
        else:
            held = Held(binding)
            held.attach(exchange.out)
            exchange.out = held.out
            exchange.asks_by(held.ask)
            held.start(self.answer(peer, message, exchange))
        return await self.parking.result(held)

    def watcher(self, session: Session) -> Watcher:
        """A session that hears of changes, from now on."""
        watcher = Watcher(session, session.push)
        watcher.uris = session.watched
        self.changes.add(watcher)
        return watcher


_CHANGES_TOOLS = frozenset({"load_tools", "unload_tools", "search_tools", "request_tool_access"})


def _call_through(arguments: bytes) -> tuple[str, bytes]:
    """The call inside of a call."""
    inner = called(Raw(arguments))
    return inner.name, bytes(inner.arguments)
