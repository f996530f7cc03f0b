"""The gateway as its clients meet it: what they hold, what a person is asked, what is refused, and how it is said."""

import asyncio
import json
import sys
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from tests.mcp.conftest import PLAIN
from tests.mcp.gateways import ERAS, Person, everything, until, up
from tests.mcp_everything import PNG, TOOLS
from toolcrib import tool
from toolcrib.core.errors import ToolFailed
from toolcrib.services.config.values import ApprovalRules, Config, Limits
from toolcrib.services.mcp.servers import Server, Transport
from toolcrib.sources.mcp import pin_of

eras = pytest.mark.parametrize("era", ERAS)
RAN: list[str] = []


@tool(effect="destroy")
async def wipe(disk: str) -> str:
    """Wipe a disk."""
    RAN.append(disk)
    return f"{disk} is empty"


@tool(effect="read")
async def look(at: str) -> str:
    """Look at something."""
    return f"{at} looks fine"


@tool(effect="read")
async def tell(secret: bool) -> str:
    """Tell something."""
    return "the word is correct horse battery staple" if secret else "nothing"


@tool(effect="read")
async def fail(how: str) -> str:
    """Fail."""
    raise ToolFailed(f"it failed {how}", code="too_bad", hint="Do not.")


OWN = (wipe, look, tell, fail)
ASKS = Config(confirm=("destroy",))
AGENTS = {"a": ["wipe", "look", "tell", "fail"], "b": ["look"]}


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


def error_of(result: Any) -> dict[str, Any]:
    assert result.is_error
    said = json.loads(result.content[0].text)["error"]
    assert result.meta["toolcrib/error"] == said
    return said


@pytest.mark.meets("gateway:enforced:list-and-call", "gateway:agent:http-and-stdio")
@eras
async def test_a_client_lists_and_calls_what_its_agent_holds_and_no_more(era: str):
    async with up(own=OWN, agents=AGENTS) as gateway, Person().client(f"{gateway.base}/b", era) as client:
        names = {one.name for one in (await client.list_tools()).tools}
        assert "look" in names
        assert not {"wipe", "tell"} & names
        assert (await client.call_tool("look", {"at": "it"})).content[0].text == "it looks fine"
        refused = error_of(await client.call_tool("wipe", {"disk": "one"}))
        assert refused["code"] == "not_issued"
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("lok", {})
        assert unknown.value.error.code == -32602
        assert "look" in unknown.value.error.message


@pytest.mark.meets("gateway:approval:elicited")
@eras
async def test_a_person_at_the_client_is_asked_and_says_yes(era: str):
    person = Person(content={"decision": "allow once"})
    async with up(own=OWN, agents=AGENTS, config=ASKS) as gateway, person.client(f"{gateway.base}/a", era) as client:
        told = await client.call_tool("wipe", {"disk": "one"})
        assert (told.is_error, told.content[0].text, RAN) == (False, "one is empty", ["one"])
        question = person.asked[0].message
        assert "a wants to call wipe" in question
        assert '{"disk":"one"}' in question
        (request,) = await gateway.crib.approvals.list(state=None)
        assert (request.choice, request.tool, request.state) == ("accept", "wipe", "used")


@eras
@pytest.mark.parametrize(("action", "content"), [("decline", None), ("accept", {"decision": "deny"})])
async def test_a_person_at_the_client_says_no(era: str, action: str, content: Any):
    person = Person(action, content)
    async with up(own=OWN, agents=AGENTS, config=ASKS) as gateway, person.client(f"{gateway.base}/a", era) as client:
        assert error_of(await client.call_tool("wipe", {"disk": "one"}))["code"] == "approval_denied"
        assert RAN == []


@eras
async def test_a_question_that_is_closed_stays_in_the_inbox(era: str):
    person = Person("cancel")
    async with up(own=OWN, agents=AGENTS, config=ASKS) as gateway, person.client(f"{gateway.base}/a", era) as client:
        said = error_of(await client.call_tool("wipe", {"disk": "one"}))
        (request,) = await gateway.crib.approvals.list()
        assert (said["code"], said["request"]) == ("approval_required", request.id)
        await gateway.crib.approvals.answer(request.id, "accept", by="ada")
        assert (await client.call_tool("wipe", {"disk": "one"})).content[0].text == "one is empty"
        assert len(person.asked) == 1


