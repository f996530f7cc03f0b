"""The path of one call, from request to record.

    find ► issued ► validate ► guards (rate, inspect, flow) ► approve ► hooks ► run ► shape ► scrub ► record

The frame is fixed: no setting can drop the finding, the check, the scrubbing or the record. What a tool's calls
have to pass is put together once for each tool, as a `Line`; a call that never waits makes no task and no timer.
"""

import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from itertools import count
from types import coroutine
from typing import Any, cast

from toolcrib.core.approve import agreed, denied
from toolcrib.core.asked import Asked, Audit, Once
from toolcrib.core.bind import entrance
from toolcrib.core.call import Caller, Outcome, Record, Request, Status
from toolcrib.core.deadline import Deadline
from toolcrib.core.errors import Broken, Cancelled, Fault, TimedOut, ToolError, ToolFailed, Unrecorded
from toolcrib.core.explain import refusal
from toolcrib.core.guard import Approver, Call, CallNext, Guard, Ring, Verdict
from toolcrib.core.heavy import heavy
from toolcrib.core.resolver import Resolver, View
from toolcrib.core.schema import BYTES_OF_ARGUMENTS, as_bytes
from toolcrib.core.shape import Shaper, beside, is_long
from toolcrib.core.tool import Effect, Tool

Fill = Callable[[Call], Awaitable[Call]]  # the call with its secrets in it, for the tool and nobody else


class Line:
    """All that calls of one tool have to pass, put together once."""

    __slots__ = ("again", "checks", "decode", "enter", "entrust", "fill", "quiet", "seconds", "shape", "tool")

    def __init__(self, tool: Tool, guards: Sequence[Guard], enter: CallNext, seconds: float) -> None:
        self.fill: Fill | None = None
        self.entrust: Callable[[bytes], bytes] | None = None
        self.shape: Callable[[Call, Any], Outcome]
        self.tool = tool
        self.checks = tuple(guard.check for guard in guards)
        # After a person's answer the guards look once more; those that count calls have counted this one.
        self.again = tuple(guard.check for guard in guards if not getattr(guard, "counts", False))
        self.enter = enter
        self.decode = tool.arguments.decode
        self.seconds = seconds
        self.quiet = 0  # calls in a row that never waited

    def late(self) -> TimedOut:
        """What a call that took too long is told."""
        what = f"{self.tool.name} was stopped: it took longer than {self.seconds:g} seconds."
        return TimedOut(what, hint="Ask for less at a time, or try again later.")


