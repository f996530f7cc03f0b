"""Loading and unloading toolkits."""

from typing import Annotated

from annotated_types import Len

from toolcrib.core.call import Caller, JsonObject, Where
from toolcrib.core.resolver import TOOLKITS
from toolcrib.core.tool import Effect
from toolcrib.services.toolkits import Toolkits
from toolcrib.tools.toolkits.family import family


@family.tool(Effect.WRITE, where=[Where.MAIN], condition=TOOLKITS, undoable=True)
async def load_tools(
    toolkits: Toolkits, me: Caller, *, toolkit: Annotated[str, Len(1, 128), "Name of the toolkit"]
) -> JsonObject:
    """Load a toolkit. Its tools are there from your next request on, not in this one."""
    return await toolkits.load(me, toolkit)


@family.tool(Effect.WRITE, where=[Where.MAIN], condition=TOOLKITS, undoable=True)
async def unload_tools(
    toolkits: Toolkits, me: Caller, *, toolkit: Annotated[str, Len(1, 128), "Name of the toolkit"]
) -> JsonObject:
    """Unload a toolkit you no longer need. Its tools are gone from your next request on."""
    return await toolkits.unload(me, toolkit)
