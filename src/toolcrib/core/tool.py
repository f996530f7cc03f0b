"""What a tool is, and how one is declared.

A tool is a function. In a family of the house its signature is its contract:

    async def memorize(memories: Memories, me: Caller, *, content: str) -> Memory
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^  ^^^^^^^^^^^^^^^
                       before the star: the house       after the star: the model

In a user's own code (`@tool`) every parameter is the model's, but for those typed `Caller` or `Call`.
The decorators return the function as it is, so a test calls it like any function.
"""

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, TypeVar, get_type_hints, overload

from msgspec import Struct, field

from toolcrib.core.call import Caller, JsonObject, Where
from toolcrib.core.errors import BadTool
from toolcrib.core.heavy import heavy
from toolcrib.core.schema import REQUIRED, Arguments, Signature

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
BOTH = frozenset(Where)
CONTEXT: set[type] = {Caller}  # types that a call brings along by itself; core.guard adds Call
_DECLARED = "__toolcrib_tool__"
Body = Callable[..., Any]
F = TypeVar("F", bound=Body)


class Effect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"


class Lane(StrEnum):
    """How a call runs beside others of its team: daily ones together, an org one alone."""

    DAILY = "daily"
    ORG = "org"


class Flow(StrEnum):
    """What a call does with information. Any of them may hold for one tool."""

    PRIVATE = "private"  # reads what is private
    UNTRUSTED = "untrusted"  # lets in what a stranger wrote
    SENDS = "sends"  # can carry data out


class Traits(Struct, frozen=True, kw_only=True):
    """How a tool behaves. Rules are written over traits, never over lists of names."""

    effect: Effect = Effect.WRITE
    parallel: bool = False
    where: frozenset[Where] = BOTH
    lane: Lane = Lane.DAILY
    flow: frozenset[Flow] = frozenset()
    approval: bool = False
    target: str = ""  # the argument that names where a call goes, a web address
    sends_with: tuple[str, ...] = ()  # arguments without which a call sends nothing; (): any call may send
    expands_secrets: bool = False
    entrusts: bool = False  # its argument `value` is a secret, however the call ends
    reveals: bool = False  # what it gives may be a secret that was asked for, so it is not scrubbed
    undoable: bool = False
    runs_code: bool = False  # its arguments are commands or programs: no pattern can stand for them
    whole: bool = False  # its results are never cut: it is how one reads cut results
    inline: bool = False  # a plain function so quick that it needs no thread
    seconds: float = 30
    condition: str = ""  # the name of what must hold for the tool to be there at all


class Tool(Struct, frozen=True, kw_only=True):
    """One tool, ready to be offered. `needs` are the types of what its body is handed before the arguments."""

    name: str
    domain: str
    about: str
    body: Body
    arguments: Arguments
    traits: Traits = Traits()
    aliases: tuple[str, ...] = ()
    source: str = "native"  # native, custom, mcp, plugin
    origin: str = ""  # the MCP server or the plugin it comes from
    needs: tuple[type, ...] = ()
    needs_named: tuple[tuple[str, type], ...] = ()  # the same for `@tool`, handed over by name

    @property
    def schema(self) -> JsonObject:
        """What the model fills in, as JSON schema."""
        return self.arguments.schema


@overload
def tool(body: F) -> F: ...
@overload
def tool(
    *,
    name: str = "",
    effect: Effect | str = Effect.WRITE,
    parallel: bool = False,
    aliases: Iterable[str] = (),
    flow: Iterable[Flow | str] = (),
    target: str = "",
    approval: bool = False,
    expands_secrets: bool = False,
    inline: bool = False,
    seconds: float = 30,
    domain: str = "own",
) -> Callable[[F], F]: ...
def tool(
    body: F | None = None,
    *,
    name: str = "",
    effect: Effect | str = Effect.WRITE,
    parallel: bool = False,
    aliases: Iterable[str] = (),
    flow: Iterable[Flow | str] = (),
    target: str = "",
    approval: bool = False,
    expands_secrets: bool = False,
    inline: bool = False,
    seconds: float = 30,
    domain: str = "own",
) -> F | Callable[[F], F]:
    """Declare a function of your own a tool.

    The cautious assumptions hold unless you say otherwise: it writes, and it does not run beside others.
    """
    traits = Traits(
        effect=Effect(effect),
        parallel=parallel,
        flow=frozenset(map(Flow, flow)),
        target=target,
        approval=approval,
        expands_secrets=expands_secrets,
        inline=inline,
        seconds=seconds,
    )

    def declare(function: F) -> F:
        made = read_tool(domain, function, traits, name=name, aliases=tuple(aliases), free=True)
        setattr(function, _DECLARED, made)
        return function

    return declare if body is None else declare(body)


