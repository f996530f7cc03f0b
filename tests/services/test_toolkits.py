"""Dynamic toolkits over a store."""

import pytest
from msgspec.structs import replace

from toolcrib.core.call import Caller
from toolcrib.core.policy import AgentRules, Grants, KitTool, Toolkit
from toolcrib.core.registry import Registry
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Tool, Traits, read_tool
from toolcrib.services.advice.simulate import grants_with
from toolcrib.services.toolkits import Toolkits, prompt_block
from toolcrib.stores.inprocess.loaded import MemoryLoadedKits


async def body() -> str:
    """Does nothing."""
    return "done"


def made(name: str) -> Tool:
    return read_tool("own", body, Traits(), name=name)


KITS = {
    "devops": Toolkit(name="devops", tools=(KitTool("docker"), KitTool("github")), description="Infrastructure."),
    "research": Toolkit(name="research", tools=(KitTool("arxiv"),)),
    "mail": Toolkit(name="mail", tools=(KitTool("send"),)),
}
ALLOWED = ("devops", "research", "mail")


class Room:
    """Two agents with toolkits, over one store."""

    def __init__(self) -> None:
        rules = AgentRules(name="ann", allowed_toolkits=ALLOWED, initial_toolkits=("research",))
        grants = Grants(toolkits=KITS, agents={"ann": rules, "ben": replace(rules, name="ben")})
        self.resolver = Resolver(Registry(map(made, ("docker", "github", "arxiv", "send"))), grants)
        self.store = MemoryLoadedKits()
        self.kits = self.restarted()

    def restarted(self) -> Toolkits:
        return Toolkits(lambda: self.resolver, self.store)

    def configured(self, **change: object) -> None:
        rules = replace(self.resolver.grants.agents["ann"], **change)
        agents = {**self.resolver.grants.agents, "ann": rules}
        self.resolver = Resolver(self.resolver.registry, grants_with(self.resolver.grants, agents=agents))


ANN = Caller(agent="ann", session="s")


@pytest.fixture
def room() -> Room:
    return Room()


@pytest.mark.meets("toolkit:initial:sticky")
async def test_a_session_starts_with_the_initial_toolkits(room: Room):
    assert (await room.kits.state("ann", "s")).names == ("research",)
    assert (await room.kits.state("ann", "")).names == ("research",)


@pytest.mark.meets("toolkit:state:persisted", "toolkit:state:sanitised")
async def test_what_is_loaded_outlives_a_restart_in_the_order_of_the_allowed(room: Room):
    await room.kits.load(ANN, "mail")
    await room.kits.load(ANN, "devops")
    assert (await room.restarted().state("ann", "s")).names == ("devops", "research", "mail")


@pytest.mark.meets("toolkit:state:members-apart")
async def test_agents_and_sessions_load_for_themselves(room: Room):
    await room.kits.load(ANN, "devops")
    assert (await room.kits.state("ben", "s")).names == ("research",)
    assert (await room.kits.state("ann", "t")).names == ("research",)


@pytest.mark.meets("toolkit:load:statuses", "toolkit:load:failed-changes-nothing")
@pytest.mark.parametrize(
    ("name", "session", "status", "extra"),
    [
        ("nothing", "", "unknown", {"allowed_toolkits"}),
        ("research", "", "already_loaded", {"takes_effect"}),
        ("devops", "", "error", set()),
        ("research", "s", "already_loaded", {"takes_effect"}),
        ("devops", "s", "loaded", {"takes_effect"}),
    ],
)
async def test_load_answers_in_the_order_of_the_checks(
    room: Room, name: str, session: str, status: str, extra: set[str]
):
    answer = await room.kits.load(Caller(agent="ann", session=session), name)
    assert answer["status"] == status
    assert answer["toolkit"] == name
    assert set(answer) - {"status", "toolkit", "loaded_toolkits", "message"} == extra
    if status != "loaded":
        assert (await room.kits.state("ann", "s")).names == ("research",)


@pytest.mark.meets("toolkit:load:statuses")
async def test_without_a_session_the_answer_says_what_is_missing(room: Room):
    answer = await room.kits.load(Caller(agent="ann"), "devops")
    assert answer["message"] == "Dynamic toolkit changes require a stable session_id."


@pytest.mark.meets("toolkit:unload:statuses", "toolkit:initial:sticky", "toolkit:load:statuses")
@pytest.mark.parametrize(
    ("name", "session", "status"),
    [
        ("nothing", "s", "unknown"),
        ("research", "", "sticky"),
        ("mail", "", "not_loaded"),
        ("mail", "s", "not_loaded"),
        ("devops", "s", "unloaded"),
    ],
)
async def test_unload_answers_in_the_order_of_the_checks(room: Room, name: str, session: str, status: str):
    await room.kits.load(ANN, "devops")
    answer = await room.kits.unload(Caller(agent="ann", session=session), name)
    assert answer["status"] == status
    assert ("takes_effect" in answer) == (status in {"not_loaded", "unloaded"})
    left = ("research",) if status == "unloaded" else ("devops", "research")
    assert (await room.kits.state("ann", "s")).names == left


@pytest.mark.meets("toolkit:state:sanitised")
async def test_a_toolkit_that_is_no_longer_allowed_is_dropped_with_a_note(room: Room):
    await room.kits.load(ANN, "devops")
    room.configured(allowed_toolkits=("research", "mail"))
    state = await room.kits.state("ann", "s")
    assert state.names == ("research",)
    assert "devops" in state.notes[0]
    assert await room.store.get("ann", "s") == state, "what is kept is mended too"
    assert "Note: The toolkit devops was unloaded" in await room.kits.prompt(ANN)
    assert (await room.kits.list(ANN))["notes"] == list(state.notes)


@pytest.mark.meets("toolkit:state:sanitised")
async def test_a_note_stays_until_the_agent_changes_its_toolkits(room: Room):
    await room.kits.load(ANN, "devops")
    room.configured(allowed_toolkits=("research", "mail"))
    await room.kits.load(ANN, "research")
    assert (await room.kits.state("ann", "s")).notes
    await room.kits.load(ANN, "mail")
    assert (await room.kits.state("ann", "s")).notes == ()


@pytest.mark.meets("toolkit:state:sanitised")
async def test_a_toolkit_that_was_made_initial_later_is_loaded_in_running_sessions(room: Room):
    await room.kits.load(ANN, "mail")
    room.configured(initial_toolkits=("devops",))
    assert (await room.kits.state("ann", "s")).names == ("devops", "research", "mail")


@pytest.mark.meets("toolkit:prompt:block")
async def test_the_prompt_lists_catalogue_loaded_and_sticky(room: Room):
    await room.kits.load(ANN, "mail")
    assert (await room.kits.prompt(ANN)).splitlines()[1:] == [
        "- devops (not loaded): Infrastructure. Tools: docker, github.",
        "- research (always loaded): Tools: arxiv.",
        "- mail (loaded): Tools: send.",
    ]


@pytest.mark.meets("toolkit:prompt:block")
async def test_who_has_no_toolkits_or_no_session_is_told_nothing(room: Room):
    assert await room.kits.prompt(Caller(agent="ann")) == ""
    room.configured(allowed_toolkits=(), initial_toolkits=())
    assert await room.kits.prompt(ANN) == ""
    assert prompt_block([]) == ""
