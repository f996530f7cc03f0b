"""Resources and prompts of servers pass the same pipeline as calls."""

import json

import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.gateways import ERAS, Person, everything, up
from toolcrib.services.config.values import Config, Limits

eras = pytest.mark.parametrize("era", ERAS)


@eras
async def test_what_is_read_of_servers_is_on_record_like_calls(era: str):
    agents = {"a": ["mcp_ev_sum_up"]}
    async with up(everything("ev", "new"), agents=agents) as gateway:
        async with Person().client(f"{gateway.base}/a", era) as client:
            await client.read_resource("test://static-text")
            await client.get_prompt("mcp_ev_test_prompt_with_arguments", {"arg1": "x", "arg2": "y"})
            for asked in (client.read_resource("none://here"), client.get_prompt("none")):
                with pytest.raises(MCPError):
                    await asked
        lines = (await gateway.crib.store.audit.entries()).entries
    told = {(one.tool, one.status, one.code): one for one in lines}
    read = told["mcp_ev_resources-read", "done", ""]
    assert (read.agent, json.loads(read.arguments)) == ("a", {"uri": "test://static-text"})
    assert read.size > 20
    assert read.seconds > 0
    got = told["mcp_ev_prompts-get", "done", ""]
    assert json.loads(got.arguments)["arguments"] == {"arg1": "x", "arg2": "y"}
    assert {tool for tool, status, _ in told if status != "done"} == {"mcp_ev_resources-read", "mcp_prompts-get"}
    assert len(lines) == 4


@eras
async def test_what_is_read_of_servers_counts_on_the_limit_of_the_session(era: str):
    limited = Config(limits=Limits(rate=2))
    async with (
        up(everything("ev", "new"), config=limited) as gateway,
        Person().client(f"{gateway.base}/a", era) as client,
    ):
        for n in range(2):
            await client.read_resource(f"test://template/{n}/data")  # another each time: clients keep what they read
        with pytest.raises(MCPError) as refused:
            await client.read_resource("test://template/2/data")
        assert "2 calls in an hour" in refused.value.error.message
        assert refused.value.error.data["code"] == "rate_limited"
        assert (await client.call_tool("mcp_ev_sum_up", {"a": 1, "b": 2})).is_error
