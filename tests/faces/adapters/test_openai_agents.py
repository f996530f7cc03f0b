"""A crib in a real agent of the OpenAI Agents SDK, with a model that follows a script."""

import json
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call

from tests.faces.adapters.conftest import KEY, Steps
from toolcrib import Crib, CribError
from toolcrib.faces.adapters.openai_agents import crib_tools


async def outputs(crib: Crib, agent: str, *asked: tuple[str, str]) -> list[Any]:
    """What the model is given back for its calls of one step."""
    step = [function_call(name, arguments, call_id=f"call-{i}") for i, (name, arguments) in enumerate(asked)]
    model = ScriptedModel([step, [assistant_message("done")]])
    agent_of_sdk = Agent(name=agent, model=model, tools=[*await crib_tools(crib, agent)])
    result = await Runner.run(agent_of_sdk, "go", run_config=RunConfig(tracing_disabled=True))
    answers: list[Any] = [item.raw_item for item in result.new_items if item.type == "tool_call_output_item"]
    return [answer["output"] for answer in answers]


@pytest.mark.meets("library:adapter:openai-agents")
async def test_an_agent_holds_its_tools_and_their_results_are_scrubbed(crib: Crib):
    tools = await crib_tools(crib, "helper")
    assert [one.name for one in tools] == ["add", "draw_dot", "find_person", "note", "report"]
    assert tools[0].params_json_schema["required"] == ["a", "b"]
    total, found = await outputs(crib, "helper", ("add", '{"a": 2, "b": 3}'), ("find_person", '{"name": "Ada"}'))
    assert total == "5"
    assert json.loads(found)["name"] == "Ada"
    assert KEY not in found


async def test_refusals_and_failures_are_texts_to_act_on(crib: Crib):
    wrong, broken, failed = await outputs(
        crib, "helper", ("add", '{"a": "two"}'), ("add", "{"), ("find_person", '{"name": "Bob"}')
    )
    assert json.loads(wrong)["error"]["code"] == "invalid_args"
    assert json.loads(broken)["error"]["code"] == "invalid_args"
    assert json.loads(failed)["error"]["hint"] == "Look for Ada."


async def test_pictures_go_along(crib: Crib):
    [parts] = await outputs(crib, "helper", ("draw_dot", ""))
    assert [part["type"] for part in parts] == ["input_text", "input_image"]
    assert parts[1]["image_url"].startswith("data:image/png;base64,")


async def test_tools_that_may_not_run_beside_others_run_alone():
    steps = Steps()
    crib = Crib([steps.write_slowly], agents={"helper": ["write_slowly"]})
    await outputs(crib, "helper", ("write_slowly", '{"name": "a"}'), ("write_slowly", '{"name": "b"}'))
    assert steps.seen == ["a begins", "a ends", "b begins", "b ends"]


async def test_a_request_that_was_begun_can_be_mounted_too(crib: Crib):
    tools = await crib_tools(await crib.turn("helper", only=("add",)))
    assert [one.name for one in tools] == ["add"]


async def test_a_request_that_was_begun_takes_no_other_caller(crib: Crib):
    turn = await crib.turn("helper")
    with pytest.raises(CribError, match="has its caller already"):
        await crib_tools(turn, "boss")
