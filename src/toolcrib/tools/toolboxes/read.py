"""Looking at toolboxes."""

from toolcrib.core.call import Result, Where
from toolcrib.core.tool import Effect
from toolcrib.services.toolboxes import Shown, Toolboxes
from toolcrib.tools.toolboxes.family import family

NAMES_SHOWN = 12


@family.tool(Effect.READ, parallel=True, where=[Where.MAIN])
async def list_toolboxes(toolboxes: Toolboxes) -> Result:
    """List the toolboxes: what each grants, which agents use it, and whether it can be changed."""
    boxes = await toolboxes.all()
    return Result(text="\n".join(map(_line, boxes)), structured={"toolboxes": boxes})


def _line(box: Shown) -> str:
    facts = [box.origin.value, *(["exact"] if box.exact else []), f"{box.grants} tools"]
    used = f" Used by {', '.join(box.used_by)}." if box.used_by else ""
    about = f" {box.description}" if box.description else ""
    listed = ", ".join(box.tools[:NAMES_SHOWN])
    more = f" and {len(box.tools) - NAMES_SHOWN} more" if len(box.tools) > NAMES_SHOWN else ""
    return f"{box.name} ({', '.join(facts)}):{about} [{listed}{more}]{used}"