@eras
async def test_a_client_that_cannot_be_asked_is_told_where_the_request_is(era: str):
    waits = Config(confirm=("destroy",), approvals=ApprovalRules(mode="wait"))
    mute = Person()
    async with up(own=OWN, agents=AGENTS, config=waits) as gateway:
        client = mute.client(f"{gateway.base}/a", era)
        client.elicitation_callback = None
        async with client:
            said = error_of(await client.call_tool("wipe", {"disk": "one"}))
            assert said["code"] == "approval_required"
            await gateway.crib.approvals.answer(said["request"], "accept", by="ada")
            assert not (await client.call_tool("wipe", {"disk": "one"})).is_error
            assert error_of(await client.call_tool("wipe", {"disk": "two"}))["code"] == "approval_required"
    assert RAN == ["one"]


@eras
async def test_a_client_that_makes_a_session_for_each_call_is_let_through_after_a_yes(era: str):
    async with up(own=OWN, agents=AGENTS, config=ASKS) as gateway:

        async def wiped(agent: str = "a", disk: str = "one") -> Any:
            client = Person().client(f"{gateway.base}/{agent}", era)
            client.elicitation_callback = None
            async with client:
                return await client.call_tool("wipe", {"disk": disk})

        asked = error_of(await wiped())["request"]
        assert error_of(await wiped())["request"] == asked  # one call, one request
        await gateway.crib.approvals.answer(asked, "accept", by="ada")
        assert error_of(await wiped(disk="two"))["request"] != asked
        assert not (await wiped()).is_error
        again = error_of(await wiped())["request"]  # a yes is for one call
        assert again != asked
        await gateway.crib.approvals.answer(again, "deny", by="ada")
        assert error_of(await wiped())["code"] == "approval_denied"
    assert RAN == ["one"]


@eras
async def test_who_answers_first_is_heard(era: str):
    """The question is open at the client, and somebody answers it in the inbox."""
    person = Person()
    never = asyncio.Event()

    async def slow(_context: Any, params: Any) -> Any:
        person.asked.append(params)
        await never.wait()

    async with up(own=OWN, agents=AGENTS, config=ASKS) as gateway:
        client = person.client(f"{gateway.base}/a", "old")
        client.elicitation_callback = slow
        async with client, asyncio.TaskGroup() as group:
            call = group.create_task(client.call_tool("wipe", {"disk": "one"}))
            await until(lambda: person.asked)
            (request,) = await gateway.crib.approvals.list()
            await gateway.crib.approvals.answer(request.id, "accept", by="ada")
            assert (await call).content[0].text == "one is empty"


@pytest.mark.meets("gateway:rate:is-error")
@eras
async def test_refusals_are_results_with_a_code_and_what_to_do(era: str):
    limits = Config(limits=Limits(tools={"look": 1}))
    async with (
        up(own=OWN, agents=AGENTS, config=limits) as gateway,
        Person().client(f"{gateway.base}/a", era) as client,
    ):
        wrong = error_of(await client.call_tool("look", {"to": 1}))
        assert (wrong["code"], bool(wrong["problems"])) == ("invalid_args", True)
        assert not (await client.call_tool("look", {"at": "x"})).is_error
        late = error_of(await client.call_tool("look", {"at": "x"}))
        assert late["code"] == "rate_limited"
        assert late["retry_after"] > 0
        failed = error_of(await client.call_tool("fail", {"how": "badly"}))
        assert (failed["code"], failed["hint"]) == ("too_bad", "Do not.")


@eras
async def test_secrets_do_not_pass(era: str):
    async with (
        up(own=OWN, agents=AGENTS, secrets={"word": "correct horse battery staple"}) as gateway,
        Person().client(f"{gateway.base}/a", era) as client,
    ):
        assert "battery" not in str(await client.call_tool("tell", {"secret": True}))


@pytest.mark.parametrize("behind", ERAS)
@eras
async def test_secrets_do_not_pass_beside_a_result_either(era: str, behind: str):
    words = {
        "log": "Tool processing data",
        "progress": "50 of 100",
        "question": "correct horse battery",
        "fault": "Resource not found",
    }
    person, progress = Person(), list[str | None]()

    async def goes_on(_done: float, _total: float | None, said: str | None) -> None:
        progress.append(said)

    async with (
        up(everything("ev", behind), agents={"a": ["group:mcp:ev"]}, secrets=words) as gateway,
        person.client(f"{gateway.base}/a", era) as client,
    ):
        await client.call_tool("mcp_ev_test_tool_with_logging", {})
        await client.call_tool("mcp_ev_test_tool_with_progress", {}, progress_callback=goes_on)
        await client.call_tool("mcp_ev_test_elicitation", {"message": f"Is it {words['question']}?"})
        await client.call_tool("mcp_ev_test_sampling", {"prompt": f"What is {words['question']}?"})
        with pytest.raises(MCPError) as missing:
            await client.read_resource("test://is-not-there")
        picture = await client.read_resource("test://static-binary")
        await until(lambda: len(person.logs) >= 3 and len(progress) >= 3)
    heard = str([person.logs, person.asked, progress, missing.value])
    assert len(person.asked) == 2
    assert heard.count("[REDACTED:") >= 5
    assert [word for word in words.values() if word in heard] == []
    assert picture.contents[0].blob == PNG


