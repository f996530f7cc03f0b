"""Resources and prompts on the crib's one pipeline: counted, watched, scrubbed and on record, as calls of tools are.

What a server offers beside its tools is held with any tool of it, and has the traits of those.
"""

from collections.abc import Awaitable, Callable

from toolcrib.app.turn import Turn
from toolcrib.core.call import JsonObject, Request, Result
from toolcrib.core.guard import Call
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import View
from toolcrib.core.tool import Effect, Tool, Traits
from toolcrib.faces.mcp.exchange import Exchange
from toolcrib.faces.mcp.results import fault_of
from toolcrib.faces.mcp.wire import as_object, encode
from toolcrib.services.mcp.arguments import ForeignArguments
from toolcrib.services.mcp.aside import laid_aside, put_back
from toolcrib.services.mcp.downstream import INTERNAL_ERROR, LINK, McpFault
from toolcrib.services.mcp.names import name_of

Ask = Callable[[str, str, JsonObject, Exchange], Awaitable[JsonObject]]
_ANYTHING: JsonObject = {"type": "object"}


class Offer(View):
    """What a caller holds, and beside it one thing that is no tool."""

    def __init__(self, view: View, tool: Tool) -> None:
        """It is worked out already: whoever makes this has seen that the caller holds the server."""
        self.__dict__.update(view.__dict__)
        self.registry = Registry([tool], generation=view.registry.generation)
        self.issued = self.registry.everything
        self.lines, self.team_lines = {}, {}


class Offered:
    """One request for something that servers offer, as it goes on record."""

    def __init__(self, turn: Turn, method: str, exchange: Exchange, ask: Ask) -> None:
        self._turn = turn
        self._method = method
        self._exchange = exchange
        self._ask = ask
        self._noted = False

    async def of(self, server: str, params: JsonObject) -> JsonObject:
        """What a server gives. Raises McpFault."""
        turn, tool = self._turn, self._tool(server)
        self._noted = True
        token = LINK.set(self._exchange)
        try:
            request = Request(tool.name, encode(params))
            outcome = await turn.runner.call(turn.resolver, Offer(turn.view, tool), turn.caller, request)
        finally:
            LINK.reset(token)
        error = outcome.error
        if error is None:
            return as_object(outcome.wire)
        if error.code == McpFault.code:
            raise fault_of(error.message, error.data)
        raise McpFault(INTERNAL_ERROR, f"{error.message} {error.hint}".rstrip(), error.as_json())

    async def on_record(self, params: JsonObject, asked: Awaitable[JsonObject]) -> JsonObject:
        """The same for a request that may be refused before any server is asked."""
        try:
            return await asked
        except McpFault as fault:
            if not self._noted:
                turn, name = self._turn, f"mcp_{_named(self._method)}"
                turn.runner.refuse(turn.view.registry.generation, turn.caller, Request(name, encode(params)), fault)
            raise

    def _tool(self, server: str) -> Tool:
        async def body(call: Call, /, **arguments: object) -> Result:
            if any(note.action == "ask" for note in call.notes):
                self._exchange.hold()
            bare, kept = laid_aside(await self._ask(server, self._method, arguments, self._exchange))
            return Result(wire=bare, read=lambda clean: _as_it_came(put_back(clean, kept)), size=len(encode(bare)))

        beside = [tool.traits for tool in self._turn.view if tool.source == "mcp" and tool.origin == server]
        name = name_of(server, _named(self._method), ())
        return Tool(
            name=name,
            domain="mcp",
            about=f"{self._method} of {server}.",
            body=body,
            arguments=ForeignArguments(name, _ANYTHING),
            traits=Traits(
                effect=Effect.READ,
                flow=frozenset(label for traits in beside for label in traits.flow),
                seconds=max(traits.seconds for traits in beside),
                whole=True,
            ),
            source="mcp",
            origin=server,
            needs=(Call,),
        )


def _as_it_came(wire: JsonObject) -> Result:
    return Result(text=encode(wire).decode(), wire=wire)


def _named(method: str) -> str:
    """A method as a part of a name, which has no slashes."""
    return method.replace("/", "-")
