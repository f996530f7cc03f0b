"""One request under way: how what works on it reaches the client, whatever era that is of."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from toolcrib.core.call import Json, JsonObject
from toolcrib.core.errors import ToolError
from toolcrib.core.shape import LONG, beside
from toolcrib.faces.mcp.peers import Out, Peer
from toolcrib.faces.mcp.wire import LEVEL_KEY, MISSING_CAPABILITY, RESERVED, Id, as_object, encode, notification
from toolcrib.services.mcp.aside import laid_aside, put_back
from toolcrib.services.mcp.downstream import INTERNAL_ERROR, METHOD_NOT_FOUND, McpFault

PROGRESS, LOG = "notifications/progress", "notifications/message"
_NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
Ask = Callable[[str, JsonObject], Awaitable[JsonObject]]


class Cleaning:
    """Takes secrets out of what servers say beside the results of calls: lists, notifications, questions, faults."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._clean = clean

    def told(self, params: JsonObject) -> JsonObject | None:
        """The parameters of a notification, which are short; None where they cannot be looked at: it is not handed on."""
        try:
            found = self._clean(params) if params else params
        except ToolError:
            return None
        return cast("JsonObject", found) if isinstance(found, dict) else None

    async def all(self, value: Any) -> Any:  # noqa: ANN401 - any JSON in, the same shape out
        """Anything else. Bytes in it stay as they are; what is long is looked at beside the event loop."""
        bare, kept = laid_aside(value)
        long = len(encode(bare)) > LONG
        return put_back(await beside(self._clean, bare) if long else self._clean(bare), kept)

    async def fault(self, fault: McpFault) -> McpFault:
        """An error as a server gave it."""
        try:
            told = as_object(await self.all({"message": fault.message, "data": fault.given}))
        except ToolError as error:
            told = {"message": error.message}
        return McpFault(fault.number, str(told.get("message") or "It failed."), told.get("data"))


class Exchange:
    """The `Link` of one request."""

    def __init__(self, peer: Peer, number: Id, out: Out, ask: Ask | None, cleaning: Cleaning) -> None:
        self.peer = peer
        self.number = number
        self.out = out  # a message on the way to the client, before the answer
        self._ask = ask
        self._cleaning = cleaning
        self._token: Json = None
        self._level: int | None = None
        self._extra: JsonObject = peer.standing
        self.asked = False  # a person was asked already: the call is one thing, and goes on where it is

    def asks_by(self, ask: Ask) -> None:
        """How the client is asked."""
        self._ask = ask

    @property
    def owner(self) -> str:
        """Which client it is."""
        return self.peer.key

    def carries(self, meta: JsonObject, answers: Json = None, state: str | None = None) -> None:
        """Take down what the request carries beside its name and arguments."""
        if not meta and answers is None and state is None:
            return
        self._extra = dict(self._extra)
        self._token = meta.get("progressToken")
        kept = {key: value for key, value in meta.items() if key == LEVEL_KEY or not key.startswith(RESERVED)}
        if kept:
            self._extra["_meta"] = {**self._extra.get("_meta", {}), **kept}
        if answers is not None:
            self._extra["inputResponses"] = answers
        if state is not None:
            self._extra["requestState"] = state

    @property
    def capabilities(self) -> JsonObject:
        """What the client can be asked for."""
        return self.peer.capabilities

    @property
    def extra(self) -> JsonObject:
        """What the request carries, for servers of either era."""
        return self._extra

    @property
    def takes_input_required(self) -> bool:
        """Whether the client may be handed questions as a result. Not where a person has said yes to this very call."""
        return self.peer.modern and not self.asked

    def hold(self) -> None:
        """The call is one thing from here on: questions are put to the client while it waits."""
        self.asked = True

    def notify(self, method: str, params: JsonObject) -> None:
        """Progress and log messages, as far as the client wants them."""
        wanted = self._token is not None if method == PROGRESS else method == LOG and self._logs(params)
        told = self._cleaning.told(params) if wanted else None
        if told is not None:
            self.out(notification(method, {**told, "progressToken": self._token} if method == PROGRESS else told))
        # What is about more than this request goes to everybody who listens.

    def _logs(self, params: JsonObject) -> bool:
        return self.peer.wants_log(params, self._extra)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the client, if it said that it can be asked for this."""
        needed = _NEEDS.get(method)
        if needed is None:
            raise McpFault(METHOD_NOT_FOUND, f"A client is not asked for {method}.")
        if needed not in self.peer.capabilities or self._ask is None:
            wanted: JsonObject = {"requiredCapabilities": {needed: {}}}
            raise McpFault(MISSING_CAPABILITY, f"The client cannot be asked: it does not do {needed}.", wanted)
        told = await self._cleaning.all(params)
        if not isinstance(told, dict):
            raise McpFault(INTERNAL_ERROR, "The question cannot be put without a secret that it holds.")
        return await self._ask(method, cast("JsonObject", told))
