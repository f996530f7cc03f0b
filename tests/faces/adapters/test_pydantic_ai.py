"""A crib in a real pydantic-ai agent, with a model that is a function."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, RunContext
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RunUsage

from tests.faces.adapters.conftest import KEY, Steps
from toolcrib import Crib, tool
from toolcrib.faces.adapters.pydantic_ai import CribToolset
from toolcrib.services.config.reading import read_config

Part = TextPart | ToolCallPart


class Script:
    """A model that says what stands in its script, and keeps what it was told."""

    def __init__(self, *steps: list[Part]) -> None:
        self.steps = list(steps)
        self.tools: list[list[str]] = []
        self.instructions: list[str | None] = []
        self.model = FunctionModel(self.answer)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.tools.append([one.name for one in info.function_tools])
        last = messages[-1]
        self.instructions.append(last.instructions if isinstance(last, ModelRequest) else None)
        return ModelResponse(parts=self.steps.pop(0) if self.steps else [TextPart("done")])


def calls(*asked: tuple[str, Any]) -> list[Part]:
    return [ToolCallPart(name, arguments, tool_call_id=f"call-{i}") for i, (name, arguments) in enumerate(asked)]


def parts(result: Any, kind: type) -> list[Any]:
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, kind)]


def agent_of(script: Script, toolset: Any, **more: Any) -> Any:
    return Agent(script.model, toolsets=[toolset], **more)


async def returned(toolset: Any, *asked: tuple[str, Any]) -> list[Any]:
    result = await agent_of(Script(calls(*asked)), toolset).run("go")
    return parts(result, ToolReturnPart)


@pytest.mark.meets("library:adapter:pydantic-ai")
async def test_an_agent_sees_and_calls_what_it_holds(crib: Crib):
    script = Script(calls(("add", {"a": 2, "b": 3})))
    result = await agent_of(script, CribToolset(crib, "helper")).run("go")
    assert script.tools[0] == ["add", "draw_dot", "find_person", "note", "report"]
    assert parts(result, ToolReturnPart)[0].content == 5
    assert [record.tool for record in await recorded(crib)] == ["add"]


async def recorded(crib: Crib) -> list[Any]:
    return [*(await crib.store.audit.entries()).entries]


async def test_structured_values_come_back_scrubbed_and_words_as_words(crib: Crib):
    found, words = await returned(CribToolset(crib, "helper"), ("find_person", {"name": "Ada"}), ("report", "{}"))
    assert found.content["name"] == "Ada"
    assert KEY not in str(found.content)
    assert words.content == "All is well."
    assert words.metadata["structured"] == {"ok": True}


async def test_wrong_arguments_are_asked_for_again(crib: Crib):
    script = Script(calls(("add", {"a": "two", "b": 3})), calls(("add", {"a": 2, "b": 3})))
    result = await agent_of(script, CribToolset(crib, "helper")).run("go")
    first, second = parts(result, ToolReturnPart)
    assert first.outcome == "retried"
    assert "invalid_args" in str(first.content)
    assert second.content == 5


async def test_a_failure_is_a_result_that_the_model_can_act_on(crib: Crib):
    [part] = await returned(CribToolset(crib, "helper"), ("find_person", {"name": "Bob"}))
    assert part.outcome == "failed"
    assert "not_found" in part.content
    assert "Look for Ada." in part.content


async def test_pictures_go_along(crib: Crib):
    result = await agent_of(Script(calls(("draw_dot", {}))), CribToolset(crib, "helper")).run("go")
    contents = [part.content for part in parts(result, UserPromptPart) if not isinstance(part.content, str)]
    assert [one.media_type for one in contents[0] if isinstance(one, BinaryContent)] == ["image/png"]


async def test_who_calls_may_be_worked_out_for_each_run(crib: Crib):
    def who(run: Any) -> dict[str, str]:
        return {"user": run.deps}

    toolset = CribToolset[str](crib, "helper", per_run=who)
    agent = agent_of(Script(calls(("add", {"a": 1, "b": 1}))), toolset, deps_type=str)
    await agent.run("go", deps="maria")
    assert [entry.user for entry in await recorded(crib)] == ["maria"]


async def test_tools_that_may_not_run_beside_others_run_alone():
    steps = Steps()
    crib = Crib([steps.write_slowly], agents={"helper": ["write_slowly"]})
    await returned(CribToolset(crib, "helper"), ("write_slowly", {"name": "a"}), ("write_slowly", {"name": "b"}))
    assert steps.seen == ["a begins", "a ends", "b begins", "b ends"]


async def test_pydantic_ais_own_approval_works_on_the_flags(crib: Crib):
    toolset = CribToolset(crib, "boss").approval_required(
        lambda _, told, __: bool((told.metadata or {})["destructive"])
    )
    agent = agent_of(Script(calls(("wipe", {}))), toolset, output_type=[str, DeferredToolRequests])
    output = (await agent.run("go")).output
    assert isinstance(output, DeferredToolRequests)
    assert [call.tool_name for call in output.approvals] == ["wipe"]


async def test_a_toolset_outside_a_run_begins_a_request_for_each_question(crib: Crib):
    toolset = CribToolset[None](crib, "helper", id="crib")
    context = RunContext[None](deps=None, model=Script().model, usage=RunUsage())
    tools = await toolset.get_tools(context)
    assert (toolset.id, tools["add"].toolset.id) == ("crib", "crib")
    assert await toolset.call_tool("add", {"a": 1, "b": 2}, context, tools["add"]) == 3


KITS = """
agents:
  helper: {tools: [think], allowed_toolkits: [sums]}
toolkits:
  sums: {description: Adds numbers., tools: [sum_up]}
"""


@pytest.fixture
def with_kits(make_crib: Callable[[str], Crib]) -> Crib:
    return make_crib(KITS)


async def test_a_toolkit_loaded_in_one_run_is_there_in_the_next(with_kits: Crib):
    toolset = CribToolset[None](with_kits, "helper", session="s1")
    first, second = Script(calls(("load_tools", {"toolkit": "sums"}))), Script()
    await agent_of(first, toolset).run("go")
    await agent_of(second, toolset).run("go on")
    assert [("sum_up" in names) for names in (*first.tools, *second.tools)] == [False, False, True]
    assert "sums (not loaded)" in (first.instructions[0] or "")


@pytest.fixture
def make_crib() -> Callable[[str], Crib]:
    @tool(effect="read")
    def sum_up(numbers: list[int]) -> int:
        """Add numbers."""
        return sum(numbers)

    return lambda text: Crib([sum_up], config=read_config(text, env={}), native=True)
