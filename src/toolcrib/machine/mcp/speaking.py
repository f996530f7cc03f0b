"""One session with a server, from the agreement on a protocol to its end.

Both eras go through here: the one that begins with a handshake, and the stateless one, where each request says for
itself what the handshake said. Which one a server speaks is found out when it is connected.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from itertools import count
from typing import Any, cast

from msgspec import Struct

from toolcrib.core.call import JsonObject
from toolcrib.core.deadline import Deadline
from toolcrib.core.errors import TimedOut, ToolError, ToolFailed
from toolcrib.core.heavy import heavy
from toolcrib.machine.mcp.log import Log
from toolcrib.machine.mcp.parameters import Parameters, header_value
from toolcrib.machine.mcp.tasks import Tasks
from toolcrib.machine.mcp.wire import NONE, Wire, encode, objects
from toolcrib.services.mcp.downstream import (
    HANDSHAKE,
    HANDSHAKES,
    HEADER_MISMATCH,
    INPUT_REQUIRED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    MODERN,
    UNSUPPORTED_VERSION,
    Link,
    McpFault,
    ServerFacts,
)

CAPABILITIES: JsonObject = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": True}}
_META = "io.modelcontextprotocol/"
_DISCOVER_SECONDS = 5.0
_ALWAYS = 1e8  # seconds: no limit
_ROUNDS = 10
_NOTICE = 64 * 1024  # bytes of a notification: many may come, and whoever hears them must not be held up
_QUESTIONS = 100  # of a server that are open at a time
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ASKABLE = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
_NOT_CANCELLED = frozenset({"initialize", "server/discover"})
Notice = Callable[[str, JsonObject], None]


class Under(Struct, gc=False):
    """A request that is under way."""

    link: Link | None
    token: Any = None  # the token under which its asker wants to hear of progress


class Speaking:
    """A session over one wire."""

    def __init__(self, name: str, log: Log, notice: Notice) -> None:
        self.name = name
        self.facts = ServerFacts(version="")
        self.wire: Wire
        self.parameters = Parameters()
        self._log = log
        self._notice = notice
        self._numbers = count(1)
        self._under: dict[int, Under] = {}
        self._asked: dict[Any, asyncio.Future[Any]] = {}
        self._tasks = Tasks()

    async def agree(self, *, era: str = "") -> None:
        """Find out which protocol the server speaks, and agree on it. `era` is what it spoke last time."""
        if era and era < MODERN:
            await self._handshake()
        else:
            await self._discover()

    async def request(
        self, method: str, params: JsonObject, *, link: Link | None = None, seconds: float | None = None
    ) -> JsonObject:
        """A result, as it came."""
        result = await self._once(method, params, link, seconds)
        if result.get("resultType") != INPUT_REQUIRED or link is None or link.takes_input_required:
            return result
        for _ in range(_ROUNDS):
            answers = await self._answers(result, link)
            more: JsonObject = {**params, **({"inputResponses": answers} if answers else {})}
            if "requestState" in result:
                more["requestState"] = result["requestState"]
            result = await self._once(method, more, link, seconds)
            if result.get("resultType") != INPUT_REQUIRED:
                return result
        raise ToolFailed(f"{self.name} asked more than {_ROUNDS} times before it answered.", code="bad_response")

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        if not self.wire.lost:
            self._tasks.start(self.wire.tell(encode({"jsonrpc": "2.0", "method": method, "params": params})))

    async def healthy(self, seconds: float) -> bool:
        """Whether the server answers. It need not know the question."""
        try:
            await self._once("server/discover" if self.facts.modern else "ping", {}, None, seconds)
        except McpFault:
            return True
        except ToolError:
            return False
        return True

    def received(self, message: JsonObject, number: int | None) -> None:
        """Something that is no answer: a notification, or a question of the server's."""
        method = message.get("method")
        params = message.get("params")
        if not isinstance(method, str):
            self._log.say("[toolcrib] a message without a method was dropped")
            return
        known = cast("JsonObject", params) if isinstance(params, dict) else {}
        if "id" in message:
            self._question(message["id"], method, known, number)
        elif method == "notifications/cancelled":
            wanted = known.get("requestId")
            if isinstance(wanted, int | str) and (asked := self._asked.get(wanted)) is not None:
                asked.cancel()
        elif len(encode(known)) > _NOTICE:
            self._log.say(f"[toolcrib] {method[:80]} was dropped: it is longer than {_NOTICE >> 10} KB")
        else:
            self._told(method, known, number)

    async def close(self) -> None:
        """End the session."""
        await self._tasks.close()
        await self.wire.close()

    def learn(self, tools: list[JsonObject]) -> list[JsonObject]:
        """Take up which arguments go into headers; without the tools whose headers are wrong."""
        return self.parameters.learn(tools, self._log) if self.facts.modern else tools

    async def _once(self, method: str, params: JsonObject, link: Link | None, seconds: float | None) -> JsonObject:
        number = next(self._numbers)
        under = Under(link)
        params = self._stamped(params, number, under)
        data = encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        headers = self._headers(method, params) if self.facts.modern and self.wire.streams else NONE
        self._under[number] = under

        def late() -> TimedOut:
            self._abandon(method, number, "it took too long")
            what = f"{self.name} did not answer {method} within {seconds:g} seconds."
            return TimedOut(what, hint="Ask for less, or later.")

        try:
            with Deadline(_ALWAYS if seconds is None else seconds, late):
                message = await self.wire.ask(number, data, headers)
        except asyncio.CancelledError:
            self._abandon(method, number, "the caller stopped it")
            raise
        finally:
            del self._under[number]
        return await self._result(message, method, params, link, seconds)

    async def _result(
        self, message: JsonObject, method: str, params: JsonObject, link: Link | None, seconds: float | None
    ) -> JsonObject:
        error = message.get("error")
        if error is None:
            result = message.get("result")
            if not isinstance(result, dict):
                raise ToolFailed(f"{self.name} answered {method} with what is no object.", code="bad_response")
            return cast("JsonObject", result)
        fault = fault_of(error)
        if fault.number != HEADER_MISMATCH or method != "tools/call" or self.parameters.stale:
            raise fault
        self.parameters.stale = True  # once: its tools are not what was listed last
        try:
            listed = await self._once("tools/list", {}, None, seconds)
            self.learn(objects(listed.get("tools")))
            return await self._once(method, params, link, seconds)
        finally:
            self.parameters.stale = False

    def _stamped(self, params: JsonObject, number: int, under: Under) -> JsonObject:
        """Params with what each request of an era has to say."""
        given = params.get("_meta")
        known = cast("JsonObject", given) if isinstance(given, dict) else {}
        if not self.facts.modern:
            if given is None:
                return params
            meta = {key: value for key, value in known.items() if not key.startswith(_META)}
        else:
            meta, link = dict(known), under.link
            meta[_META + "protocolVersion"] = self.facts.version
            meta[_META + "clientInfo"] = client()
            meta[_META + "clientCapabilities"] = link.capabilities if link is not None else {}
        if "progressToken" in meta:
            under.token, meta["progressToken"] = meta["progressToken"], number
        return {**params, "_meta": meta} if meta else {k: v for k, v in params.items() if k != "_meta"}

    def _headers(self, method: str, params: JsonObject) -> Mapping[str, str]:
        headers = {"mcp-protocol-version": self.facts.version, "mcp-method": method}
        key = _NAMED.get(method)
        name = params.get(key) if key else None
        if isinstance(name, str):
            headers["mcp-name"] = header_value(name)
            if method == "tools/call" and self.parameters:
                headers.update(self.parameters.of(name, params.get("arguments")))
        return headers

    def _abandon(self, method: str, number: int, why: str) -> None:
        if method not in _NOT_CANCELLED:
            self.notify("notifications/cancelled", {"requestId": number, "reason": why})

    def _told(self, method: str, params: JsonObject, number: int | None) -> None:
        """A notification goes to whoever it is about, and to all that listen."""
        if method == "notifications/progress":
            token = params.get("progressToken")
            under = self._under.get(token) if isinstance(token, int) else None
            if under is not None and under.link is not None:
                under.link.notify(method, {**params, "progressToken": under.token})
            return
        link = self._link(number)
        if link is not None:
            link.notify(method, params)
            if method == "notifications/message":
                return  # it was about that request, and nobody else's business
        self._notice(method, params)

    def _link(self, number: int | None) -> Link | None:
        """Who is meant by what comes on a request's stream; without streams, the only one there is."""
        if number is not None:
            under = self._under.get(number)
            return under.link if under is not None else None
        links = [under.link for under in self._under.values() if under.link is not None]
        owners = {link.owner for link in links}
        return links[-1] if len(owners) == 1 else None

    def _question(self, asked: object, method: str, params: JsonObject, number: int | None) -> None:
        """Take up a question, unless so many are open that it is a flood: each answer may be a connection."""
        if not isinstance(asked, int | str) or asked in self._asked or len(self._asked) >= _QUESTIONS:
            self._log.say(f"[toolcrib] {method[:80]} was dropped: its id is none, or is in use, or too many are open")
            return
        self._asked[asked] = self._tasks.start(self._answer(asked, method, params, number))

    async def _answer(self, asked: Any, method: str, params: JsonObject, number: int | None) -> None:  # noqa: ANN401
        """Answer a question of the server's: for whoever made the request that it works on."""
        told: JsonObject = {"jsonrpc": "2.0", "id": asked}
        try:
            told["result"] = {} if method == "ping" else await self._ask(method, params, number)
        except McpFault as fault:
            told["error"] = {"code": fault.number, "message": fault.message}
            if fault.given is not None:
                told["error"]["data"] = fault.given
        except ToolError as error:
            told["error"] = {"code": INTERNAL_ERROR, "message": error.message}
        finally:
            self._asked.pop(asked, None)
        await self.wire.tell(encode(told))

    async def _ask(self, method: str, params: JsonObject, number: int | None) -> JsonObject:
        need = _ASKABLE.get(method)
        if need is None:
            raise McpFault(METHOD_NOT_FOUND, f"{method} is not known here.")
        link = self._link(number)
        if link is None or need not in link.capabilities:
            raise McpFault(METHOD_NOT_FOUND, f"Nobody here can answer {method}.")
        return await link.ask(method, params)

    async def _answers(self, result: JsonObject, link: Link) -> JsonObject:
        """The answers to the questions of an `input_required` result."""
        asked = result.get("inputRequests")
        if not isinstance(asked, dict) or not asked:
            await asyncio.sleep(0.05)
            return {}
        answers: JsonObject = {}
        for key, one in cast("JsonObject", asked).items():
            question: JsonObject = cast("JsonObject", one) if isinstance(one, dict) else {}
            method = str(question.get("method"))
            if _ASKABLE.get(method) not in link.capabilities:
                raise McpFault(METHOD_NOT_FOUND, f"Nobody here can answer {method}.")
            answers[key] = await link.ask(method, question.get("params") or {})
        return answers

    async def _discover(self, version: str = MODERN, *, again: bool = True) -> None:
        self.facts = ServerFacts(version=version)
        try:
            # Over HTTP every server answers what it does not know, and signing in takes its time.
            seconds = (30.0 if self.wire.streams else _DISCOVER_SECONDS) + self.wire.patience
            found = await self._once("server/discover", {}, None, seconds)
        except McpFault as fault:
            supported = _supported(fault)
            if fault.number == UNSUPPORTED_VERSION and supported and again and MODERN in supported:
                await self._discover(MODERN, again=False)
                return
            if fault.number == UNSUPPORTED_VERSION and supported and not set(supported) & set(HANDSHAKES):
                raise ToolFailed(
                    f"{self.name} speaks {', '.join(map(str, supported))}, and Toolcrib up to {MODERN}.",
                    code="not_supported",
                ) from None
        except TimedOut:
            pass  # an old server that does not answer what it does not know
        else:
            if MODERN in found.get("supportedVersions", ()):
                await self._adopt(found, modern=True, version=MODERN)
                return
        await self._handshake()

    async def _handshake(self) -> None:
        self.facts = ServerFacts(version="")
        params = {"protocolVersion": HANDSHAKE, "capabilities": CAPABILITIES, "clientInfo": client()}
        found = await self._once("initialize", params, None, 30.0 + self.wire.patience)
        version = found.get("protocolVersion")
        if version not in HANDSHAKES:
            raise ToolFailed(
                f"{self.name} speaks the protocol {str(version)[:40]!r}, which Toolcrib does not.", code="not_supported"
            )
        await self._adopt(found, modern=False, version=str(version))
        await self.wire.tell(encode({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        await self.wire.agreed(str(version), modern=False)

    async def _adopt(self, found: JsonObject, *, modern: bool, version: str) -> None:
        meta = found.get("_meta")
        stamped = cast("JsonObject", meta).get(_META + "serverInfo") if isinstance(meta, dict) else None
        info = found.get("serverInfo") or stamped
        capabilities, words = found.get("capabilities"), found.get("instructions")
        self.facts = ServerFacts(
            version=version,
            info=cast("JsonObject", info) if isinstance(info, dict) else {},
            capabilities=cast("JsonObject", capabilities) if isinstance(capabilities, dict) else {},
            instructions=words if isinstance(words, str) else "",
        )
        if modern:
            await self.wire.agreed(version, modern=True)


@cache
def client() -> JsonObject:
    """What we say of ourselves."""
    return {"name": "toolcrib", "version": heavy("toolcrib").__version__}


def fault_of(error: object) -> McpFault:
    """A JSON-RPC error as an exception."""
    given = cast("JsonObject", error) if isinstance(error, dict) else {}
    number = given.get("code")
    message = given.get("message")
    return McpFault(
        number if isinstance(number, int) else INTERNAL_ERROR,
        message if isinstance(message, str) and message else "The server refused, and did not say why.",
        given.get("data"),
    )


def _supported(fault: McpFault) -> list[Any]:
    data = fault.given
    found = cast("JsonObject", data).get("supported") if isinstance(data, dict) else None
    return cast("list[Any]", found) if isinstance(found, list) else []
