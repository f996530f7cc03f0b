"""A call that a guard asks about: what the person's answer makes of it.

Only calls that are asked about come here. An answer that took its time, that changed the arguments, or that is bound to
more than these, sends the call through its guards once more: what they say anew is asked about anew.
"""

from collections.abc import Callable, Hashable, Sequence

from msgspec.structs import replace

from toolcrib.core.errors import Answered, Denied, NeedsApproval, NotApproved, SetAside, ToolError
from toolcrib.core.guard import Approval, Approver, Call, Verdict
from toolcrib.core.schema import as_bytes

ROUNDS = 3
Check = Callable[[Call], Verdict | None]
Note = Callable[[str, bytes], None]


async def agreed(
    approver: Approver | None, call: Call, said: list[Verdict], checks: Sequence[Check], note: Note
) -> Call:
    """The call that may run: as it was asked for, or as the person changed it. Raises what refuses it.

    `said` is what the guards said and grows by what they say anew; `note` takes down the answer and the arguments.
    """
    asks = [verdict for verdict in said if verdict.action == "ask"]
    if not asks:
        return call
    for _ in range(ROUNDS):
        answer = await approver(call, asks) if approver is not None else None
        if answer is None:
            raise nobody(call, asks)
        if answer.arguments is not None:
            call = _changed(call, answer)
        note(_told(answer), call.raw)
        if not answer.allowed:
            raise _refusal(call, asks, answer)
        edited = answer.arguments is not None
        if not edited and not answer.waited and not any(ask.binding for ask in asks):
            return call
        again = _checked(call, checks, said)
        # Whoever wrote the arguments has answered what the same rules say of them.
        if {_mark(ask, edited=edited) for ask in again} <= {_mark(ask, edited=edited) for ask in asks}:
            return call
        said += again
        asks = again
    raise NotApproved(f"{call.tool.name} was not called: what it would do changed each time a person was asked.")


def denied(call: Call, verdict: Verdict) -> Denied:
    """The refusal that a guard's no makes."""
    return Denied(f"{call.tool.name} was not called: {verdict.why}.", hint=verdict.hint)


def nobody(call: Call, asks: Sequence[Verdict]) -> NeedsApproval:
    """The refusal where nobody can be asked."""
    return NeedsApproval(
        f"{call.tool.name} was not called: a person has to agree first ({_reasons(asks)}), and nobody can be asked here.",
        hint="Do it another way, or ask the person to call it.",
    )


def _reasons(asks: Sequence[Verdict]) -> str:
    return "; ".join(ask.why for ask in asks)


def _changed(call: Call, answer: Approval) -> Call:
    """The call with the person's arguments, which have to fit the schema as any others."""
    raw = as_bytes(call.tool.name, answer.arguments or b"{}")
    try:
        arguments = call.tool.arguments.decode(raw)
    except ValueError as error:
        raise call.tool.arguments.told(error) from None
    return replace(call, raw=raw, arguments=arguments)


def _checked(call: Call, checks: Sequence[Check], said: list[Verdict]) -> list[Verdict]:
    """What the guards ask now. The policy may have changed while the call waited."""
    asks: list[Verdict] = []
    for check in checks:
        verdict = check(call)
        if verdict is not None and verdict.action == "deny":
            said.append(verdict)
            raise denied(call, verdict)
        if verdict is not None:
            asks.append(verdict)
    return asks


def _mark(ask: Verdict, *, edited: bool) -> Hashable:
    return ask.rule if edited else (ask.rule, ask.why, tuple(sorted(ask.binding.items())))


def _told(answer: Approval) -> str:
    """The answer as the record has it."""
    did = "edited" if answer.arguments is not None else "allowed" if answer.allowed else answer.instead or "denied"
    by = f" by {answer.by}" if answer.by else ""
    return f"{did}{by} ({answer.id})" if answer.id else did + by


def _refusal(call: Call, asks: Sequence[Verdict], answer: Approval) -> ToolError:
    name, data = call.tool.name, {"request": answer.id} if answer.id else {}
    if answer.instead == "pending":
        what = f"{name} was not called: a person has to agree first ({_reasons(asks)}). The request is {answer.id}."
        return NeedsApproval(what, hint=answer.why, data=data)
    if answer.instead == "respond":
        return Answered(f"{name} was not called. The person says instead: {answer.why}", data=data)
    if answer.instead == "ignore":
        return SetAside(
            f"{name} was not called: the person set it aside.",
            hint="Go on without it, and do not ask again.",
            data=data,
        )
    return NotApproved(
        f"{name} was not called: it was not approved" + (f" ({answer.why})." if answer.why else "."),
        hint="Do not try again unchanged; ask what to do instead.",
        data=data,
    )
