"""Looking at toolkits."""

from toolcrib.core.call import Caller, JsonObject, Where
from toolcrib.core.resolver import TOOLKITS
from toolcrib.core.tool import Effect
from toolcrib.services.toolkits import Toolkits
from toolcrib.tools.toolkits.family import family


@family.tool(Effect.READ, where=[Where.MAIN], condition=TOOLKITS)
async def list_toolkits(toolkits: Toolkits, me: Caller) -> JsonObject:
    """List the toolkits you may load, with their tools and whether they are loaded."""
    return await toolkits.list(me)
