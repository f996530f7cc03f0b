"""A crib as real tools of LangChain, asynchronous and blocking."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.faces.adapters.conftest import KEY, Steps
from toolcrib import Crib
from toolcrib.faces.adapters.langchain import crib_tools


def asked(name: str, /, **arguments: Any) -> Any:
    return {"type": "tool_call", "id": "call-1", "name": name, "args": arguments}


@pytest.mark.meets("library:adapter:langchain")
async def test_an_agents_tools_are_tools_of_langchain(crib: Crib):
    tools = {one.name: one for one in await crib_tools(crib, "helper")}
    assert sorted(tools) == ["add", "draw_dot", "find_person", "note", "report"]
    told = convert_to_openai_tool(tools["add"])["function"]
    assert told["description"] == "Add two numbers."
    assert told["parameters"]["required"] == ["a", "b"]
    assert await tools["add"].ainvoke({"a": 2, "b": 3}) == "5"


async def test_a_message_carries_the_text_and_the_whole_outcome(crib: Crib):
    tools = {one.name: one for one in await crib_tools(crib, "helper")}
    message = await tools["find_person"].ainvoke(asked("find_person", name="Ada"))
    assert isinstance(message, ToolMessage)
    assert message.status == "success"
    assert KEY not in message.text
    assert message.artifact.structured["name"] == "Ada"


async def test_refusals_and_failures_are_error_messages_to_act_on(crib: Crib):
    tools = {one.name: one for one in await crib_tools(crib, "helper")}
    wrong = await tools["add"].ainvoke(asked("add", a="two"))
    failed = await tools["find_person"].ainvoke(asked("find_person", name="Bob"))
    assert [wrong.status, failed.status] == ["error", "error"]
    assert json.loads(wrong.content)["error"]["code"] == "invalid_args"
    assert json.loads(failed.content)["error"]["hint"] == "Look for Ada."


def test_blocking_code_may_call_them_without_a_loop(crib: Crib):
    tools = {one.name: one for one in asyncio.run(crib_tools(crib, "helper"))}
    assert tools["add"].invoke({"a": 2, "b": 3}) == "5"
    assert tools["find_person"].invoke(asked("find_person", name="Bob")).status == "error"


async def test_blocking_code_may_call_them_inside_a_running_loop(crib: Crib):
    tools = {one.name: one for one in await crib_tools(crib, "helper")}
    assert tools["add"].invoke({"a": 2, "b": 3}) == "5"


async def test_arguments_may_have_names_that_langchain_uses_itself(crib: Crib):
    tools = {one.name: one for one in await crib_tools(crib, "helper")}
    assert await tools["note"].ainvoke({"config": "a", "run_manager": "b"}) == "ab"
    assert tools["note"].invoke({"config": "a", "run_manager": "b"}) == "ab"


async def test_tools_that_may_not_run_beside_others_run_alone():
    steps = Steps()
    crib = Crib([steps.write_slowly], agents={"helper": ["write_slowly"]})
    [tool] = await crib_tools(crib, "helper")
    await asyncio.gather(tool.ainvoke({"name": "a"}), tool.ainvoke({"name": "b"}))
    assert steps.seen == ["a begins", "a ends", "b begins", "b ends"]
