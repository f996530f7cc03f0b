"""Toolboxes of every origin in one place."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from toolcrib.core.errors import ToolFailed
from toolcrib.core.policy import AgentRules, Grants, Toolbox
from toolcrib.core.registry import Names, Registry, Reserved
from toolcrib.core.resolver import Resolver
from toolcrib.core.tool import Tool, Traits, read_tool
from toolcrib.services.advice.simulate import grants_with
from toolcrib.services.shelf import Box, Shelf
from toolcrib.services.toolboxes import Change, Origin, Toolboxes, merged
from toolcrib.stores.inprocess.drawers import MemoryDrawers


async def body() -> str:
    """Does nothing."""
    return "done"


def made(name: str, **more: object) -> Tool:
    return replace(read_tool("own", body, Traits(), name=name), **more)


BASE: Mapping[str, Toolbox] = {
    "all": Toolbox(name="all", tools=("*",), builtin=True),
    "desk": Toolbox(name="desk", tools=("read_file",)),
}


class Room:
    """The toolboxes of a small crib, which takes up changes as the app does."""

    def __init__(self, tools: list[Tool], **agents: tuple[str, ...]) -> None:
        names = Names(
            groups={"fs": ("read_file", "grep")}, reserved={"fly": Reserved("fly", "Fly.", "air", aliases=("soar",))}
        )
        rules = {name: AgentRules(name=name, toolboxes=boxes) for name, boxes in agents.items()}
        self.resolver = Resolver(Registry(tools, names), Grants(toolboxes=BASE, agents=rules))
        self.shelf = Shelf(MemoryDrawers())
        self.changes = 0
        self.boxes = Toolboxes(lambda: self.resolver, lambda: BASE, self.shelf, self.changed)

    async def changed(self) -> None:
        self.changes += 1
        boxes = merged(BASE, await self.shelf.all())
        self.resolver = Resolver(self.resolver.registry, grants_with(self.resolver.grants, toolboxes=boxes))


@pytest.fixture
def room() -> Room:
    tools = [made("read_file", aliases=("view",)), made("grep"), made("mcp_mail_send", source="mcp", origin="mail")]
    return Room(tools, helper=("Mine", "desk"), other=())


@pytest.mark.meets("toolbox-tools:list")
async def test_every_origin_is_listed_with_who_uses_it(room: Room):
    await room.boxes.create("mine", ["grep"], by="other")
    listed = {one.name: one for one in await room.boxes.all()}
    assert [(one.name, one.origin) for one in listed.values()] == [
        ("all", Origin.BUILTIN),
        ("desk", Origin.CONFIGURED),
        ("mine", Origin.SHELF),
    ]
    assert listed["mine"].used_by == ("helper",)
    assert (listed["all"].grants, listed["mine"].grants) == (2, 1)


@pytest.mark.meets("toolbox-tools:create")
async def test_a_new_toolbox_is_in_force_when_the_call_is_over(room: Room):
    await room.boxes.create("  Reading   room ", ["view", "GROUP:FS", "soar", "view"], description="Look.", by="a")
    box = room.resolver.toolbox("reading room")
    assert box is not None
    assert box.tools == ("read_file", "group:fs", "fly")
    assert room.resolver.registry.names_of(room.resolver.box("Reading room")) == ("grep", "read_file")
    assert room.changes == 1


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "bell\x07"])
@pytest.mark.meets("toolbox-tools:create")
async def test_a_name_has_to_be_one(room: Room, name: str):
    assert await code_of(room.boxes.create(name, ["grep"])) == "TOOLBOX_NAME_REQUIRED"
    assert room.changes == 0


@pytest.mark.meets("toolbox-tools:unknown-tool")
async def test_every_unknown_name_is_told_with_the_nearest(room: Room):
    with pytest.raises(ToolFailed) as told:
        await room.boxes.create("mine", ["grep", "reed_file", "mcp_mail_sent", "*"])
    fault = told.value.as_fault()
    assert fault.code == "TOOLBOX_UNKNOWN_TOOL"
    assert fault.data == {
        "unknown": [
            {"name": "reed_file", "nearest": ["read_file"]},
            {"name": "mcp_mail_sent", "nearest": ["mcp_mail_send"]},
        ]
    }
    assert await room.shelf.all() == ()


@pytest.mark.meets("toolbox:mcp:by-name")
async def test_an_mcp_tool_is_listed_by_its_name(room: Room):
    shown = await room.boxes.create("mine", ["mcp_mail_send"])
    assert shown.grants == 1


@pytest.mark.meets("toolbox-tools:update")
async def test_a_name_that_is_gone_does_not_block_a_change(room: Room):
    await room.shelf.create(Box(name="mine", tools=("mcp_gone_tool", "grep")))
    shown = await room.boxes.update("mine", Change(add=["read_file"]))
    assert shown.tools == ("mcp_gone_tool", "grep", "read_file")
    shown = await room.boxes.update("mine", Change(remove=["mcp_gone_tool", "view"]))
    assert shown.tools == ("grep",)


async def test_renaming_frees_the_old_name(room: Room):
    await room.boxes.create("mine", ["grep"])
    await room.boxes.update("mine", Change(name="yours"))
    await room.boxes.create("mine", ["read_file"])
    assert {one.name for one in await room.boxes.all()} == {"all", "desk", "mine", "yours"}


async def test_the_same_name_in_other_capitals_is_no_clash_with_itself(room: Room):
    await room.boxes.create("mine", ["grep"])
    assert (await room.boxes.update("mine", Change(name="MINE"))).name == "MINE"


@pytest.mark.meets("toolbox-tools:delete", "lint:toolbox:deletion-in-use")
async def test_deleting_one_in_use_names_the_agents(room: Room):
    await room.boxes.create("mine", ["grep"])
    assert (await room.boxes.delete("MINE")).used_by == ("helper",)
    assert room.resolver.toolbox("mine") is None


@pytest.mark.parametrize(
    ("name", "code"), [("ALL", "TOOLBOX_BUILTIN_READONLY"), ("Desk", "TOOLBOX_CONFIGURED_READONLY")]
)
@pytest.mark.meets("toolbox:builtin:read-only")
async def test_fixed_ones_are_neither_changed_nor_deleted_nor_doubled(room: Room, name: str, code: str):
    assert await code_of(room.boxes.update(name, Change(tools=[]))) == code
    assert await code_of(room.boxes.delete(name)) == code
    assert await code_of(room.boxes.create(name, [])) == "TOOLBOX_NAME_TAKEN"
    assert room.changes == 0


async def test_a_configured_one_wins_over_one_of_the_shelf(room: Room):
    await room.shelf.create(Box(name="DESK", tools=("grep",)))
    assert [one.origin for one in await room.boxes.all()] == [Origin.BUILTIN, Origin.CONFIGURED]
    assert merged(BASE, await room.shelf.all())["desk"].tools == ("read_file",)


async def test_a_refused_change_leaves_everything(room: Room):
    await room.boxes.create("mine", ["grep"])
    before = await room.boxes.get("mine")
    for change in (Change(add=["nope_nope"]), Change(name="all", add=["read_file"]), Change(), Change(add=["grep"])):
        assert await code_of(room.boxes.update("mine", change))
    assert await room.boxes.get("mine") == before


async def code_of(doing: object) -> str:
    with pytest.raises(ToolFailed) as told:
        await doing  # type: ignore[misc] - a coroutine of the service
    return told.value.as_fault().code