def as_tool(thing: Tool | Body) -> Tool:
    """A tool as it is, a declared function's tool, or a bare function read with the cautious assumptions."""
    if isinstance(thing, Tool):
        return thing
    declared = getattr(thing, _DECLARED, None)
    return declared if isinstance(declared, Tool) else read_tool("own", thing, Traits(), free=True)


class Family(Struct):
    """A folder of tools that work on the same thing: its manifest, and its collector."""

    name: str
    label: str
    about: str
    icon: str
    tools: list[Tool] = field(default_factory=list[Tool])

    def tool(
        self,
        effect: Effect,
        *,
        aliases: Iterable[str] = (),
        parallel: bool = False,
        where: Iterable[Where] = BOTH,
        lane: Lane = Lane.DAILY,
        flow: Iterable[Flow] = (),
        approval: bool = False,
        target: str = "",
        sends_with: Iterable[str] = (),
        expands_secrets: bool = False,
        entrusts: bool = False,
        reveals: bool = False,
        undoable: bool = False,
        runs_code: bool = False,
        whole: bool = False,
        inline: bool = False,
        seconds: float = 30,
        condition: str = "",
    ) -> Callable[[F], F]:
        """Declare the decorated function a tool of this family."""
        traits = Traits(
            effect=effect,
            parallel=parallel,
            where=frozenset(where),
            lane=lane,
            flow=frozenset(flow),
            approval=approval,
            target=target,
            sends_with=tuple(sends_with),
            expands_secrets=expands_secrets,
            entrusts=entrusts,
            reveals=reveals,
            undoable=undoable,
            runs_code=runs_code,
            whole=whole,
            inline=inline,
            seconds=seconds,
            condition=condition,
        )

        def declare(body: F) -> F:
            self.tools.append(read_tool(self.name, body, traits, aliases=tuple(aliases)))
            return body

        return declare


def read_tool(
    domain: str, body: Body, traits: Traits, *, name: str = "", aliases: tuple[str, ...] = (), free: bool = False
) -> Tool:
    """Read a tool off a function: name, words, needs and schema all come from it."""
    name = name or getattr(body, "__name__", "")
    inspect = heavy("inspect")
    about = inspect.getdoc(body)
    if not NAME.fullmatch(name):
        raise BadTool(f"{name!r} is not a tool name: 1 to 64 letters, digits, _ or -.")
    if not about:
        raise BadTool(f"{name} has no docstring; the model would not know what it is for. Write one.")
    hints = get_type_hints(body, include_extras=True)
    parameters = inspect.signature(body).parameters.values()
    if bare := [p.name for p in parameters if p.name not in hints]:
        raise BadTool(f"{name}: {', '.join(bare)} has no type, so it has no schema. Annotate it.")
    if [p for p in parameters if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]:
        raise BadTool(f"{name}: *args, **kwargs and positional-only parameters have no schema. Name each argument.")
    handed = [p for p in parameters if (hints[p.name] in CONTEXT if free else p.kind is p.POSITIONAL_OR_KEYWORD)]
    fields = {
        p.name: (hints[p.name], REQUIRED if p.default is p.empty else p.default) for p in parameters if p not in handed
    }
    if traits.target and traits.target not in fields:
        raise BadTool(f"{name}: its target {traits.target!r} is none of its arguments ({', '.join(fields) or 'none'}).")
    return Tool(
        name=name,
        domain=domain,
        about=about,
        body=body,
        arguments=Signature(name, fields),
        traits=traits,
        aliases=aliases,
        needs=() if free else tuple(hints[p.name] for p in handed),
        needs_named=tuple((p.name, hints[p.name]) for p in handed) if free else (),
    )


def described(tool: Tool) -> JsonObject:
    """A tool's facts as data, for lists, pages and programs."""
    traits = tool.traits
    return {
        "name": tool.name,
        "aliases": list(tool.aliases),
        "source": tool.source,
        "origin": tool.origin,
        "domain": tool.domain,
        "availability": sorted(where.value for where in traits.where),
        "flags": {
            "read_only": traits.effect is Effect.READ,
            "concurrency_safe": traits.parallel,
            "destructive": traits.effect is Effect.DESTROY,
        },
        "operation_class": traits.lane.value,
        "flow": sorted(flow.value for flow in traits.flow),
        "approval": traits.approval,
        "undoable": traits.undoable,
        "seconds": traits.seconds,
        "description": tool.about,
        "schema": tool.schema,
    }
