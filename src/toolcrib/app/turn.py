"""One request of an agent."""

from collections.abc import Awaitable, Sequence

from msgspec import Struct

from toolcrib.core.batch import Stop, run_batch
from toolcrib.core.call import Caller, JsonObject, Outcome, Raw, Request
from toolcrib.core.errors import NotIssued
from toolcrib.core.resolver import Resolver, View
from toolcrib.core.run import Runner
from toolcrib.services.access import Access
from toolcrib.services.schemas import schemas


class Turn(Struct, frozen=True, eq=False):
    """One request of an agent: a fixed view, and calls that are checked against it."""

    runner: Runner
    resolver: Resolver
    view: View
    caller: Caller
    access: Access
    once: frozenset[str] = frozenset()  # granted for one call each
    at_once: int = 10

    def call(self, tool: str, arguments: Raw = b"{}", *, id: str = "", key: str = "") -> Awaitable[Outcome]:  # noqa: A002
        """Run one call."""
        return self._one(Request(tool, arguments, id, key))

    async def batch(self, requests: Sequence[Request], *, stop: Stop | None = None) -> list[Outcome]:
        """The calls of one model step: side by side where that is safe, answered in order."""
        return await run_batch(
            self.view, self.caller, requests, self._one, at_once=self.at_once, stop=stop, skip=self._skip
        )

    def _skip(self, request: Request) -> Outcome:
        """A call that a stop kept from running: answered, and on record."""
        return self.runner.skip(self.view, self.caller, request)

    def schemas(self, format: str = "openai") -> list[JsonObject]:  # noqa: A002 - its name at every door
        """What to send to a model in this request."""
        return schemas(self.view.shown, format)

    def _one(self, request: Request) -> Awaitable[Outcome]:
        if self.once:
            return self._granted_once(request)
        return self.runner.call(self.resolver, self.view, self.caller, request)

    async def _granted_once(self, request: Request) -> Outcome:
        """A grant for once is used up by the call that it lets through."""
        tool = self.resolver.registry.get(request.tool)
        if tool is None or tool.name not in self.once:
            return await self.runner.call(self.resolver, self.view, self.caller, request)
        if not await self.access.consume(self.caller.agent, self.caller.session, tool.name):
            error = NotIssued(f"{tool.name} was granted once, and was used.", hint="Ask again if you need it again.")
            return self.runner.refuse(self.view.registry.generation, self.caller, request, error)
        return await self.runner.call(self.resolver, self.view, self.caller, request)
