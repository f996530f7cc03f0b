"""A checked call, and what may stand in its way.

A guard decides: it looks at a call and says nothing, asks for a person, or denies. A ring stands around the body:
it may wait before it, or answer instead of it. Guards are plain functions because most of them say nothing most of
the time, and a function that says nothing costs a fifth of a coroutine that does.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from toolcrib.core.call import Caller
from toolcrib.core.resolver import View
from toolcrib.core.tool import CONTEXT, Tool


class Verdict(Struct, frozen=True):
    """What a guard says when it says anything: ask a person, or deny. The rule is named, so that it can be changed.

    A person's yes is bound to the call's tool and arguments, and to what stands in `binding` (a directory, an
    environment, the identity of an executable): if one of these changes, the person is asked again.
    """

    action: str  # "ask" or "deny"; "note" is for the record only
    rule: str
    why: str
    hint: str = ""
    span: tuple[int, int] | None = None  # which part of the text it speaks of
    leaves: str = ""  # what would leave, and where to
    binding: Mapping[str, str] = {}
    always: Mapping[str, str] | None = None  # the rule that a yes for always makes of a command or program
    settled: Callable[[Sequence[Mapping[str, str]]], bool] | None = None  # whether such rules answer it

    def __str__(self) -> str:
        return f"{self.action} {self.rule}: {self.why}"


class Call(Struct, frozen=True, gc=False):
    """A request that was found, granted and checked. Only these reach a guard or a body.

    Whoever runs it may add to `notes` what its record should say.
    """

    id: str
    tool: Tool
    arguments: dict[str, Any]
    raw: bytes
    caller: Caller
    view: View
    now: float  # a steady clock's seconds
    notes: list[Verdict] = []


CONTEXT.update({Call, View})
CallNext = Callable[[Call], Awaitable[Any]]


def ask(rule: str, why: str, hint: str = "") -> Verdict:
    """A person has to agree first."""
    return Verdict("ask", rule, why, hint)


def deny(rule: str, why: str, hint: str = "") -> Verdict:
    """Nobody is asked."""
    return Verdict("deny", rule, why, hint)


class Guard(Protocol):
    """Looks at calls of the tools that it watches. It may also raise a ToolError that says more than a verdict."""

    @property
    def name(self) -> str: ...

    def watches(self, tool: Tool) -> bool:
        """Asked once for each tool, not for each call."""
        ...

    def check(self, call: Call) -> Verdict | None: ...


class Ring(Protocol):
    """Stands around the bodies of the tools that it watches."""

    def watches(self, tool: Tool) -> bool: ...

    def __call__(self, call: Call, call_next: CallNext) -> Coroutine[Any, Any, Any]: ...


class Approval(Struct, frozen=True):
    """A person's answer. With `arguments` the call runs with these instead, after every check of theirs."""

    allowed: bool
    id: str = ""
    by: str = ""
    why: str = ""
    arguments: bytes | str | Mapping[str, object] | None = None
    waited: bool = False  # the call waited for it, so what was checked before is checked again
    instead: str = ""  # why it was not allowed, where that is no plain no: pending, respond, ignore or expired


class Approver(Protocol):
    """Asks a person about a call, and waits for the answer. None: nobody can be asked now."""

    async def __call__(self, call: Call, asked: Sequence[Verdict]) -> Approval | None: ...
