"""What a server gives, its client gets: for clients and servers of either era."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ToolListChangedNotification

from tests.mcp.gateways import ERAS, Person, everything, until, up
from tests.mcp_everything import INSTRUCTIONS, PNG, SCHEMA_2020, TOOLS

pytestmark = pytest.mark.filterwarnings(f"ignore::{MCPDeprecationWarning.__module__}.{MCPDeprecationWarning.__name__}")

ROWS = (
    "names", "title", "annotations", "output schema", "_meta", "input schema", "instructions", "structured content",
    "isError", "image", "progress", "logging", "elicitation", "sampling", "list_changed", "resources", "prompts",
)  # fmt: skip


def plain(value: Any) -> Any:
    return value.model_dump(by_alias=True, mode="json", exclude_none=True)


async def listed(client: Any) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    adds = plain(tools["mcp_ev_sum_up"])
    wanted = TOOLS["sum_up"][0]
    seen["names"] = set(tools) >= {f"mcp_ev_{name}" for name in TOOLS}
    seen["title"] = adds.get("title") == wanted["title"]
    seen["annotations"] = adds.get("annotations") == wanted["annotations"]
    seen["output schema"] = adds.get("outputSchema") == wanted["outputSchema"]
    seen["_meta"] = adds.get("_meta", {}).get("example.org/colour") == "green"
    seen["input schema"] = plain(tools["mcp_ev_json_schema_2020_12_tool"])["inputSchema"] == SCHEMA_2020
    return seen


async def called(client: Any, person: Person) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    added = plain(await client.call_tool("mcp_ev_sum_up", {"a": 2, "b": 40}))
    seen["structured content"] = (
        added["structuredContent"] == {"sum": 42} and added["_meta"]["example.org/took"] == 0.25
    )
    failed = await client.call_tool("mcp_ev_test_error_handling", {})
    seen["isError"] = (
        failed.is_error and failed.content[0].text == "This tool intentionally returns an error for testing"
    )
    image = (await client.call_tool("mcp_ev_test_image_content", {})).content[0]
    seen["image"] = (image.type, image.data, image.mime_type) == ("image", PNG, "image/png")
    await client.call_tool("mcp_ev_test_tool_with_progress", {}, progress_callback=person.goes_on)
    seen["progress"] = person.progress == [(0, 100), (50, 100), (100, 100)]
    await client.call_tool("mcp_ev_test_tool_with_logging", {})
    seen["logging"] = [one.data for one in person.logs][-3:] == [
        "Tool execution started", "Tool processing data", "Tool execution completed",
    ]  # fmt: skip
    told = await client.call_tool("mcp_ev_test_elicitation", {"message": "Who are you?"})
    seen["elicitation"] = "ada@example.org" in told.content[0].text and person.asked[-1].message == "Who are you?"
    told = await client.call_tool("mcp_ev_test_sampling", {"prompt": "What is it?"})
    seen["sampling"] = told.content[0].text == "LLM response: forty-two"
    return seen


async def read(client: Any) -> dict[str, Any]:
    resources = {str(one.uri): one for one in (await client.list_resources()).resources}
    one = (await client.read_resource("test://static-text")).contents[0]
    templates = (await client.list_resource_templates()).resource_templates
    other = (await client.read_resource("test://template/7/data")).contents[0]
    prompts = {one.name for one in (await client.list_prompts()).prompts}
    prompt = await client.get_prompt("mcp_ev_test_prompt_with_arguments", {"arg1": "x", "arg2": "y"})
    return {
        "resources": one.text == "This is the content of the static text resource."
        and plain(resources["test://static-text"])["_meta"]["example.org/kept"] is True
        and templates[0].uri_template == "test://template/{id}/data"
        and '"id":"7"' in other.text,
        "prompts": "mcp_ev_test_simple_prompt" in prompts and "arg1='x', arg2='y'" in prompt.messages[0].content.text,
    }


async def changed(client: Any, person: Person, era: str) -> bool:
    """The client hears that the tools have changed, and then lists the new one."""
    if era == "new":
        async with client.listen(tools_list_changed=True) as events:
            await client.call_tool("mcp_ev_test_trigger_tool_change", {})
            await anext(aiter(events))
    else:
        await client.call_tool("mcp_ev_test_trigger_tool_change", {})
        await until(lambda: any(isinstance(one, ToolListChangedNotification) for one in person.told))
    for _ in range(100):
        tools = (await client.list_tools(cache_mode="refresh")).tools
        if "mcp_ev_a_new_tool" in {tool.name for tool in tools}:
            return True
    return False


@pytest.mark.meets("gateway:passes:seventeen", "mcp:era:both")
@pytest.mark.parametrize("server", ERAS)
@pytest.mark.parametrize("era", ERAS)
async def test_seventeen_of_seventeen(era: str, server: str):
    person = Person()
    async with up(everything("ev", server)) as gateway, person.client(f"{gateway.base}/a", era) as client:
        if era == "old":
            await client.set_logging_level("debug")
        seen = await listed(client)
        seen["instructions"] = client.instructions == f"## ev\n{INSTRUCTIONS}"
        seen |= await called(client, person) | await read(client)
        seen["list_changed"] = await changed(client, person, era)
    assert {row: bool(seen.get(row)) for row in ROWS} == dict.fromkeys(ROWS, True)
