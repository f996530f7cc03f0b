"""Everything that can go wrong, as a tree. A code is a promise: programs may branch on it.

CribError
├── BadTool            a tool cannot be offered as it is declared
├── BadConfig          a configuration is refused; it lists every problem with its line
└── ToolError          the answer to a call that did not do what was asked
    ├── UnknownTool        unknown_tool
    ├── NotIssued          not_issued
    ├── BadArguments       invalid_args
    ├── RateLimited        rate_limited
    ├── Denied             denied
    ├── NeedsApproval      approval_required
    ├── NotApproved        approval_denied
    ├── Answered           approval_answered
    ├── SetAside           approval_ignored
    ├── TimedOut           timeout
    ├── Cancelled          cancelled
    ├── ToolFailed         tool_failed, or the tool's own code
    └── Broken             internal
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec import Struct


class CribError(Exception):
    """Anything that Toolcrib itself raises."""


class BadTool(CribError):
    """A tool cannot be offered as it is declared."""


class Problem(Struct, frozen=True):
    """One thing that is wrong with a configuration: where, what, and what to do about it. "" is the whole of it."""

    where: str
    what: str
    mend: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.where)))
        return f"{place}{place and ': '}{self.what} {self.mend}".rstrip()


class BadConfig(CribError):
    """A configuration is refused whole. Nothing of it was applied."""

    def __init__(self, problems: Sequence[Problem], source: str = "configuration") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__(f"{source} was refused:\n" + "\n".join(f"  {problem}" for problem in self.problems))


class ToolError(CribError):
    """A call that did not do what was asked. The text is written for the model: what happened, and what to do next."""

    code: ClassVar[str] = "tool_failed"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "", data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.data: Mapping[str, object] = data or {}

    def as_fault(self) -> "Fault":
        """The same as a value that can be sent, stored and compared."""
        return Fault(self.code, self.message, self.hint, self.retryable, dict(self.data))


class Fault(Struct, frozen=True, omit_defaults=True):
    """What a refused or failed call says of itself."""

    code: str
    message: str
    hint: str = ""
    retryable: bool = False
    data: dict[str, object] = {}

    def as_json(self) -> dict[str, object]:
        """The shape that a model and a program get: code, message, hint, retryable, and what the code carries."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "retryable": self.retryable, **self.data}


class UnknownTool(ToolError):
    """No tool of that name exists."""

    code = "unknown_tool"


class NotIssued(ToolError):
    """The tool exists, and this caller does not hold it."""

    code = "not_issued"


class BadArguments(ToolError):
    """The arguments do not fit the tool's schema. The tool has not run."""

    code = "invalid_args"


class RateLimited(ToolError):
    """Too many calls. `retry_after` in the data says when to come back, in seconds."""

    code = "rate_limited"
    retryable = True


class Denied(ToolError):
    """A guard refuses these arguments."""

    code = "denied"


class NeedsApproval(ToolError):
    """A person has to agree first, and nobody could be asked now."""

    code = "approval_required"


class NotApproved(ToolError):
    """A person was asked and said no, or did not answer in time."""

    code = "approval_denied"


class Answered(ToolError):
    """A person was asked and said something instead of letting the call run."""

    code = "approval_answered"


class SetAside(ToolError):
    """A person was asked, and set the call aside without a yes or a no."""

    code = "approval_ignored"


class TimedOut(ToolError):
    """The tool took longer than it may."""

    code = "timeout"
    retryable = True


class Cancelled(ToolError):
    """The call was stopped before it ended."""

    code = "cancelled"


class Unrecorded(ToolError):
    """Under `audit: strict` nothing runs that cannot be recorded."""

    code = "audit_full"
    retryable = True


class ToolFailed(ToolError):
    """A tool's own, expected failure. It may carry a code of its own, such as `not_found`."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "tool_failed",
        hint: str = "",
        retryable: bool = False,
        data: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, data=data)
        self._code = code
        self._retryable = retryable

    def as_fault(self) -> Fault:
        return Fault(self._code, self.message, self.hint, self._retryable, dict(self.data))


class Broken(ToolError):
    """A tool or a guard has a bug. The trace is in the log under the call's id, never in the answer."""

    code = "internal"
