"""Checked calls, as a guard gets them."""

from typing import Any

from tests.core.test_resolver import made
from tests.core.workbench import resolver_of
from toolcrib.core.call import Caller
from toolcrib.core.guard import Call
from toolcrib.core.resolver import Seat
from toolcrib.core.tool import Tool

TOOL = made("look")
VIEW = resolver_of([TOOL]).view(Seat(agent="ada"))


def call(tool: Tool = TOOL, now: float = 0.0, arguments: dict[str, Any] | None = None, **who: Any) -> Call:
    """A call at a time of a clock that the test holds."""
    raw = who.pop("raw", b"{}")
    who.setdefault("agent", "ada")
    return Call("c", tool, arguments or {}, raw, Caller(**who), VIEW, now)
