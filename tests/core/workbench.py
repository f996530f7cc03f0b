"""A runner over a few tools, with everything real but small: what the tests of the core and the guards work with."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from toolcrib.core.call import Caller, Outcome, Raw, Record, Request
from toolcrib.core.errors import ToolError
from toolcrib.core.guard import Approver, Call, Guard, Ring, Verdict
from toolcrib.core.policy import AgentRules, Grants
from toolcrib.core.registry import Names, Registry
from toolcrib.core.resolver import Resolver, View, seat_of
from toolcrib.core.run import Once, Runner
from toolcrib.core.shape import LIMIT, Scrub, Shaper, Spill
from toolcrib.core.tool import Body, Tool, as_tool


def unscrubbed(text: str) -> str:
    """The text as it is."""
    return text


class Kept:
    """An audit that keeps what it was handed."""

    def __init__(self, *, full: bool = False, trouble: ToolError | None = None) -> None:
        self.records: list[Record] = []
        self.on_disk: list[Record] = []
        self.begun: list[str] = []
        self.full = full
        self._trouble = trouble

    def hand(self, record: Record) -> None:
        self.records.append(record)

    async def durable(self, record: Record) -> None:
        if self._trouble:
            raise self._trouble
        self.records.append(record)
        self.on_disk.append(record)

    def began(self, call: str, at: float, caller: Caller, tool: str, arguments: bytes) -> None:
        self.begun.append(call)


class Watch:
    """A guard made of one function."""

    name = "watch"

    def __init__(self, check: Callable[[Call], Verdict | None], tools: Iterable[str] = ()) -> None:
        self._check = check
        self._tools = frozenset(tools)

    def watches(self, tool: Tool) -> bool:
        return not self._tools or tool.name in self._tools

    def check(self, call: Call) -> Verdict | None:
        return self._check(call)


def resolver_of(
    tools: Iterable[Tool | Body],
    agents: Mapping[str, AgentRules] | None = None,
    *,
    names: Names | None = None,
    **grants: Any,
) -> Resolver:
    """A resolver over these tools, with all of them in the floor."""
    registry = Registry(map(as_tool, tools), names)
    grants.setdefault("floor", tuple(tool.name for tool in registry.tools))
    return Resolver(registry, Grants(agents=agents or {"ada": AgentRules(name="ada")}, **grants))


class Bench:
    """Calls go through the whole pipeline; `records` is what the audit was handed."""

    def __init__(
        self,
        *tools: Tool | Body,
        resolver: Resolver | None = None,
        services: Mapping[type, object] | None = None,
        guards: Sequence[Guard] = (),
        rings: Sequence[Ring] = (),
        team_rings: Sequence[Ring] = (),
        once: Once | None = None,
        approver: Approver | None = None,
        audit: Kept | None = None,
        strict: bool = False,
        scrub: Scrub = unscrubbed,
        spill: Spill | None = None,
        limit: int = LIMIT,
    ) -> None:
        self.resolver = resolver or resolver_of(tools)
        self.audit = audit or Kept()
        self.runner = Runner(
            services or {},
            self.audit,
            Shaper(scrub, spill, limit),
            guards=guards,
            rings=rings,
            team_rings=team_rings,
            once=once,
            approver=approver,
            strict=strict,
        )

    @property
    def records(self) -> list[Record]:
        return self.audit.records

    def view(self, **who: Any) -> View:
        return self.resolver.view(seat_of(_caller(who)))

    async def call(self, tool: str, arguments: Raw = b"{}", *, key: str = "", id: str = "", **who: Any) -> Outcome:  # noqa: A002 - as Request calls it
        caller = _caller(who)
        view = self.resolver.view(seat_of(caller))
        return await self.runner.call(self.resolver, view, caller, Request(tool, arguments, id, key))


def _caller(who: dict[str, Any]) -> Caller:
    who.setdefault("agent", "ada")
    return Caller(**who)


def code(outcome: Outcome) -> str:
    """The error code of an outcome, or nothing."""
    return outcome.error.code if outcome.error else ""
