"""Asking a person for tools."""

from collections.abc import Sequence
from typing import Annotated

from annotated_types import Len

from toolcrib.core.call import Caller, Result
from toolcrib.core.errors import ToolFailed
from toolcrib.core.explain import Explained
from toolcrib.core.resolver import View
from toolcrib.core.tool import Effect
from toolcrib.services.access import Access, AccessRequest, Decision
from toolcrib.services.finding.catalogue import Catalogue, Wish
from toolcrib.tools.access.family import family

Names = Annotated[list[Annotated[str, Len(1, 128)]], Len(1, 25), "Names of the tools you need"]


@family.tool(Effect.WRITE)
async def request_tool_access(
    access: Access,
    catalogue: Catalogue,
    view: View,
    me: Caller,
    *,
    tool_names: Names,
    reason: Annotated[str, Len(10, 500), "Why you need them, for the person who decides"],
) -> Result:
    """Ask a person for tools that you do not hold. Nothing is granted until the person decides."""
    wish = catalogue.wish(view.seat, tool_names)
    if wish.unknown or wish.closed:
        raise _refused(wish)
    if not wish.open:
        return Result(text=f"You hold {', '.join(wish.held)} already.", structured={"held": wish.held})
    if len(reason.strip()) < 10:
        raise ToolFailed("The reason says nothing; nobody was asked.", code="bad_reason", hint="Say what it is for.")
    asked = await _waiting(access, me, wish.open) or await access.request(
        agent=me.agent, session=me.session, user=me.user, tools=wish.open, reason=reason.strip()
    )
    held = f" You hold {', '.join(wish.held)} already." if wish.held else ""
    text = f"Asked a person for {', '.join(asked.tools)}. The request is {asked.id}; go on without them until it is decided."
    told = {"request": asked.id, "state": asked.state.value, "asked_for": asked.tools, "held": wish.held}
    return Result(text=text + held, structured=told)


async def _waiting(access: Access, me: Caller, names: Sequence[str]) -> AccessRequest | None:
    """A request of this session that asks for all of it and waits: a person is not asked twice."""
    pending = await access.requests(agent=me.agent, state=Decision.PENDING)
    return next((one for one in pending if one.session == me.session and set(names) <= set(one.tools)), None)


def _refused(wish: Wish) -> ToolFailed:
    wrong = (*wish.unknown, *wish.closed)
    code = "unknown_tool" if wish.unknown else "not_grantable"
    return ToolFailed(
        f"Nobody was asked: {'; '.join(map(_why, wrong))}.",
        code=code,
        hint="Ask again without these names, or with the right ones.",
        data={"refused": [{"tool": one.tool, "reason": one.reason} for one in wrong]},
    )


def _why(told: Explained) -> str:
    return told.reason if told.tool in told.reason else f"{told.tool}: {told.reason}"
