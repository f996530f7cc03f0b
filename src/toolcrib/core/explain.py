"""Why a tool is held or not: read off the trace that the resolver left, never worked out a second time."""

from collections.abc import Iterator

from msgspec import Struct

from toolcrib.core.errors import NotIssued, ToolError, UnknownTool
from toolcrib.core.registry import LONGEST, Registry, near
from toolcrib.core.resolver import Resolver, Seat, Step, View


class Explained(Struct, frozen=True):
    """The answer for one tool."""

    tool: str
    issued: bool
    shown: bool
    step: str
    reason: str
    let_in: str = ""  # the first thing that granted it
    change: str = ""  # what to change for the other answer


def explain(resolver: Resolver, seat: Seat, name: str) -> Explained:
    """Why the caller in this seat holds a tool, or does not. The name may be an alias, or of a tool not built yet."""
    view, registry = resolver.view(seat), resolver.registry
    i = registry.index(name)
    if i is not None:
        return _of(resolver, view, i)
    if reserved := registry.reserved(name):
        why = "it is in the catalogue, and this version does not have it yet"
        return Explained(reserved.name, issued=False, shown=False, step="universe", reason=why)
    step = "universe" if (why := registry.awaits(name)) else "unknown"
    return Explained(name, issued=False, shown=False, step=step, reason=why or unknown(registry, name))


def explain_all(resolver: Resolver, seat: Seat) -> Iterator[Explained]:
    """The answer for every tool there is."""
    view = resolver.view(seat)
    return (_of(resolver, view, i) for i in range(len(resolver.registry)))


def unknown(registry: Registry, name: str) -> str:
    """What to say of a name that is no tool."""
    if several := registry.several(name):
        return f"{name!r} is not one tool, it stands for {', '.join(several)}. Name one of them"
    close = registry.nearest(name)
    return f"there is no tool {_short(name)!r}" + (f"; did you mean {' or '.join(close)}?" if close else "")


def refusal(resolver: Resolver, view: View, name: str) -> ToolError:
    """Why a call of that name is refused, in words that a model can act on."""
    registry = resolver.registry
    i = registry.index(name)
    if i is not None:
        told = _of(resolver, view, i)
        return NotIssued(f"{told.tool} was not called: {told.reason}.", hint=told.change, data={"step": told.step})
    if why := registry.awaits(name):
        return NotIssued(f"{_short(name)} was not called: {why}.", data={"step": "universe"})
    close = near(name, view.names)
    hint = f"The nearest that you hold: {', '.join(close)}." if close else ""
    if reserved := registry.reserved(name):
        return UnknownTool(f"{reserved.name} is in the catalogue, and this version does not have it yet.", hint=hint)
    if several := registry.several(name):
        held = [one for one in several if one in view]
        hint = f"Call {' or '.join(held)}." if held else "You hold none of them."
        told = f"{name!r} stands for several tools: {', '.join(several)}."
        return UnknownTool(told, hint=hint, data={"nearest": held})
    return UnknownTool(f"There is no tool {_short(name)!r}.", hint=hint, data={"nearest": close})


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"


def _of(resolver: Resolver, view: View, i: int) -> Explained:
    tool = resolver.registry.tools[i]
    bit = 1 << i
    came, last = _decisive(view, bit)
    let_in = came.why if came else ""
    if view.issued & bit:
        by = last or came
        reason = by.why if by else ""
        if not any(seen is tool for seen in view.shown):
            return Explained(
                tool.name, issued=True, shown=False, step="deferred", let_in=let_in, change="Raise tool_limit or tool_tokens.",
                reason=f"held through {reason}, and beyond what the prompt may hold; search_tools brings it in",
            )  # fmt: skip
        leave = f"Add it to agents.{view.seat.agent}.deny."
        if by and by.name == "also_allow":
            leave = "Take it out of also_allow, or put it on policy.hard_deny: also_allow undoes a deny."
        return Explained(
            tool.name, issued=True, shown=True, step=by.name if by else "", reason=reason, let_in=let_in, change=leave
        )
    if last is None:
        reason, change = _not_granted(resolver, view, i)
        return Explained(tool.name, issued=False, shown=False, step="grant", reason=reason, change=change)
    return Explained(
        tool.name, issued=False, shown=False, step=last.name, reason=last.why, let_in=let_in, change=last.mend
    )


def _decisive(view: View, bit: int) -> tuple[Step | None, Step | None]:
    """The first step that let the tool in, and the last one that changed the answer."""
    first: Step | None = None
    last: Step | None = None
    held = False
    for step in view.steps:
        if not step.mask & bit:
            continue
        if step.adds and not held:
            first, last, held = first or step, step, True
        elif not step.adds:
            last, held = step, False
    return first, last


def _not_granted(resolver: Resolver, view: View, i: int) -> tuple[str, str]:
    """Nothing granted it: say which toolkit or toolbox would."""
    bit, grants, rules = 1 << i, resolver.grants, view.rules
    tool = resolver.registry.tools[i]
    if taken := next((one for one in rules.lent if not one.gives and tool.name in one.names), None):
        return taken.why, taken.mend  # a toolbox would not help
    for name in rules.allowed_toolkits:
        if (kit := grants.toolkits.get(name)) and resolver.mask(tool.name for tool in kit.tools) & bit:
            return f"toolkit {name} is not loaded: call load_tools, it takes effect on the next request", ""
    if resolver.mask(grants.floor) & bit and view.seat.where in tool.traits.where:
        return "its toolboxes are exact, which leaves the core floor out", "Add a toolbox that is not exact."
    boxes = [name for name in grants.toolboxes if resolver.box(name) & bit]
    change = f"Add one of these toolboxes to the agent: {', '.join(sorted(boxes))}." if boxes else ""
    return "not in your toolboxes", change or f"Put {tool.name} in a toolbox of the agent."
