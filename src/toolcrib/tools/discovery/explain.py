"""Why a tool is there or not."""

from typing import Annotated

from annotated_types import Len

from toolcrib.core.call import Result
from toolcrib.core.explain import Explained
from toolcrib.core.resolver import View
from toolcrib.core.tool import Effect
from toolcrib.services.finding.catalogue import ASK, Catalogue
from toolcrib.tools.discovery.family import family


@family.tool(Effect.READ, parallel=True)
async def explain_tool(
    catalogue: Catalogue, view: View, *, tool_name: Annotated[str, Len(1, 128), "Name or alias of the tool"]
) -> Result:
    """Say why you hold a tool, or why you do not, and what would change that."""
    told = catalogue.explain(view.seat, tool_name)
    askable = not told.issued and ASK in view and bool(catalogue.wish(view.seat, (tool_name,)).open)
    return Result(text=_text(told, askable=askable), structured=told)


def _text(told: Explained, *, askable: bool) -> str:
    parts = [_verdict(told)]
    if told.issued and told.let_in and told.let_in not in told.reason:
        parts.append(f"It came in through {told.let_in}.")
    if told.change:
        parts.append(f"To change that: {told.change}")
    if askable:
        parts.append(f"Or ask a person for it with {ASK}.")
    return " ".join(parts)


def _verdict(told: Explained) -> str:
    if told.step == "unknown":
        said = told.reason[:1].upper() + told.reason[1:]
        return said if said.endswith("?") else f"{said}."
    if told.issued and told.shown:
        return f"You hold {told.tool} through {told.reason}."
    return f"You {'hold' if told.issued else 'do not hold'} {told.tool}: {told.reason}."
