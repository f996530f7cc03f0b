"""What the record says that agents have called."""

from collections import Counter

from toolcrib.core.call import Status
from toolcrib.services.advice.simulate import Past
from toolcrib.services.record.audit import Audit, Query


async def counted(audit: Audit, agent: str | None = None) -> list[Past]:
    """The calls that did what was asked, by agent and tool."""
    found: Counter[tuple[str, str]] = Counter()
    async for entry in audit.export(Query(status=Status.DONE.value, agent=agent)):
        found[str(entry["agent"]), str(entry["tool"])] += 1
    return [Past(agent, tool, calls) for (agent, tool), calls in found.items()]
