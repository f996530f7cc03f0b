"""Who answers when a guard asks."""

from collections.abc import Awaitable, Callable, Sequence

from toolcrib.core.guard import Approval, Approver, Call, Verdict

Answer = bool | Approval | None
Ask = Callable[[Call, Sequence[Verdict]], "Answer | Awaitable[Answer]"]


def approver(ask: Ask) -> Approver:
    """A callback of a program, as the pipeline asks it."""

    async def asker(call: Call, asked: Sequence[Verdict]) -> Approval | None:
        answer = ask(call, asked)
        answer = await answer if isinstance(answer, Awaitable) else answer
        return Approval(answer) if isinstance(answer, bool) else answer

    return asker
