"""What the record says that agents have called."""

from toolcrib.app import Crib
from toolcrib.services.advice.past import counted
from toolcrib.services.advice.simulate import Past


async def past_calls(crib: Crib, agent: str | None = None) -> list[Past]:
    """The calls that did what was asked, counted by agent and tool."""
    return await counted(crib.store.audit, agent)
