"""What the record says that agents have called."""

from collections import Counter

from toolcrib.app import Crib
from toolcrib.core.call import Status
from toolcrib.services.advice.simulate import Past
from toolcrib.services.record.audit import Query


async def past_calls(crib: Crib, agent: str | None = None) -> list[Past]:
    """The calls that did what was asked, counted by agent and tool."""
    counted: Counter[tuple[str, str]] = Counter()
    async for entry in crib.store.audit.export(Query(status=Status.DONE.value, agent=agent)):
        counted[str(entry["agent"]), str(entry["tool"])] += 1
    return [Past(agent, tool, calls) for (agent, tool), calls in counted.items()]
