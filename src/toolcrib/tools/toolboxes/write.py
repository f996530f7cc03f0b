"""Making, changing and deleting toolboxes."""

from typing import Annotated, Literal

from annotated_types import MaxLen

from toolcrib.core.call import Caller, Result, Where
from toolcrib.core.tool import Effect
from toolcrib.services.toolboxes import DESCRIPTION_MOST, TOOLS_MOST, Change, Shown, Toolboxes
from toolcrib.tools.toolboxes.family import family

Entries = Annotated[list[str], MaxLen(TOOLS_MOST)]


@family.tool(Effect.WRITE, where=[Where.MAIN], undoable=True)
async def create_toolbox(
    toolboxes: Toolboxes,
    me: Caller,
    *,
    name: Annotated[str, MaxLen(200), "Name of the new toolbox"],
    tools: Annotated[Entries, "Tool names, group:… names, or * for every native and custom tool"],
    description: Annotated[str, MaxLen(DESCRIPTION_MOST), "What it is for, in one sentence"] = "",
) -> Result:
    """Make a toolbox: a named list of tools that agents can be given.

    List only what the work needs; list_tools shows the names. MCP and plugin tools are listed by name.
    """
    made = await toolboxes.create(name, tools, description=description, by=me.agent)
    return Result(text=f"Made the toolbox {made.name}: {_grants(made)}.", structured=made)


@family.tool(Effect.WRITE, where=[Where.MAIN], undoable=True)
async def update_toolbox(
    toolboxes: Toolboxes,
    me: Caller,
    *,
    toolbox: Annotated[str, MaxLen(200), "Name of the toolbox"],
    name: Annotated[str | None, MaxLen(200), "A new name for it"] = None,
    description: Annotated[str | None, MaxLen(DESCRIPTION_MOST), "A new description"] = None,
    tools: Annotated[Entries | None, "The whole new list; with it, add and remove are not looked at"] = None,
    add: Annotated[Entries, "Names to add"] = [],  # noqa: B006 - the default is shown in the schema and never changed
    remove: Annotated[Entries, "Names to take out"] = [],  # noqa: B006
) -> Result:
    """Change a toolbox that a person or an agent made.

    Built-in ones, and those written in toolcrib.yaml, cannot be changed here.
    """
    change = Change(name=name, description=description, tools=tools, add=add, remove=remove)
    box = await toolboxes.update(toolbox, change, by=me.agent)
    return Result(text=f"Changed the toolbox {box.name}: {_grants(box)}.{_users(box)}", structured=box)


@family.tool(Effect.DESTROY, where=[Where.MAIN], undoable=True)
async def delete_toolbox(
    toolboxes: Toolboxes,
    *,
    toolbox: Annotated[str, MaxLen(200), "Name of the toolbox"],
    confirm: Annotated[Literal[True], "true, to say that you mean it"],
) -> Result:
    """Delete a toolbox. Agents that use it lose the tools that only it gave them."""
    gone = await toolboxes.delete(toolbox)
    lost = f" These agents used it and lose its tools: {', '.join(gone.used_by)}." if gone.used_by else ""
    return Result(text=f"Deleted the toolbox {gone.name}.{lost}", structured={"deleted": confirm, "toolbox": gone})


def _grants(box: Shown) -> str:
    names, tools = len(box.tools), box.grants
    return f"{names} name{'s' * (names != 1)}, {tools} tool{'s' * (tools != 1)} that exist now"


def _users(box: Shown) -> str:
    return f" Used by {', '.join(box.used_by)}; it holds from their next request on." if box.used_by else ""
