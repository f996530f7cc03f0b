"""A crib as a toolset of pydantic-ai.

    Agent(model, toolsets=[CribToolset(crib, "helper", session="s1")])

A run of the agent is one request: its tools are fixed when it begins, and toolkits that it loads are there in the next.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from toolcrib.app import Crib, Turn
from toolcrib.core.call import Outcome
from toolcrib.core.errors import BadArguments
from toolcrib.core.heavy import heavy
from toolcrib.core.tool import Effect, Tool

try:
    from pydantic_ai import AbstractToolset, BinaryContent, RunContext, ToolDefinition, ToolFailed, ToolReturn
    from pydantic_ai.exceptions import ModelRetry
    from pydantic_ai.tools import AgentDepsT
    from pydantic_ai.toolsets import ToolsetTool
    from pydantic_core import SchemaValidator, core_schema
except ModuleNotFoundError:
    heavy("pydantic_ai", extra="pydantic-ai")  # says how to install it
    raise

ANYTHING = SchemaValidator(core_schema.any_schema())  # the crib checks the arguments itself


class CribToolset(AbstractToolset[AgentDepsT]):
    """The tools that an agent of the crib is shown. Every call goes through the crib's guards and onto its record."""

    def __init__(
        self,
        crib: Crib,
        agent: str,
        *,
        per_run: Callable[[RunContext[AgentDepsT]], Mapping[str, Any]] | None = None,
        id: str | None = None,  # noqa: A002 - pydantic-ai's name for it
        **who: Any,
    ) -> None:
        """`who` says more about the caller (session, user, provider, ...); `per_run` works it out for each run."""
        self._crib = crib
        self._agent = agent
        self._per_run = per_run
        self._id = id
        self._who = who

    @property
    def id(self) -> str | None:
        return self._id

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> "CribRun[AgentDepsT]":
        """Begin a request."""
        more: Mapping[str, Any] = self._per_run(ctx) if self._per_run else {}
        return CribRun(self._crib, await self._crib.turn(self._agent, **{**self._who, **more}), self._id)

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        return await (await self.for_run(ctx)).get_tools(ctx)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> object:
        return await (await self.for_run(ctx)).call_tool(name, tool_args, ctx, tool)


class CribRun(AbstractToolset[AgentDepsT]):
    """The toolset of one run: a fixed view."""

    def __init__(self, crib: Crib, turn: Turn, id: str | None = None) -> None:  # noqa: A002
        self._crib = crib
        self._id = id
        self.turn = turn

    @property
    def id(self) -> str | None:
        return self._id

    async def get_instructions(self, ctx: RunContext[AgentDepsT]) -> str | None:
        """The toolkits that the agent may load."""
        del ctx
        kits = self._crib.toolkits
        return (await kits.prompt(self.turn.caller) or None) if kits else None

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        return {
            tool.name: ToolsetTool(
                toolset=self, tool_def=_definition(tool), max_retries=ctx.max_retries, args_validator=ANYTHING
            )
            for tool in self.turn.view.shown
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> object:
        """What the tool gave. Wrong arguments are asked for again; any other refusal is a failed result to read."""
        del ctx, tool
        outcome = await self.turn.call(name, msgspec.json.encode(tool_args))
        if outcome.error is None:
            return _returned(outcome)
        raise (ModelRetry if outcome.error.code == BadArguments.code else ToolFailed)(outcome.text)


def _definition(tool: Tool) -> ToolDefinition:
    """The flags stand in the metadata, for `approval_required` and `filtered` of pydantic-ai."""
    effect = tool.traits.effect
    return ToolDefinition(
        name=tool.name,
        description=tool.about,
        parameters_json_schema=tool.schema,
        sequential=not tool.traits.parallel,
        metadata={"read_only": effect is Effect.READ, "destructive": effect is Effect.DESTROY},
    )


def _returned(outcome: Outcome) -> object:
    """The value itself, unless the tool wrote a text for the model that says it better."""
    value = outcome.structured
    plain = value is not None and outcome.text == msgspec.json.encode(value).decode()
    if plain and not outcome.attachments:
        return value
    if value is None and not outcome.attachments:
        return outcome.text
    files = [BinaryContent(one.data, media_type=one.media_type) for one in outcome.attachments if one.data]
    return ToolReturn(value if plain else outcome.text, content=files or None, metadata=outcome.as_json())
