"""A crib as tools of the OpenAI Agents SDK.

    Agent(name="helper", tools=await crib_tools(crib, "helper", session="s1"))

A list serves one request of an agent: make a new one for the next, and toolkits loaded meanwhile are in it.
"""

import base64
from functools import partial
from typing import Any

from toolcrib.app import Crib, Turn
from toolcrib.core.call import Attachment
from toolcrib.core.heavy import heavy
from toolcrib.core.tool import Tool
from toolcrib.faces.adapters.order import Order, begin

try:
    from agents import FunctionTool, ToolOutputImage, ToolOutputText
    from agents.tool_context import ToolContext
except ModuleNotFoundError:
    heavy("agents", extra="openai-agents")  # says how to install it
    raise

Output = str | list[ToolOutputText | ToolOutputImage]


async def crib_tools(crib: Crib | Turn, agent: str = "", **who: Any) -> list[FunctionTool]:
    """The tools that an agent is shown: of a crib, for which a request is begun, or of a request that you began."""
    turn, at_once = await begin(crib, agent, who)
    order = Order(at_once)
    return [
        FunctionTool(
            name=tool.name,
            description=tool.about,
            params_json_schema=tool.schema,
            on_invoke_tool=partial(_invoke, turn, order, tool),
            strict_json_schema=False,  # optional arguments have no place in a strict schema; the crib checks them
        )
        for tool in turn.view.shown
    ]


async def _invoke(turn: Turn, order: Order, tool: Tool, context: ToolContext[Any], arguments: str) -> Output:
    """The text for the model. A refusal is a text too: it says what to do instead."""
    del context
    async with order.place(parallel=tool.traits.parallel):
        outcome = await turn.call(tool.name, arguments or "{}")
    images = [_image(one) for one in outcome.attachments if one.media_type.startswith("image/")]
    return [ToolOutputText(text=outcome.text), *images] if images else outcome.text


def _image(image: Attachment) -> ToolOutputImage:
    data = base64.b64encode(image.data).decode()
    return ToolOutputImage(image_url=image.uri or f"data:{image.media_type};base64,{data}")