class Runner:
    """Runs calls. One for each crib, shared by every agent and every face."""

    def __init__(
        self,
        services: Mapping[type, object],
        audit: Audit,
        shaper: Shaper,
        *,
        guards: Sequence[Guard] = (),
        rings: Sequence[Ring] = (),
        team_rings: Sequence[Ring] = (),
        once: Once | None = None,
        approver: Approver | None = None,
        strict: bool = False,
        seconds: Mapping[str, float] | None = None,
        fill: Fill | None = None,
        entrust: Callable[[bytes], bytes] | None = None,
        reveals: bool = False,
    ) -> None:
        self.fill = fill
        self.entrust = entrust
        self._revealed = Shaper(lambda text: text, None, shaper.limit) if reveals else shaper
        self.services = services
        self.audit = audit
        self.shaper = shaper
        self.once = once
        self.approver = approver
        self.strict = strict
        self._seconds = seconds or {}
        self.before: list[Callable[[Call], Awaitable[None] | None]] = []
        self.after: list[Callable[[Call, Any], Any]] = []
        self.listeners: list[Callable[[Record], None]] = []
        self._guards = tuple(guards)
        self._rings = tuple(rings)
        self._team_rings = tuple(team_rings)
        self._prefix = f"c{os.urandom(5).hex()}"
        self._count = count(1)

    async def call(self, resolver: Resolver, view: View, caller: Caller, request: Request) -> Outcome:
        """Answer a request. A tool's own trouble never raises: it is an outcome and a record."""
        call_id = request.id or f"{self._prefix}{next(self._count):x}"
        asked = Asked(call_id, request, caller, view.registry.generation, time.time(), time.perf_counter(), [])
        try:
            outcome = await self._answer(resolver, view, asked)
        except Exception:  # noqa: BLE001 - the scrubber itself broke: then nothing is said at all
            outcome = _withheld(call_id)
        except BaseException:
            error = Cancelled(f"{request.tool} was stopped before it ended.")
            self._hand(asked.record(self.shaper.failed(call_id, request.tool, error, Status.CANCELLED)))
            raise
        record = asked.record(outcome)
        if self.strict:
            outcome = await self._on_disk(record, outcome)
        else:
            self.audit.hand(record)
        if self.listeners:
            self._tell(record)
        return outcome

    def _hand(self, record: Record) -> None:
        self.audit.hand(record)
        self._tell(record)

    def _tell(self, record: Record) -> None:
        """Tell the listeners, without secrets. One that breaks takes nothing away from the caller."""
        told = self.shaper.recorded(record) if self.listeners else record
        for listener in self.listeners:
            try:
                listener(told)
            except Exception:  # noqa: BLE001 - whoever listens has no part in the call
                self._log(f"a listener broke at call {record.id}")

    def refuse(self, generation: int, caller: Caller, request: Request, error: ToolError) -> Outcome:
        """Refuse a request before it comes to the pipeline; it is recorded like any other."""
        call_id = request.id or f"{self._prefix}{next(self._count):x}"
        asked = Asked(call_id, request, caller, generation, time.time(), time.perf_counter(), [])
        if isinstance(request.arguments, bytes):
            asked.raw = request.arguments
        status = Status.CANCELLED if isinstance(error, Cancelled) else Status.REFUSED
        self._hand(asked.record(outcome := self.shaper.failed(call_id, request.tool, error, status)))
        return outcome

    def skip(self, view: View, caller: Caller, request: Request) -> Outcome:
        """Answer and record a call that a stop kept from running."""
        told = Cancelled(f"{request.tool} was stopped before it began.")
        return self.refuse(view.registry.generation, caller, request, told)

    async def _on_disk(self, record: Record, outcome: Outcome) -> Outcome:
        """Under `audit: strict` an outcome is given only when its record is safe."""
        try:
            await self.audit.durable(record)
        except ToolError as error:
            return self.shaper.failed(outcome.id, outcome.tool, error, outcome.status)
        return outcome

    async def _answer(self, resolver: Resolver, view: View, asked: Asked) -> Outcome:
        """Find, issued, validate; what passes is a Call. Whatever refuses or breaks up to the tool is a refusal."""
        request = asked.request
        try:
            raw = request.arguments
            if raw.__class__ is not bytes or len(raw) > BYTES_OF_ARGUMENTS:
                raw = as_bytes(request.tool, raw)
            asked.raw = raw  # type: ignore[assignment] - bytes from here on
            line = (view.team_lines if asked.caller.team else view.lines).get(request.tool)
            if line is None:
                line = self._find(resolver, view, asked)
            if line.entrust is not None:
                asked.raw = line.entrust(asked.raw)
            arguments = _checked(line, raw)  # type: ignore[arg-type]
            call = Call(asked.id, line.tool, arguments, asked.raw, asked.caller, view, asked.began, asked.said)
            if self.strict and self.audit.full:
                raise Unrecorded(f"{line.tool.name} was not called: its record could not be kept.")
            if request.key:
                return await self._once(line, call, asked)
            return await self._pass(line, call, asked)
        except ToolError as error:
            return self.shaper.failed(asked.id, request.tool, error, Status.REFUSED)
        except Exception:  # noqa: BLE001 - a guard that breaks refuses: it neither stops the agent nor lets the call pass
            return self._broken(asked.id, request.tool, Status.REFUSED)

    def _find(self, resolver: Resolver, view: View, asked: Asked) -> Line:
        """Find the tool, see that it is issued, and put its line together for this view."""
        caller, name = asked.caller, asked.request.tool
        i = view.registry.index(name)
        entrust = self.entrust if i is not None and view.registry.tools[i].traits.entrusts else None
        if i is None or not view.issued >> i & 1:
            if entrust is not None:
                asked.raw = entrust(asked.raw)  # refused or not, the record holds the arguments
            raise refusal(resolver, view, name)
        tool = view.registry.tools[i]
        guards = [guard for guard in self._guards if guard.watches(tool)]
        enter = entrance(tool, self.services)
        rings = (*self._team_rings, *self._rings) if caller.team else self._rings
        for ring in reversed([ring for ring in rings if ring.watches(tool)]):
            enter = _around(ring.__call__, enter)
        line = Line(tool, guards, enter, self._seconds.get(tool.name, tool.traits.seconds))
        line.shape = self._revealed.shaped if tool.traits.reveals else self.shaper.shaped
        line.entrust = entrust
        line.fill = self.fill if tool.traits.expands_secrets else None
        lines = view.team_lines if caller.team else view.lines
        return lines.setdefault(tool.name, lines.setdefault(name, line))

    async def _pass(self, line: Line, call: Call, asked: Asked) -> Outcome:
        """The guards, then the tool."""
        for check in line.checks:
            verdict = check(call)
            if verdict is not None:
                asked.said.append(verdict)
                if verdict.action == "deny":
                    raise denied(call, verdict)
        if asked.said:
            call = await agreed(self.approver, call, asked.said, line.again, asked.answered)
        for hook in self.before:
            answer = hook(call)
            if answer is not None:
                await answer
        filled = call if line.fill is None else await line.fill(call)
        asked.ran = True
        return await self._run(line, call, filled)

    async def _run(self, line: Line, call: Call, filled: Call) -> Outcome:
        """The tool itself, under its deadline; then the hooks that look at what it gave."""
        try:
            steps = line.enter(filled)
            try:
                waits = steps.send(None)  # type: ignore[attr-defined] - entrances are coroutines
                line.quiet = 0
                value = await self._wait(line, call, steps, waits)  # type: ignore[arg-type]
            except StopIteration as stop:  # it gave its value without a wait
                value = stop.value
                line.quiet += 1
            for hook in self.after:
                value = await _settled(hook(call, value))
            outcome = await beside(line.shape, call, value) if is_long(value) else line.shape(call, value)
            if len(outcome.text) > self.shaper.limit and not call.tool.traits.whole:
                outcome = await self.shaper.fitted(call, outcome)
        except ToolError as error:
            return self.shaper.failed(call.id, call.tool.name, error, Status.FAILED)
        except _cancelled_by_itself():
            error = Cancelled(f"{call.tool.name} was stopped by something that it waited for.")
            return self.shaper.failed(call.id, call.tool.name, error, Status.FAILED)
        except (Exception, SystemExit):  # noqa: BLE001 - a tool's bug must not stop the agent, nor show itself to the model
            return self._broken(call.id, call.tool.name, Status.FAILED)
        return outcome

    async def _wait(self, line: Line, call: Call, steps: Coroutine[Any, Any, Any], waits: object) -> Any:  # noqa: ANN401
        """The rest of a body that waits. Only now is there something to time and to remember."""
        self.audit.began(call.id, time.time(), call.caller, call.tool.name, call.raw)
        with Deadline(line.seconds, line.late):
            return await _rest(steps, waits)

    async def _once(self, line: Line, call: Call, asked: Asked) -> Outcome:
        """A key that was used answers with what was recorded, and the tool does not run twice."""
        once, key = self.once, asked.request.key
        if once is None:
            return await self._pass(line, call, asked)
        recorded = await once.recall(call, key)
        if recorded is not None:
            asked.said.append(Verdict("note", "once", "answered from the record of an earlier call"))
            return recorded
        try:
            outcome = await self._pass(line, call, asked)
        except BaseException:
            if asked.ran:  # stopped midway: nobody knows what it did, and the key must not let it run again
                outcome = self.shaper.failed(call.id, call.tool.name, _unknown(call.tool.name), Status.CANCELLED)
                await self._note(call, key, outcome)
            else:
                await self._remember(once.drop(call, key))
            raise
        await self._note(call, key, outcome)
        return outcome

    async def _note(self, call: Call, key: str, outcome: Outcome) -> None:
        """Keep an outcome under its key. A failed read may be done again; anything else may have acted."""
        traits = call.tool.traits
        if self.once is not None and not traits.reveals and (outcome.ok or traits.effect is not Effect.READ):
            await self._remember(self.once.keep(call, key, outcome))
        elif self.once is not None:
            await self._remember(self.once.drop(call, key))

    async def _remember(self, noting: Awaitable[None]) -> None:
        """What was done is done: a journal that cannot be written does not turn it into a refusal."""
        try:
            await noting
        except Exception:  # noqa: BLE001 - whatever the journal says
            self._log("an idempotency key could not be noted")

    def _log(self, what: str) -> None:
        trace = self.shaper.scrub(heavy("traceback").format_exc())
        heavy("logging").getLogger("toolcrib").error("%s\n%s", what, trace)

    def _broken(self, call_id: str, tool: str, status: Status) -> Outcome:
        self._log(f"call {call_id} of {tool} broke")
        error = Broken(f"{tool} broke. This is a bug, not your mistake; the log has it under {call_id}.")
        return self.shaper.failed(call_id, tool, error, status)


