"""A place to think, which changes nothing."""

from typing import Annotated

from annotated_types import MaxLen

from toolcrib.core.tool import Effect
from toolcrib.tools.thinking.family import family


@family.tool(Effect.READ, parallel=True, inline=True)
def think(*, thought: Annotated[str, MaxLen(8000), "What goes through your mind: facts, doubts, a plan"]) -> str:
    """Write a thought down before you act. It changes nothing and fetches nothing.

    Good for weighing options, checking a rule, or planning several steps.
    """
    return "Thought noted." if thought.strip() else "An empty thought; go on."
