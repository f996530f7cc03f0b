"""What servers say beside the results of calls, without secrets: their lists, notifications, questions and faults."""

from collections.abc import Callable
from typing import Any

from toolcrib.core.call import JsonObject
from toolcrib.core.shape import LONG, beside
from toolcrib.faces.mcp.wire import as_object, encode
from toolcrib.services.mcp.aside import laid_aside, put_back
from toolcrib.services.mcp.downstream import McpFault


class Cleaning:
    """Takes secrets out with the crib's one scrubber."""

    def __init__(self, clean: Callable[[Any], Any]) -> None:
        self._clean = clean

    def told(self, params: JsonObject) -> JsonObject:
        """The parameters of a notification, which are short."""
        return as_object(self._clean(params)) if params else params

    async def all(self, value: Any) -> Any:  # noqa: ANN401 - any JSON in, the same shape out
        """Anything else. Bytes in it stay as they are; what is long is looked at beside the event loop."""
        bare, kept = laid_aside(value)
        long = len(encode(bare)) > LONG
        return put_back(await beside(self._clean, bare) if long else self._clean(bare), kept)

    async def fault(self, fault: McpFault) -> McpFault:
        """An error as a server gave it."""
        told = as_object(await self.all({"message": fault.message, "data": fault.given}))
        return McpFault(fault.number, str(told.get("message") or "It failed."), told.get("data"))