@eras
async def test_what_cannot_be_looked_at_is_not_handed_on(era: str):
    plain = Server(name="s", transport=Transport.STDIO, command=sys.executable, args=(str(PLAIN), "good"))
    person = Person()
    async with up(plain) as gateway, person.client(f"{gateway.base}/a", era) as client:
        failed = error_of(await client.call_tool("mcp_s_deep", {"levels": 900}))
        assert failed["code"] == "bad_response"
        await client.call_tool("mcp_s_loud", {})
        await until(lambda: person.logs)
        assert [one.data for one in person.logs] == ["heard"]


@pytest.mark.meets("gateway:list-changed:grants")
@eras
async def test_a_grant_that_changes_is_told_and_listed(era: str):
    person = Person()
    async with (
        up(everything("ev", "new"), own=OWN, agents={"a": ["look", "group:mcp:ev"]}) as gateway,
        person.client(f"{gateway.base}/a", era) as client,
    ):
        before = {one.name for one in (await client.list_tools()).tools}
        assert "mcp_ev_sum_up" in before
        if era == "new":
            async with client.listen(tools_list_changed=True) as events:
                gateway.crib.use([])
                await anext(aiter(events))
        else:
            gateway.crib.use([])
            await until(lambda: person.told)
        after = {one.name for one in (await client.list_tools(cache_mode="refresh")).tools}
        assert "mcp_ev_sum_up" not in after
        assert "look" in after


@pytest.mark.meets("gateway:search:held-only")
@eras
async def test_what_is_not_listed_can_be_found_and_called_through(era: str):
    async with (
        up(
            everything("ev", "new"),
            agents={"a": {"tools": ["group:mcp:ev"], "tool_limit": 6}},
            native=True,
        ) as gateway,
        Person().client(f"{gateway.base}/a", era) as client,
    ):
        names = {one.name for one in (await client.list_tools()).tools}
        assert {"search_tools", "call_tool"} <= names
        assert "mcp_ev_sum_up" not in names
        found = await client.call_tool("search_tools", {"query": "sum up two numbers"})
        assert "mcp_ev_sum_up" in found.content[0].text
        told = await client.call_tool("call_tool", {"name": "mcp_ev_sum_up", "arguments": {"a": 1, "b": 2}})
        assert told.content[0].text == "3"
        refused = await client.call_tool("call_tool", {"name": "get_secret", "arguments": {"key": "x"}})
        assert error_of(refused)["code"] == "not_issued"


@eras
async def test_one_server_alone_has_its_own_names(era: str):
    async with (
        up(everything("ev", "new"), own=OWN, agents={"a": ["look", "mcp_ev_sum_up"]}) as gateway,
        Person().client(f"{gateway.base}/a/ev", era) as client,
    ):
        assert [one.name for one in (await client.list_tools()).tools] == ["sum_up"]
        assert (await client.call_tool("sum_up", {"a": 1, "b": 2})).content[0].text == "3"
        with pytest.raises(MCPError):
            await client.call_tool("look", {"at": "x"})
        assert "test_simple_prompt" in {one.name for one in (await client.list_prompts()).prompts}


@eras
async def test_servers_of_which_an_agent_holds_nothing_are_not_there(era: str):
    async with (
        up(everything("ev", "new"), own=OWN, agents=AGENTS) as gateway,
        Person().client(f"{gateway.base}/b", era) as client,
    ):
        assert (await client.list_resources()).resources == []
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError):
            await client.read_resource("test://static-text")


