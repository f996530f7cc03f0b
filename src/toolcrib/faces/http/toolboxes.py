"""Toolboxes: looked at, made, changed, compared; and what a change would do."""

from typing import Annotated

from fastapi import Query, Request, Response
from msgspec import Struct
from pydantic import Field

from toolcrib.core.errors import ToolFailed
from toolcrib.faces.http.asked import Cursor, Form, IfMatch, Limit, Page, Yes, etag, house_of, me, paged, seen, service
from toolcrib.faces.http.routing import Operations, answer, nothing
from toolcrib.services.advice.holding import known_box, with_agent, with_toolbox
from toolcrib.services.advice.past import counted
from toolcrib.services.advice.simulate import Change as Simulated
from toolcrib.services.advice.simulate import simulate
from toolcrib.services.people.principal import Role
from toolcrib.services.toolboxes import DESCRIPTION_MOST, NAME_MOST, TOOLS_MOST, Change, Origin, Shown, Toolboxes

operations = Operations("toolboxes", "toolboxes")
Name = Annotated[str, Field(min_length=1, max_length=NAME_MOST)]
Tools = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=TOOLS_MOST)]
Text = Annotated[str, Field(max_length=DESCRIPTION_MOST)]
Box = Annotated[str, Query(min_length=1, max_length=200)]


class NewToolbox(Form):
    """A new toolbox."""

    name: Name
    tools: Annotated[Tools, Field(default_factory=list)]
    description: Text = ""
    exact: Yes = False


class Changed(Form):
    """What is to change; what is null or left out stays. `tools` replaces the list."""

    name: Name | None = None
    tools: Tools | None = None
    add: Annotated[Tools, Field(default_factory=list)]
    remove: Annotated[Tools, Field(default_factory=list)]
    description: Text | None = None
    exact: Yes | None = None


class Wondered(Form):
    """A change to try out. Either a toolbox with its tools (null: deleted), or an agent with its toolboxes."""

    toolbox: Name | None = None
    tools: Tools | None = None
    exact: Yes = False
    agent: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    toolboxes: Annotated[list[str], Field(max_length=100)] | None = None


class Compared(Struct, kw_only=True):
    """Two toolboxes side by side, by the tools that they grant now."""

    both: list[str]
    only_a: list[str]
    only_b: list[str]


@operations.add("GET", "/toolboxes", Role.VIEWER, Page[Shown])
async def list_toolboxes(request: Request, limit: Limit = 200, cursor: Cursor = None) -> Response:
    """List the toolboxes, the built-in ones first."""
    house = house_of(request)
    await house.crib.refresh()
    return answer(paged(await service(house, Toolboxes).all(), lambda one: one.name, limit, cursor))


@operations.add("POST", "/toolboxes", Role.OPERATOR, Shown, status=201, headers={"ETag": "Its revision."})
async def create_toolbox(request: Request, body: NewToolbox) -> Response:
    """Make a toolbox."""
    made = await service(house_of(request), Toolboxes).create(
        body.name, body.tools, description=body.description, exact=body.exact, by=me(request).name
    )
    return answer(made, 201, etag(made.revision))


@operations.add("GET", "/toolboxes/{name}", Role.VIEWER, Shown, headers={"ETag": "Its revision."})
async def get_toolbox(request: Request, name: str) -> Response:
    """Show one toolbox."""
    found = await service(house_of(request), Toolboxes).get(name)
    return answer(found, 200, etag(found.revision))


@operations.add(
    "PATCH", "/toolboxes/{name}", Role.OPERATOR, Shown, refuses=(412, 428), headers={"ETag": "Its revision."}
)
async def update_toolbox(request: Request, name: str, body: Changed, if_match: IfMatch = None) -> Response:
    """Change a toolbox that people made."""
    boxes = service(house_of(request), Toolboxes)
    await _kept(boxes, name)
    change = Change(
        name=body.name,
        description=body.description,
        tools=body.tools,
        add=body.add,
        remove=body.remove,
        exact=body.exact,
    )
    saved = await boxes.update(name, change, by=me(request).name, revision=seen(if_match))
    return answer(saved, 200, etag(saved.revision))


@operations.add("DELETE", "/toolboxes/{name}", Role.OPERATOR, status=204, refuses=(412, 428))
async def delete_toolbox(request: Request, name: str, if_match: IfMatch = None) -> Response:
    """Delete a toolbox that people made, also when agents use it."""
    boxes = service(house_of(request), Toolboxes)
    await _kept(boxes, name)
    await boxes.delete(name, revision=seen(if_match))
    return nothing()


@operations.add("GET", "/compare", Role.VIEWER, Compared)
async def compare_toolboxes(request: Request, a: Box, b: Box) -> Response:
    """Compare two toolboxes by what they grant now."""
    crib = house_of(request).crib
    await crib.refresh()
    one, other = (crib.resolver.box(known_box(crib.resolver, name).name) for name in (a, b))
    names = crib.resolver.registry.names_of
    both, left, right = (list(names(mask)) for mask in (one & other, one & ~other, other & ~one))
    return answer(Compared(both=both, only_a=left, only_b=right))


@operations.add("POST", "/simulate", Role.VIEWER, list[Simulated])
async def simulate_change(request: Request, body: Wondered) -> Response:
    """Show which agents would gain and lose which tools, and which recorded calls would be refused."""
    crib = house_of(request).crib
    await crib.refresh()
    now = crib.resolver
    if (body.toolbox is None) == (body.agent is None):
        raise ToolFailed("Say one change: a toolbox, or an agent.", code="bad_change")
    if body.toolbox is not None:
        for entry in body.tools or ():
            now.registry.check(entry)
        after = with_toolbox(now, body.toolbox, body.tools, exact=body.exact)
    else:
        boxes = tuple(known_box(now, one).name for one in body.toolboxes or ())
        after = with_agent(now, body.agent or "", toolboxes=boxes)
    return answer(simulate(now, after, await counted(crib.store.audit)))


async def _kept(boxes: Toolboxes, name: str) -> None:
    """Whether it can be changed comes before which revision was seen."""
    if (await boxes.get(name)).origin is not Origin.SHELF:
        await boxes.delete(name)  # refuses, and says why
