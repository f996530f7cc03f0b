"""From a checked call to the tool's function: what it is handed, and in which way it runs."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, cast

from toolcrib.core.call import Caller
from toolcrib.core.errors import BadTool
from toolcrib.core.guard import Call, CallNext
from toolcrib.core.heavy import heavy
from toolcrib.core.resolver import View
from toolcrib.core.tool import Tool

_FROM_CALL: dict[type, Callable[[Call], object]] = {
    Call: lambda call: call,
    Caller: lambda call: call.caller,
    View: lambda call: call.view,
}


def entrance(tool: Tool, services: Mapping[type, object]) -> CallNext:
    """What gives the coroutine that runs a tool's body for a call."""
    handed = [_source(tool, need, services) for need in tool.needs]
    named = [(name, _source(tool, need, services)) for name, need in tool.needs_named]
    body = tool.body
    if heavy("inspect").iscoroutinefunction(body):
        if not handed and not named:
            return _bare(body)
        return _served(body, handed, named)
    if not tool.traits.inline:
        body = partial(_in_thread, body)
    return _any(body, handed, named)


def _source(tool: Tool, need: type, services: Mapping[type, object]) -> Callable[[Call], object]:
    source = _FROM_CALL.get(need)
    if source is not None:
        return source
    if need not in services:
        raise BadTool(f"{tool.name} needs {need.__name__}, which no one offers.")
    service = services[need]
    return lambda _: service


def _bare(body: Callable[..., Any]) -> CallNext:
    def enter(call: Call) -> Any:  # noqa: ANN401 - the body's own coroutine: one of ours around it would only cost
        return body(**call.arguments)

    return enter


Sources = list[Callable[[Call], object]]
Named = list[tuple[str, Callable[[Call], object]]]


def _served(body: Callable[..., Any], handed: Sources, named: Named) -> CallNext:
    def enter(call: Call) -> Any:  # noqa: ANN401
        by_name = {name: source(call) for name, source in named}
        return body(*[source(call) for source in handed], **by_name, **call.arguments)

    return enter


def _any(body: Callable[..., Any], handed: Sources, named: Named) -> CallNext:
    """A plain function, or a callable object that may give something to wait for."""

    async def enter(call: Call) -> Any:  # noqa: ANN401
        by_name = {name: source(call) for name, source in named}
        value = body(*[source(call) for source in handed], **by_name, **call.arguments)
        return await cast("Awaitable[Any]", value) if isinstance(value, Awaitable) else value

    return enter


def _in_thread(body: Callable[..., Any], *handed: object, **arguments: object) -> Any:  # noqa: ANN401
    """A plain function may block, so it gets a thread. A time-out lets go of the thread; it cannot stop it."""
    return heavy("asyncio").to_thread(body, *handed, **arguments)
