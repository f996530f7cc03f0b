"""What servers offer beside tools: resources, prompts, and words that complete an argument."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from toolcrib.app.turn import Turn
from toolcrib.core.call import Json, JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.faces.mcp.exchange import Exchange
from toolcrib.faces.mcp.listing import Shown, cacheable, page_of
from toolcrib.faces.mcp.offered import Offered
from toolcrib.faces.mcp.peers import Peer, Session
from toolcrib.faces.mcp.results import of_era
from toolcrib.faces.mcp.turns import caller_of
from toolcrib.faces.mcp.upstream import Listed, Upstream
from toolcrib.faces.mcp.wire import Message, as_object, data_of, encode
from toolcrib.services.mcp.downstream import INVALID_PARAMS, LINK, McpFault


class Offers:
    """The methods about them."""

    def __init__(
        self,
        upstream: Upstream,
        turn: Callable[[Peer], Awaitable[Turn]],
        shown: Callable[[Peer], Awaitable[Shown]],
        watched: Callable[[str], bool],
    ) -> None:
        self._upstream = upstream
        self._turn = turn
        self._shown = shown
        self._watched = watched

    async def list_resources(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """The resources of every server that the agent holds something of."""
        del exchange
        shown, alone = await self._shown(peer), bool(peer.place.alone)
        found = await self._upstream.resources(caller_of(peer), shown.servers, alone=alone)
        return _listed(peer, message, "resources", found)

    async def list_templates(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """Their templates."""
        del exchange
        shown, alone = await self._shown(peer), bool(peer.place.alone)
        found = await self._upstream.templates(caller_of(peer), shown.servers, alone=alone)
        return _listed(peer, message, "resourceTemplates", found)

    async def list_prompts(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """Their prompts."""
        del exchange
        shown, alone = await self._shown(peer), bool(peer.place.alone)
        found = await self._upstream.prompts(caller_of(peer), shown.servers, alone=alone)
        return _listed(peer, message, "prompts", found)

    async def read_resource(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """One resource."""
        params = _carried(message, exchange)
        uri, offered = _text(params, "uri"), await self._offered(peer, message, exchange)

        async def ask(server: str, own: str) -> JsonObject:
            return await offered.of(server, {"uri": own})

        shown, alone = await self._shown(peer), bool(peer.place.alone)
        found = self._upstream.at(caller_of(peer), shown.servers, uri, ask, alone=alone)
        result = await offered.on_record({"uri": uri}, found)
        complete = peer.modern and result.get("resultType", "complete") == "complete"
        return encode(cacheable(result) if complete else of_era(result, modern=peer.modern))

    async def get_prompt(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """One prompt."""
        params = _carried(message, exchange)
        wanted: JsonObject = {"name": _text(params, "name")}
        if params.get("arguments") is not None:
            wanted["arguments"] = params["arguments"]
        offered = await self._offered(peer, message, exchange)

        async def ask() -> JsonObject:
            one = await self._prompt(peer, wanted["name"])
            return await offered.of(one.server, {**wanted, "name": one.own})

        return encode(of_era(await offered.on_record(wanted, ask()), modern=peer.modern))

    async def _offered(self, peer: Peer, message: Message, exchange: Exchange) -> Offered:
        caller = caller_of(peer)

        def ask(server: str, method: str, params: JsonObject, link: Exchange) -> Awaitable[JsonObject]:
            return self._upstream.hand_on(caller, server, method, params, link)

        return Offered(await self._turn(peer), message.method, exchange, ask)

    async def _prompt(self, peer: Peer, name: str) -> Listed:
        shown, alone = await self._shown(peer), bool(peer.place.alone)
        known = await self._upstream.prompts(caller_of(peer), shown.servers, alone=alone)
        found = next((one for one in known if one.name == name), None)
        if found is None:
            raise McpFault(INVALID_PARAMS, f"Unknown prompt: {name[:200]}")
        return found

    async def complete(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """Words that may stand in an argument."""
        params = _carried(message, exchange)
        ref, caller = as_object(params.get("ref")), caller_of(peer)
        if not ref or not isinstance(params.get("argument"), dict):
            raise McpFault(INVALID_PARAMS, "Invalid params: completion takes ref and argument.")
        wanted = {key: value for key, value in params.items() if key not in {"_meta", "ref"}}
        if ref.get("type") == "ref/prompt":
            one = await self._prompt(peer, _text(ref, "name"))
            told = {**wanted, "ref": {**ref, "name": one.own}}
            asked = self._upstream.ask(caller, one.server, "completion/complete", told, exchange)
        else:
            shown, alone = await self._shown(peer), bool(peer.place.alone)

            async def ask(server: str, own: str) -> JsonObject:
                told = {**wanted, "ref": {**ref, "uri": own}}
                return await self._upstream.ask(caller, server, "completion/complete", told, exchange)

            asked = self._upstream.at(caller, shown.servers, _text(ref, "uri"), ask, alone=alone)
        return encode(of_era(await self._linked(asked, exchange), modern=peer.modern))

    async def subscribe(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """Hear when a resource changes."""
        del exchange
        uri = _text(data_of(message.params), "uri")
        await self.watch(peer, uri)
        if isinstance(peer, Session):
            peer.watched.add(uri)
        return b"{}"

    async def unsubscribe(self, peer: Peer, message: Message, exchange: Exchange) -> bytes:
        """Hear no more of it."""
        del exchange
        uri = _text(data_of(message.params), "uri")
        if isinstance(peer, Session):
            peer.watched.discard(uri)
        await self.unwatch(peer, uri)
        return b"{}"

    async def watch(self, peer: Peer, uri: str) -> None:
        """Let the server of a resource tell when it changes."""
        await self._watching(peer, uri, on=True)

    async def watch_all(self, peer: Peer, uris: Sequence[str], *, on: bool) -> None:
        """Watch what can be watched, or no more. An address that no server knows is never told of."""
        for uri in uris:
            with suppress(ToolError):
                await (self.watch if on else self.unwatch)(peer, uri)

    async def unwatch(self, peer: Peer, uri: str) -> None:
        """The same no more, if nobody else watches."""
        if not self._watched(uri):
            await self._watching(peer, uri, on=False)

    async def _watching(self, peer: Peer, uri: str, *, on: bool) -> None:
        shown, alone = await self._shown(peer), bool(peer.place.alone)
        caller = caller_of(peer)

        async def ask(server: str, own: str) -> JsonObject:
            await self._upstream.watching.change(await self._upstream.session(server, caller), own, on=on)
            return {}

        await self._upstream.at(caller, shown.servers, uri, ask, alone=alone)

    @staticmethod
    async def _linked(asked: Awaitable[JsonObject], exchange: Exchange) -> JsonObject:
        token = LINK.set(exchange)
        try:
            return await asked
        finally:
            LINK.reset(token)


def _carried(message: Message, exchange: Exchange) -> JsonObject:
    params = data_of(message.params)
    state: Json = params.get("requestState")
    given = state if isinstance(state, str) else None
    exchange.carries(as_object(params.get("_meta")), params.get("inputResponses"), given)
    return params


def _text(params: JsonObject, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str) or not value:
        raise McpFault(INVALID_PARAMS, f"Invalid params: {key} is missing.")
    return value


def _listed(peer: Peer, message: Message, key: str, found: list[Listed]) -> bytes:
    cursor = data_of(message.params).get("cursor")
    page = page_of((one.entry for one in found), key, cursor)
    return encode(cacheable(page) if peer.modern else page)
