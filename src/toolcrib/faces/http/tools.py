"""The tools that there are, and the search over them."""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from msgspec import Struct

from toolcrib.core.errors import UnknownTool
from toolcrib.core.explain import unknown
from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool
from toolcrib.faces.http.asked import Cursor, Limit, Page, house_of, paged
from toolcrib.faces.http.routing import Operations, answer
from toolcrib.services.advice.holding import Facts, Holder, facts_of, granting, holders
from toolcrib.services.finding.catalogue import Search
from toolcrib.services.finding.ranking import Ranking, document
from toolcrib.services.people.principal import Role
from toolcrib.services.schemas import FORMATS

operations = Operations("tools", "tools")
Word = Annotated[str, Query(max_length=200)]


class Detail(Struct, kw_only=True):
    """One tool, whole."""

    facts: Facts
    about: str
    aliases: list[str]
    origin: str
    schema: dict[str, Any]
    toolboxes: list[str]  # that hold it
    undoable: bool
    runs_code: bool
    flow: list[str]


@operations.add("GET", "/tools", Role.VIEWER, Page[Facts])
async def list_tools(
    request: Request,
    query: Word = "",
    *,
    domain: Word = "",
    source: Word = "",
    limit: Limit = 500,
    cursor: Cursor = None,
) -> Response:
    """List the tools by name; with `query` those that it fits, the best first."""
    registry = house_of(request).crib.resolver.registry
    kept = [one for one in registry.tools if domain in {"", one.domain} and source in {"", one.source}]
    if query.strip():
        named = {one.name: one for one in kept}
        kept = [named[hit.id] for hit in Ranking(map(document, kept)).search(query, len(kept))]
    return answer(paged((facts_of(registry, one) for one in kept), lambda one: one.name, limit, cursor))


@operations.add("GET", "/tools/{name}", Role.VIEWER, Detail)
async def get_tool(request: Request, name: str) -> Response:
    """Show one tool, by its name or an alias."""
    crib = house_of(request).crib
    await crib.refresh()
    tool = _known(crib.resolver.registry, name)
    detail = Detail(
        facts=facts_of(crib.resolver.registry, tool),
        about=tool.about,
        aliases=list(tool.aliases),
        origin=tool.origin,
        schema=tool.schema,
        toolboxes=granting(crib.resolver, tool.name),
        undoable=tool.traits.undoable,
        runs_code=tool.traits.runs_code,
        flow=sorted(one.value for one in tool.traits.flow),
    )
    return answer(detail)


@operations.add("GET", "/tools/{name}/schema", Role.VIEWER, dict[str, Any])
async def tool_schema(
    request: Request,
    name: str,
    form: Annotated[str, Query(alias="format", pattern=f"^({'|'.join(FORMATS)})$")] = "openai",
) -> Response:
    """Give a tool's schema as a model's API takes it."""
    return answer(FORMATS[form](_known(house_of(request).crib.resolver.registry, name)))


@operations.add("GET", "/tools/{name}/holders", Role.VIEWER, list[Holder])
async def tool_holders(request: Request, name: str) -> Response:
    """Say of every agent whether it holds the tool, and why."""
    crib = house_of(request).crib
    await crib.refresh()
    return answer(holders(crib.resolver, _known(crib.resolver.registry, name).name))


@operations.add("GET", "/search", Role.VIEWER, Search)
async def search_tools(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=500)],
    agent: Annotated[str, Query(min_length=1, max_length=200)],
    limit: Annotated[int, Query(ge=1, le=50)] = 5,
) -> Response:
    """Search the tools that an agent holds, and a few that it could get, by words."""
    crib = house_of(request).crib
    turn = await crib.turn(agent)
    assert crib.catalogue is not None  # noqa: S101 - a house has the native tools
    return answer(crib.catalogue.search(turn.view, q, limit))


def _known(registry: Registry, name: str) -> Tool:
    tool = registry.get(name)
    if tool is None:
        raise UnknownTool(f"{unknown(registry, name)}."[:1].upper() + f"{unknown(registry, name)}."[1:])
    return tool
