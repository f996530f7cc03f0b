"""A crib as tools of LangChain.

    create_agent(model, tools=await crib_tools(crib, "helper", session="s1"))

A list serves one request of an agent: make a new one for the next, and toolkits loaded meanwhile are in it.
"""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, Literal

from toolcrib.app import Crib, Turn
from toolcrib.core.call import JsonObject, Outcome
from toolcrib.core.heavy import heavy
from toolcrib.faces.adapters.order import Order, begin

try:
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import PrivateAttr
except ModuleNotFoundError:
    heavy("langchain_core", extra="langchain")  # says how to install it
    raise

Answer = tuple[str, Outcome]


class CribTool(BaseTool):
    """One tool of a crib. A refusal is a message with the status `error`; the whole outcome is the artifact."""

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    parallel: bool = False
    _turn: Turn = PrivateAttr()
    _orders: tuple[Order, Order] = PrivateAttr()  # of async and of blocking calls: they run on different loops

    def __init__(self, turn: Turn, orders: tuple[Order, Order], **fields: Any) -> None:
        super().__init__(**fields)
        self._turn = turn
        self._orders = orders

    def _run(self, /, **arguments: Any) -> Answer:
        return asyncio.run_coroutine_threadsafe(self._answer(arguments, self._orders[1]), _loop()).result()

    async def _arun(self, /, **arguments: Any) -> Answer:
        return await self._answer(arguments, self._orders[0])

    def _answer(self, arguments: JsonObject, order: Order) -> Coroutine[Any, Any, Answer]:
        async def answer() -> Answer:
            async with order.place(parallel=self.parallel):
                outcome = await self._turn.call(self.name, arguments)
            if outcome.error is not None:
                raise ToolException(outcome.text)
            return outcome.text, outcome

        return answer()


async def crib_tools(crib: Crib | Turn, agent: str = "", **who: Any) -> list[BaseTool]:
    """The tools that an agent is shown: of a crib, for which a request is begun, or of a request that you began."""
    turn, at_once = await begin(crib, agent, who)
    orders = (Order(at_once), Order(at_once))
    return [
        CribTool(
            turn,
            orders,
            name=tool.name,
            description=tool.about,
            args_schema=tool.schema,
            parallel=tool.traits.parallel,
        )
        for tool in turn.view.shown
    ]


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Where blocking calls run: a loop of its own, so that they work with and without one in the caller's thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="toolcrib-langchain", daemon=True).start()
    return loop