def _cancelled_by_itself() -> tuple[type[BaseException], ...]:
    """What a tool raises when something it waited for was cancelled, and nobody stopped the call itself.

    Asked for only when something was raised.
    """
    asyncio = heavy("asyncio")
    return () if asyncio.current_task().cancelling() else (asyncio.CancelledError,)


def _unknown(tool: str) -> ToolError:
    hint = "Look at what it changed; then call again with a new key if it is still needed."
    return ToolFailed(f"{tool} was stopped, and nobody knows what it did.", code="unknown_outcome", hint=hint)


def _withheld(call_id: str) -> Outcome:
    """The outcome when not even an error can be scrubbed."""
    message = f"The scrubber broke, so what call {call_id} gave is withheld. This is a bug, not your mistake."
    fault = Fault(Broken.code, message)
    return Outcome(id=call_id, tool="", status=Status.FAILED, text=message, error=fault)


def _around(ring: Callable[[Call, CallNext], Awaitable[Any]], body: CallNext) -> CallNext:
    """A body with a ring around it. A closure over the bound method: a partial costs half as much again."""

    def enter(call: Call) -> Awaitable[Any]:
        return ring(call, body)

    return enter


def _checked(line: Line, raw: bytes) -> dict[str, Any]:
    try:
        return line.decode(raw)
    except ValueError as error:
        raise line.tool.arguments.told(error) from None


async def _settled(value: Any) -> Any:  # noqa: ANN401 - what a hook gives, waited for if need be
    return await cast("Awaitable[Any]", value) if isinstance(value, Awaitable) else value


@coroutine
def _rest(steps: Coroutine[Any, Any, Any], waits: object) -> Generator[Any, Any, Any]:
    """Go on with a coroutine that has already given its first wait."""
    try:
        while True:
            try:
                step, given = steps.send, (yield waits)
            except BaseException as error:  # noqa: BLE001 - handed on into the coroutine, which decides
                step, given = steps.throw, error
            waits = step(given)
    except StopIteration as stop:
        return stop.value