@eras
async def test_two_servers_with_the_same_names_can_be_told_apart(era: str):
    servers = everything("one", "new"), everything("two", "old")
    async with up(*servers) as gateway, Person().client(f"{gateway.base}/a", era) as client:
        tools = {one.name for one in (await client.list_tools()).tools}
        assert {"mcp_one_sum_up", "mcp_two_sum_up"} <= tools
        uris = [str(one.uri) for one in (await client.list_resources()).resources]
        assert len(uris) == len(set(uris)) == 6
        assert "mcp+two:test://static-text" in uris
        for uri in ("test://static-text", "mcp+one:test://static-text", "mcp+two:test://static-text"):
            assert "static text" in (await client.read_resource(uri)).contents[0].text
        prompts = {one.name for one in (await client.list_prompts()).prompts}
        assert {"mcp_one_test_simple_prompt", "mcp_two_test_simple_prompt"} <= prompts


def busy(gateway: Any) -> bool:
    """Whether the server works on something for a client."""
    speaking = gateway.servers.keeping._shared["ev"]._speaking
    return any(one.link is not None for one in speaking._under.values())


async def test_a_call_that_the_client_cancels_is_stopped():
    async with (
        up(everything("ev", "new")) as gateway,
        Person().client(f"{gateway.base}/a", "old") as client,
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
    ):
        call = group.create_task(client.call_tool("mcp_ev_wait", {"seconds": 60}))
        await until(lambda: busy(gateway))
        call.cancel()
        await until(lambda: not busy(gateway))
        assert (await client.list_tools()).tools


async def test_a_stateless_client_that_hangs_up_does_not_want_its_answer():
    async with (
        up(everything("ev", "new")) as gateway,
        Person().client(f"{gateway.base}/a", "new") as client,
        asyncio.timeout(10),
        asyncio.TaskGroup() as group,
    ):
        call = group.create_task(client.call_tool("mcp_ev_wait", {"seconds": 60}))
        await until(lambda: busy(gateway))
        call.cancel()
        await until(lambda: not busy(gateway))


@eras
async def test_the_record_says_who_called_through_which_client(era: str):
    seen: list[Any] = []
    async with up(own=OWN, agents=AGENTS) as gateway:
        gateway.crib.listeners.append(seen.append)
        person = Person()
        async with person.client(
            f"{gateway.base}/a", era, client_info=Implementation(name="editor", version="1")
        ) as client:
            await client.call_tool("look", {"at": "x"})
    assert [(one.tool, one.caller.agent, one.caller.channel) for one in seen] == [("look", "a", "mcp")]
    assert seen[0].caller.session.startswith("mcp-")


@pytest.mark.meets("gateway:names:budget")
@eras
async def test_a_name_that_is_too_long_for_clients_is_shortened_and_still_means_the_same_tool(era: str):
    server = "a-server-with-a-name-that-takes-nearly-all-of-it"
    agents = {"a": [f"group:mcp:{server}"], "b": ["look"]}
    async with (
        up(everything(server, "new"), own=OWN, agents=agents) as gateway,
        Person().client(f"{gateway.base}/a", era) as client,
        Person().client(f"{gateway.base}/b", era) as other,
    ):
        names = [one.name for one in (await client.list_tools()).tools]
        assert len(names) == len(set(names)) == len(TOOLS)
        assert max(map(len, names)) <= 64
        pins = {pin.tool: pin.name for one in gateway.crib.view("a") if (pin := pin_of(one)) is not None}
        short = pins["json_schema_2020_12_tool"]
        told = await client.call_tool(short, {"name": "x", "contactMethod": "phone", "phone": "1"})
        assert json.loads(told.content[0].text)["phone"] == "1"
        assert error_of(await other.call_tool(short, {}))["code"] == "not_issued"


def numbered(number: int) -> Any:
    """One of many tools that are alike."""

    async def look_at(at: str) -> str:
        """Look at something."""
        return at

    return tool(effect="read", name=f"look_{number:04}")(look_at)


@pytest.mark.meets("gateway:list:fast")
@eras
async def test_a_list_of_a_thousand_tools_is_written_once(era: str):
    many = tuple(numbered(n) for n in range(1200))
    async with up(own=many, agents={"a": [f"look_{n:04}" for n in range(1200)]}) as gateway:
        shown = gateway.gateway.shelf.of(gateway.crib.view("a"), "")
        assert shown.page(None, modern=era == "new") is shown.page(None, modern=era == "new")
        async with Person().client(f"{gateway.base}/a", era) as client:
            first = await client.list_tools()
            rest = await client.list_tools(cursor=first.next_cursor)
        assert (len(first.tools), rest.next_cursor) == (1000, None)
        assert len({one.name for one in (*first.tools, *rest.tools)} & {f"look_{n:04}" for n in range(1200)}) == 1200
